/**
 * Edits one value in the text of a configuration file, keeping comments and the order of keys; and
 * reads values that come as text from a command line.
 */

import { type Document, isAlias, isMap, isScalar, parseDocument, type ToStringOptions } from 'yaml';
import { messageOf, UserError } from '../../base/errors.ts';
import type { Shape } from '../formats/native/values.ts';
import type { ConfigDialect } from './read.ts';

/** The text with the value at the path; `undefined` removes what is there. */
export function edited(
  text: string,
  { yaml: version, keyFor }: ConfigDialect,
  { path, value }: { readonly path: readonly string[]; readonly value: unknown },
): string {
  const name = path.join('.');
  if (keyFor !== undefined) return editedJson(text, keyFor(name) ?? name, value);
  const document = parseDocument(text, { version });
  if (value === undefined && !document.hasIn(path)) return text;
  if (value === undefined) remove(document, path);
  else put(document, path, value);
  const isEmpty = isMap(document.contents) && document.contents.items.length === 0;
  if (isEmpty && !text.includes('#')) return '';
  if (isEmpty) document.contents = null;
  return document.toString(looksOf(text));
}

/** The layout of the text, for what is added to it. */
function looksOf(text: string): ToStringOptions {
  const indent = /^( +)\S/m.exec(text)?.[1]?.length ?? 2;
  return {
    lineWidth: 0,
    indent,
    indentSeq: !/^( *)\S.*:\n\1- /m.test(text),
    flowCollectionPadding: /[{[] \S/.test(text),
  };
}

function put(document: Document, path: readonly string[], value: unknown): void {
  // Left alone, the library would begin a file of YAML 1.1 with an ordered map.
  if (document.contents === null) document.contents = document.createNode({});
  const node = document.createNode(value, { flow: true });
  for (let depth = 1; depth < path.length; depth += 1) {
    const above = path.slice(0, depth);
    const found = document.getIn(above, true);
    if (isAlias(found)) {
      throw new UserError(
        `${above.join('.')} is an alias: setting a key of it would change more than that.`,
        'Edit the file by hand.',
      );
    }
    const isNull = isScalar(found) && found.value === null;
    if (found !== undefined && !isNull) continue;
    const section = document.createNode({});
    if (isNull) section.comment = found.comment ?? null; // What follows `git:` may be about the next key.
    document.setIn(above, section);
  }
  const before = document.getIn(path, true);
  if (isScalar(before) && isScalar(node))
    before.value = node.value; // Keeps the comment behind it.
  else document.setIn(path, node);
}

/** Also removes sections that become empty. */
function remove(document: Document, path: readonly string[]): void {
  document.deleteIn(path);
  const above = path.slice(0, -1);
  const left = above.length === 0 ? null : document.getIn(above, true);
  if (isMap(left) && left.items.length === 0) remove(document, above);
}

function editedJson(text: string, key: string, value: unknown): string {
  const values = jsonOf(text);
  if (value === undefined) delete values[key];
  else values[key] = value;
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  ';
  return `${JSON.stringify(values, null, indent)}\n`;
}

/** Reading tolerates what is not strict JSON; writing cannot. */
function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new UserError(`The file is not JSON: ${messageOf(error)}.`, 'Fix it by hand first.');
  }
}

export type TypedText =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly expected: string };

/** Reads a text as a value of this shape, without checking its bounds. */
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

function flagOf(text: string): TypedText {
  if (/^(?:true|yes|1)$/i.test(text)) return { kind: 'value', value: true };
  if (/^(?:false|no|0)$/i.test(text)) return { kind: 'value', value: false };
  return { kind: 'wrong', expected: 'true or false' };
}

/** Splits at commas outside of brackets: `Bash(a, b), Edit` are two. */
function partsOf(text: string): readonly string[] {
  const parts = text.match(/(?:\([^)]*\)|\{[^}]*\}|[^,])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function boundsOf({ minimum, maximum }: Shape): string {
  return `a whole number from ${minimum} to ${maximum}`;
}
