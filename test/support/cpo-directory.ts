/** A cpo directory in memory, as its format reads it. */

import type { ReadOptions } from '../../src/plan/formats/format.ts';
import { parsePlan } from '../../src/plan/parse.ts';
import { formatProblem } from '../../src/plan/problem.ts';
import { planInput } from './plan-input.ts';

/** The folder that it is in. */
export const DIR = 'parallel/TS-0042-shop';
const MANIFEST = `${DIR}/manifest.json`;

/** A directory of these files; `manifest` and files are named below it, others from the root. */
export function readDirectory(
  manifest: unknown,
  files: Readonly<Record<string, string>> = {},
  more: { readonly options?: ReadOptions; readonly root?: Readonly<Record<string, string>> } = {},
) {
  const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest, null, 2);
  const inside = Object.entries(files).map(([path, content]) => [`${DIR}/${path}`, content]);
  const { plan, format, problems } = parsePlan(
    planInput(MANIFEST, text, {
      directory: DIR,
      files: { ...Object.fromEntries(inside), ...more.root },
      options: more.options ?? {},
    }),
    null,
  );
  const shown = problems.map(formatProblem).map((line) => line.replaceAll(`${DIR}/`, ''));
  const task = (id: string) => plan?.tasks.find((one) => one.id === id);
  return { plan, format, problems: shown, task };
}

/** The agent of every task. */
export const AGENT = 'python-experts:django-expert';

/** A manifest of these waves. */
export function manifest(...waves: readonly (readonly string[])[]) {
  return {
    tech_spec_id: 'TS-0042',
    name: 'shop',
    waves: waves.map((ids, index) => ({
      number: index + 1,
      tasks: ids.map((id) => ({ id, agent: AGENT })),
    })),
  };
}

/** The text of a task file, with more of front matter and a scope. */
export function taskFile(id: string, front: string, scope = ''): string {
  return `---\nid: ${id}\ncomponent: users\nagent: ${AGENT}\n${front}\n---\n\n# ${id}: Users\n\n## Scope\n${scope}\n\n## Requirements\n- Add them.\n`;
}

/** Only files that exist as tasks, with these scopes, all of one wave. */
export function scopes(...texts: readonly string[]) {
  const ids = texts.map((_, index) => `task-00${index + 1}`);
  const files = texts.map((text, i) => [`tasks/${ids[i]}.md`, taskFile(ids[i]!, 'deps: []', text)]);
  return readDirectory(manifest(ids), Object.fromEntries(files));
}
