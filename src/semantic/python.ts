/**
 * Names declared and used by Python files. Imported names count as declared: others can import them
 * from here.
 */

import { parser } from '@lezer/python';
import type { Arity, Module, Node } from './module.ts';
import { childrenOf, countParameters, Findings, walk } from './module.ts';

/** Statements whose bodies are still the top level. */
const BRANCHES = /^(?:If|Try|With|While|For)Statement$|^Body$/;

export function readPython(text: string): Module {
  const found = new Findings(text);
  const tree = parser.parse(text);
  for (const node of childrenOf(tree.topNode)) declareIn(found, node);
  walk(tree, (node) => {
    if (node.name === 'ImportStatement') bindImports(found, node);
    if (isDefinition(node)) found.defined.add(found.textOf(node));
  });
  const isBroken = walk(tree, (node) => noteUse(found, node));
  return found.finish(isBroken, false);
}

function declareIn(found: Findings, node: Node): void {
  const inner = undecorated(node);
  const name = found.textOf(inner.getChild('VariableName'));
  if (inner.name === 'FunctionDefinition') {
    found.declare(name, arityOf(inner.getChild('ParamList'), 0), true, inner);
  } else if (inner.name === 'ClassDefinition') {
    declareClass(found, inner, name);
  } else if (inner.name === 'TypeDefinition') {
    found.declare(name, null, true, inner);
  } else if (inner.name === 'AssignStatement') {
    for (const each of childrenOf(inner)) {
      if (isDefinition(each)) found.declare(found.textOf(each), arityOfValue(inner), true, inner);
    }
  } else if (BRANCHES.test(inner.name)) {
    for (const child of childrenOf(inner)) declareIn(found, child);
  } else if (inner.name === 'ImportStatement') {
    for (const { as } of importsIn(found, inner)) if (as !== '*') found.declare(as, null, true);
  }
}

function undecorated(node: Node): Node {
  if (node.name !== 'DecoratedStatement') return node;
  return node.getChild('FunctionDefinition') ?? node.getChild('ClassDefinition') ?? node;
}

function declareClass(found: Findings, node: Node, name: string): void {
  const isPlain = node.getChild('ArgList') === null && node.parent?.name !== 'DecoratedStatement';
  let built: Arity | null = isPlain ? { required: 0, most: 0 } : null;
  for (const member of childrenOf(node.getChild('Body'))) {
    const inner = undecorated(member);
    const own = found.textOf(inner.getChild('VariableName'));
    if (inner.name === 'FunctionDefinition') {
      const marks = member.getChildren('Decorator').map((each) => found.textOf(each));
      const arity = arityOf(inner.getChild('ParamList'), marks.includes('@staticmethod') ? 0 : 1);
      const isOther = marks.some((mark) => !/^@(?:static|class|abstract)method$/.test(mark));
      if (own === '__init__') built = arity;
      else found.declare(`${name}.${own}`, isOther ? null : arity, true, inner);
    } else if (inner.name === 'AssignStatement' && own !== '') {
      found.declare(`${name}.${own}`, null, true, inner);
    }
  }
  found.declare(name, built, true, node);
}

function arityOfValue(assignment: Node): Arity | null {
  const { lastChild } = assignment;
  if (lastChild?.name !== 'LambdaExpression') return null;
  return arityOf(lastChild.getChild('ParamList'), 0);
}

/** `bound`: leading parameters that the call supplies, such as `self`. */
function arityOf(params: Node | null, bound: number): Arity | null {
  const arity = countParameters(params, (has) => {
    if (!has('VariableName')) return null; // A bare `*` or `/`.
    if (has('*') || has('**')) return 'rest';
    return has('AssignOp') ? 'optional' : 'required';
  });
  if (arity === null) return null;
  const { required, most } = arity;
  return { required: Math.max(0, required - bound), most: Math.max(0, most - bound) };
}

interface Import {
  readonly from: string;
  /** Null for a module as a whole. */
  readonly name: string | null;
  readonly as: string;
}

/** `import a.b as c, d`, `from ..p import (x as y, z)`; modules become paths. */
function importsIn(found: Findings, node: Node): readonly Import[] {
  const text = found.textOf(node).replaceAll(/#.*|[()\\]/g, ' ');
  const [, source, list] = /^from\s+([\w.\s]*?)\s*import\s+(.*)$/s.exec(text) ?? [];
  const items = (list ?? text.replace(/^import\s+/, '')).split(',').map((item) => item.trim());
  return items
    .filter((item) => /^(?:[\w.]+(?:\s+as\s+\w+)?|\*)$/.test(item))
    .map((item) => {
      const [name = '', as = name] = item.split(/\s+as\s+/);
      if (source === undefined) return { from: pathOf(name), name: null, as };
      return { from: pathOf(source.replaceAll(/\s/g, '')), name, as };
    });
}

/** `.x` is `./x`, `..p.q` is `../p/q`, `a.b` is `a/b`. */
function pathOf(module: string): string {
  const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(module) ?? [];
  const up = dots === '' ? [] : ['.', ...Array.from({ length: dots.length - 1 }, () => '..')];
  return [...up, ...rest.split('.').filter((part) => part !== '')].join('/');
}

function bindImports(found: Findings, node: Node): void {
  for (const { from, name, as } of importsIn(found, node)) {
    if (name === '*') found.stars.push(from);
    else {
      found.bindings.set(as, { from, name });
      if (name !== null) found.use(name, from);
    }
  }
}

function isDefinition({ name, parent, prevSibling, nextSibling }: Node): boolean {
  if (name !== 'VariableName' || parent === null) return false;
  if (parent.name === 'ParamList') return prevSibling?.name !== 'AssignOp';
  if (parent.name !== 'AssignStatement') return prevSibling?.name === 'for';
  let after = nextSibling;
  while (after !== null && after.name !== 'AssignOp') after = after.nextSibling;
  return after !== null || nextSibling?.name === 'TypeDef';
}

function noteUse(found: Findings, node: Node): void {
  const { name, parent, prevSibling, nextSibling } = node;
  if (parent === null || parent.name === 'ImportStatement') return;
  if (name === 'PropertyName' && parent.name === 'MemberExpression') {
    found.useMember(found.textOf(parent.firstChild), found.textOf(node));
  }
  if (name !== 'VariableName' || isDefinition(node)) return;
  const isKeyword = parent.name === 'ArgList' && nextSibling?.name === 'AssignOp';
  const isNamed = prevSibling?.name === 'def' || prevSibling?.name === 'class';
  if (!isKeyword && !isNamed) found.useName(found.textOf(node));
}
