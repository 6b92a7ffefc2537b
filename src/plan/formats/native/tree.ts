/** What native.ts reads from the tree itself, before and beside the schema. */

import { entryOf, type YamlNode } from '../../yaml-source.ts';

/** The entries of `tasks`, whatever they are. */
export function taskNodes(root: YamlNode): readonly YamlNode[] {
  const tasks = entryOf(root, 'tasks')?.value;
  return tasks?.kind === 'list' ? tasks.items : [];
}

/** The text of a scalar that is text. */
export function textOf(node: YamlNode | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

/** The texts of a list; what is no text leaves a gap that is filled with '' to keep the indices. */
export function textsOf(node: YamlNode | undefined): readonly string[] {
  return node?.kind === 'list' ? node.items.map((item) => textOf(item) ?? '') : [];
}
