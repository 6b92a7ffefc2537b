/** The little that both languages need of a syntax tree. */

import type { parser } from '@lezer/javascript';

export type Tree = ReturnType<typeof parser.parse>;
export type Node = Tree['topNode'];

/** A node's children, errors among them. */
export function childrenOf(node: Node | null): readonly Node[] {
  const children: Node[] = [];
  for (let at = node?.firstChild ?? null; at !== null; at = at.nextSibling) children.push(at);
  return children;
}

/** The children between commas. */
export function splitAtCommas(nodes: readonly Node[]): readonly (readonly Node[])[] {
  const parts: Node[][] = [[]];
  for (const node of nodes) {
    if (node.name === ',') parts.push([]);
    else parts.at(-1)!.push(node);
  }
  return parts.filter((part) => part.length > 0);
}

/** Visits every node; answers whether one of them is an error. */
export function walk(tree: Tree, visit: (node: Node) => void): boolean {
  let isBroken = false;
  tree.iterate({
    enter: (ref) => {
      if (ref.type.isError) isBroken = true;
      else visit(ref.node);
    },
  });
  return isBroken;
}
