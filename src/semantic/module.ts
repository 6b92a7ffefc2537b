/**
 * A source file as the semantic guard sees it: the names it declares and the names it uses; and what
 * builds it from a syntax tree.
 */

import type { parser } from '@lezer/javascript';

/** How many arguments a call may have. */
export interface Arity {
  readonly required: number;
  readonly most: number;
}

export interface Declaration {
  /** `f`, `Class` or `Class.method`. */
  readonly name: string;
  /** Null if it is not callable or unknown. */
  readonly arity: Arity | null;
  /** Visible to other files. */
  readonly isExported: boolean;
  /** Its text without its name, which a rename leaves unchanged; empty if there is none. */
  readonly likeness: string;
}

export interface Use {
  /** The name in the declaring file. */
  readonly name: string;
  /** The imported module as a path; null if it is not imported. */
  readonly from: string | null;
  /** A member access: `x.name`. */
  readonly isMember: boolean;
  readonly count: number;
}

export interface Module {
  readonly declarations: ReadonlyMap<string, Declaration>;
  readonly uses: readonly Use[];
  /** Modules whose names it imports or re-exports as a whole. */
  readonly stars: readonly string[];
  /** Without imports and exports: its names are global. */
  readonly isScript: boolean;
  /** The words of a text that did not parse completely; null if it did. */
  readonly brokenWords: ReadonlySet<string> | null;
}

export const JAVASCRIPT = /\.[cm]?[jt]sx?$/;
export const PYTHON = /\.pyi?$/;

/** Whether files of this name can be parsed. */
export function isReadable(file: string): boolean {
  return JAVASCRIPT.test(file) || PYTHON.test(file);
}

/** The origin of a local name; `name` is null for a whole module. */
interface Binding {
  readonly from: string;
  readonly name: string | null;
}

export class Findings {
  readonly #text: string;
  readonly #declarations = new Map<string, Declaration>();
  readonly #uses = new Map<string, Use>();
  readonly bindings = new Map<string, Binding>();
  /** Names defined at any depth. */
  readonly defined = new Set<string>();
  readonly stars: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  textOf(node: Node | null): string {
    return node === null ? '' : this.#text.slice(node.from, node.to);
  }

  /** A second declaration of a name (an overload, another branch) widens the first. */
  declare(name: string, arity: Arity | null, isExported: boolean, node: Node | null = null): void {
    const before = this.#declarations.get(name);
    const own = name.slice(name.lastIndexOf('.') + 1);
    const likeness = node === null ? '' : withoutWord(this.textOf(node), own);
    this.#declarations.set(name, {
      name,
      arity: before === undefined ? arity : widest(before.arity, arity),
      isExported: isExported || before?.isExported === true,
      likeness: (before?.likeness ?? '') + likeness,
    });
  }

  /** Exports a name under another. */
  export(name: string, as: string): void {
    const declared = this.#declarations.get(name);
    const { arity = null, likeness = '' } = declared ?? {};
    this.#declarations.set(as, { name: as, arity, isExported: true, likeness });
  }

  use(name: string, from: string | null, isMember = false): void {
    const key = `${from ?? ''}\0${name}\0${isMember}`;
    const count = (this.#uses.get(key)?.count ?? 0) + 1;
    this.#uses.set(key, { name, from, isMember, count });
  }

  /** A bare name; a function's local names do not count. */
  useName(name: string): void {
    const binding = this.bindings.get(name);
    if (binding !== undefined) {
      if (binding.name !== null) this.use(binding.name, binding.from);
    } else if (this.#declarations.has(name) || !this.defined.has(name)) this.use(name, null);
  }

  /** `object.name`, where the object may be a module. */
  useMember(object: string, name: string): void {
    const binding = this.bindings.get(object);
    if (binding === undefined) this.use(name, null, true);
    else if (binding.name === null) this.use(name, binding.from);
    else {
      this.use(name, null, true);
      this.use(name, `${binding.from}/${binding.name}`);
    }
  }

  finish(isBroken: boolean, isScript: boolean): Module {
    return {
      declarations: this.#declarations,
      uses: [...this.#uses.values()],
      stars: this.stars,
      isScript,
      brokenWords: isBroken ? new Set(this.#text.match(/[\w$]+/g)) : null,
    };
  }
}

function withoutWord(text: string, word: string): string {
  return text.replaceAll(/[\w$]+/g, (each) => (each === word ? '' : each));
}

function widest(one: Arity | null, other: Arity | null): Arity | null {
  if (one === null || other === null) return null;
  return {
    required: Math.min(one.required, other.required),
    most: Math.max(one.most, other.most),
  };
}

export type Tree = ReturnType<typeof parser.parse>;
export type Node = Tree['topNode'];

/** A node's children, including errors. */
export function childrenOf(node: Node | null): readonly Node[] {
  const children: Node[] = [];
  for (let at = node?.firstChild ?? null; at !== null; at = at.nextSibling) children.push(at);
  return children;
}

export function splitAtCommas(nodes: readonly Node[]): readonly (readonly Node[])[] {
  const parts: Node[][] = [[]];
  for (const node of nodes) {
    if (node.name === ',') parts.push([]);
    else parts.at(-1)!.push(node);
  }
  return parts.filter((part) => part.length > 0);
}

/** Visits every node; returns whether the tree has errors. */
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

/** How many arguments a list of parameters takes; `kindOf` is null for what is no parameter. */
export function countParameters(
  params: Node | null,
  kindOf: (has: (name: string) => boolean) => 'required' | 'optional' | 'rest' | null,
): Arity | null {
  if (params === null) return null;
  const inner = childrenOf(params).filter(({ name }) => name !== '(' && name !== ')');
  const kinds = splitAtCommas(inner).map((part) =>
    kindOf((wanted) => part.some(({ name }) => name === wanted)),
  );
  const countOf = (kind: 'required' | 'optional') => kinds.filter((each) => each === kind).length;
  const required = countOf('required');
  const most = kinds.includes('rest') ? Number.POSITIVE_INFINITY : required + countOf('optional');
  return { required, most };
}
