/** Values that come as text, from a command line or from a tool that knew nothing else. */

import type { Shape } from '../formats/native/value.ts';
import { type ProblemLog, quote } from '../problem.ts';
import { placeOf, type YamlNode } from '../yaml-source.ts';
import { configKeys } from './keys.ts';

/** The value a text stands for, or what would be right. */
export type TypedText =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly expected: string };

/** Reads a text as a value of this shape; whether the value is within its bounds is not asked. */
export function typedText(shape: Shape, text: string): TypedText {
  const types = [shape.type ?? []].flat();
  if (types.includes('boolean')) return flagOf(text);
  if (shape.anyOf !== undefined) {
    const isWord = shape.anyOf.some((one) => one.enum?.includes(text));
    return { kind: 'value', value: isWord ? text : partsOf(text) };
  }
  if (types.includes('array')) {
    if (shape.items?.type === 'string') return { kind: 'value', value: partsOf(text) };
    return { kind: 'wrong', expected: 'entries of several keys, which only an editor can write' };
  }
  if (types.includes('object')) {
    return { kind: 'wrong', expected: 'names and values: set one of them, as KEY.NAME' };
  }
  const isNumber = types.includes('integer') || types.includes('number');
  if (isNumber && /^-?\d+(?:\.\d+)?$/.test(text)) return { kind: 'value', value: Number(text) };
  if (isNumber && !types.includes('string')) {
    return { kind: 'wrong', expected: types.includes('integer') ? boundsOf(shape) : 'a number' };
  }
  return { kind: 'value', value: text };
}

/**
 * The values of a file whose tool stored every value as text (`'0'`, `'false'`, `'gh,az'`), each as
 * what it stands for. Each is a warning; what cannot be read is left for the schema to refuse.
 */
export function mendTexts(
  given: Readonly<Record<string, unknown>>,
  root: YamlNode,
  log: ProblemLog,
): Readonly<Record<string, unknown>> {
  let mended = given;
  for (const { path, shape } of configKeys()) {
    const text = path.reduce<unknown>(childOf, given);
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

function flagOf(text: string): TypedText {
  if (/^(?:true|yes|1)$/i.test(text)) return { kind: 'value', value: true };
  if (/^(?:false|no|0)$/i.test(text)) return { kind: 'value', value: false };
  return { kind: 'wrong', expected: 'true or false' };
}

/** Cut at commas, but not at those in brackets: `Bash(a, b), Edit` are two. */
function partsOf(text: string): readonly string[] {
  const parts = text.match(/(?:\([^)]*\)|\{[^}]*\}|[^,])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function boundsOf({ minimum, maximum }: Shape): string {
  return `a whole number from ${minimum} to ${maximum}`;
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
