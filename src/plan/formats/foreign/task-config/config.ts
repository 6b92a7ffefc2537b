/** claude-code-orchestrator's configuration: the words of configSchema, but every value may be text. */

import { typedText } from '../../../config/edit.ts';
import { CONFIG_KEYS } from '../../../config/keys.ts';
import { type ConfigDialect, checkOwnWords } from '../../../config/read.ts';
import { type ProblemLog, quote } from '../../../problem.ts';
import { placeOf, type YamlNode } from '../../../syntax/yaml.ts';

export const claudeOrchestrator: ConfigDialect = {
  projectFile: '.claude-orchestrator.yaml',
  userFile: 'claude-orchestrator/config.yaml',
  yaml: '1.1', // It is read by PyYAML.
  isForeign: true,
  read: ({ root, values }, log) =>
    checkOwnWords({ root, values: mendTexts(values, root, log) }, log, { isForeign: true }),
};

/** Texts such as `'0'`, `'false'`, `'gh,az'` as what they stand for, each with a warning. */
function mendTexts(
  values: Readonly<Record<string, unknown>>,
  root: YamlNode,
  log: ProblemLog,
): Readonly<Record<string, unknown>> {
  let mended = values;
  for (const { path, shape } of CONFIG_KEYS) {
    const text = path.reduce<unknown>(childOf, values);
    if (typeof text !== 'string' || [shape.type ?? 'string'].flat().includes('string')) continue;
    const typed = typedText(shape, text);
    if (typed.kind === 'wrong') continue;
    const shown = JSON.stringify(typed.value);
    const message = `${path.join('.')} is text: ${quote(text)} is read as ${shown}`;
    log.warning(placeOf(root, path), message, `write ${shown}`);
    mended = replaced(mended, path, typed.value);
  }
  return mended;
}

function childOf(value: unknown, step: string): unknown {
  const isMap = value !== null && typeof value === 'object' && !Array.isArray(value);
  return isMap && Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined;
}

function replaced(
  values: Readonly<Record<string, unknown>>,
  [step = '', ...rest]: readonly string[],
  value: unknown,
): Readonly<Record<string, unknown>> {
  const below = childOf(values, step) as Readonly<Record<string, unknown>>;
  return { ...values, [step]: rest.length === 0 ? value : replaced(below, rest, value) };
}
