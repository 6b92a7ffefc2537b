/**
 * One value in the text of a configuration file: set or removed, and nothing else changed.
 *
 *   D1. Comments and the order of keys stay as they are.
 *   D2. What is written is only what was asked for: no default, no value of another file.
 */

import { type Document, isAlias, isMap, isScalar, parseDocument, type ToStringOptions } from 'yaml';
import { messageOf, UserError } from '../../base/errors.ts';
import type { ConfigStyle } from './read.ts';

/** The text with the value at the path; `undefined` removes what is there. */
export function edited(
  text: string,
  style: ConfigStyle,
  { path, value }: { readonly path: readonly string[]; readonly value: unknown },
): string {
  if (style === 'orchestra') return editedJson(text, path, value);
  const version = style === 'claude-orchestrator' ? '1.1' : '1.2';
  const document = parseDocument(text, { version });
  if (value === undefined && !document.hasIn(path)) return text;
  if (value === undefined) remove(document, path);
  else put(document, path, value);
  const isEmpty = isMap(document.contents) && document.contents.items.length === 0;
  if (isEmpty && !text.includes('#')) return '';
  if (isEmpty) document.contents = null;
  return document.toString(looksOf(text));
}

/** How the text is laid out, so that what is not changed keeps its looks. */
function looksOf(text: string): ToStringOptions {
  const indent = /^( +)\S/m.exec(text)?.[1]?.length ?? 2;
  return {
    lineWidth: 0,
    indent,
    indentSeq: !/^( *)\S.*:\n\1- /m.test(text),
    flowCollectionPadding: /[{[] \S/.test(text),
  };
}

/** claude-orchestra's key for one of ours; null where its file cannot say it. */
export function orchestraKey(key: string): string | null {
  return ORCHESTRA_KEYS[key] ?? null;
}

const ORCHESTRA_KEYS: Readonly<Record<string, string>> = {
  claude_projects_dir: 'claude_projects_dir',
  worktree_dir: 'worktree_dir',
  branch_prefix: 'branch_prefix',
  'limits.workers': 'default_parallel',
  'tools.allowed_tools': 'bypass_permissions',
};

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

/** Sections that are left empty go with it. */
function remove(document: Document, path: readonly string[]): void {
  document.deleteIn(path);
  const above = path.slice(0, -1);
  const left = above.length === 0 ? null : document.getIn(above, true);
  if (isMap(left) && left.items.length === 0) remove(document, above);
}

function editedJson(text: string, path: readonly string[], value: unknown): string {
  const key = orchestraKey(path.join('.')) ?? path.join('.');
  const values = jsonOf(text);
  if (value === undefined) delete values[key];
  else values[key] = value;
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  ';
  return `${JSON.stringify(values, null, indent)}\n`;
}

/** Such a file may be read although it is no strict JSON; written it must be. */
function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new UserError(`The file is not JSON: ${messageOf(error)}.`, 'Mend it by hand first.');
  }
}
