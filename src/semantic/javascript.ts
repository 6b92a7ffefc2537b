/** Names declared and used by TypeScript and JavaScript files, including JSX and CommonJS. */

import { parser } from '@lezer/javascript';
import type { Arity, Module, Node } from './module.ts';
import { childrenOf, countParameters, Findings, splitAtCommas, walk } from './module.ts';

const PARSER = parser.configure({ dialect: 'ts jsx' });

export function readJavaScript(text: string): Module {
  const found = new Findings(text);
  const tree = PARSER.parse(text);
  const exports: Node[] = [];
  let isModule = false;
  for (const node of childrenOf(tree.topNode)) {
    if (node.name === 'ExportDeclaration') exports.push(node);
    if (/^(?:Import|Export)Declaration$/.test(node.name)) isModule = true;
    declareIn(found, node, false);
  }
  walk(tree, (node) => {
    if (node.name === 'ImportDeclaration') bindImports(found, node);
    if (node.name === 'VariableDeclaration') isModule = bindRequire(found, node) || isModule;
    if (node.name === 'VariableDefinition') found.defined.add(found.textOf(node));
    if (node.name === 'AssignmentExpression') isModule = exportCommon(found, node) || isModule;
  });
  for (const node of exports) passOn(found, node);
  const isBroken = walk(tree, (node) => noteUse(found, node));
  return found.finish(isBroken, !isModule);
}

function declareIn(found: Findings, node: Node, isExported: boolean): void {
  const name = found.textOf(node.getChild('VariableDefinition') ?? node.getChild('TypeDefinition'));
  switch (node.name) {
    case 'ExportDeclaration':
      for (const child of childrenOf(node)) declareIn(found, child, true);
      break;
    case 'AmbientDeclaration':
      for (const child of childrenOf(node)) declareIn(found, child, isExported);
      break;
    case 'FunctionDeclaration':
    case 'AmbientFunctionDeclaration':
      if (name !== '') found.declare(name, arityOf(node.getChild('ParamList')), isExported, node);
      break;
    case 'ClassDeclaration':
      if (name !== '') declareClass(found, node, name, isExported);
      break;
    case 'VariableDeclaration':
      declareVariables(found, node, isExported);
      break;
    case 'InterfaceDeclaration':
    case 'TypeAliasDeclaration':
    case 'EnumDeclaration':
    case 'NamespaceDeclaration':
      if (name !== '') found.declare(name, null, isExported, node);
  }
}

function declareVariables(found: Findings, node: Node, isExported: boolean): void {
  for (const part of splitAtCommas(childrenOf(node).slice(1))) {
    const defined = part.find(({ name }) => name === 'VariableDefinition');
    const single = childrenOf(node).some(({ name }) => name === ',') ? null : node;
    if (defined !== undefined) {
      found.declare(found.textOf(defined), arityOfValue(part.at(-1)!), isExported, single);
    }
    for (const pattern of part.filter(({ name }) => name.endsWith('Pattern'))) {
      pattern.cursor().iterate(({ name, node: inner }) => {
        if (name === 'VariableDefinition') found.declare(found.textOf(inner), null, isExported);
      });
    }
  }
}

function declareClass(found: Findings, node: Node, name: string, isExported: boolean): void {
  const members = childrenOf(node.getChild('ClassBody'));
  const nameOf = (member: Node): string => found.textOf(member.getChild('PropertyDefinition'));
  const built = members.filter((member) => nameOf(member) === 'constructor');
  const inherits = node.getChild('extends') !== null;
  const none = inherits ? null : { required: 0, most: 0 };
  if (built.length === 0) found.declare(name, none, isExported, node);
  for (const each of built)
    found.declare(name, arityOf(each.getChild('ParamList')), isExported, node);
  for (const member of members) {
    const own = nameOf(member);
    if (own === '' || own === 'constructor') continue;
    const isAccessor = member.getChild('get') !== null || member.getChild('set') !== null;
    const params = member.getChild('ParamList');
    const arity = params === null ? arityOfValue(member.lastChild) : arityOf(params);
    found.declare(`${name}.${own}`, isAccessor ? null : arity, isExported, member);
  }
}

function arityOfValue(node: Node | null): Arity | null {
  const value = node?.name === ';' ? node.prevSibling : node;
  const isFunction = value?.name === 'ArrowFunction' || value?.name === 'FunctionExpression';
  return isFunction ? arityOf(value.getChild('ParamList')) : null;
}

function arityOf(params: Node | null): Arity | null {
  return countParameters(params, (has) => {
    if (has('this')) return null;
    if (has('Spread')) return 'rest';
    return has('Equals') || has('Optional') ? 'optional' : 'required';
  });
}

/** The module that an import, an export or a call of `require` names. */
function sourceOf(found: Findings, node: Node | null): string | null {
  const string = node?.getChild('String') ?? null;
  return string === null ? null : found.textOf(string).slice(1, -1);
}

function bindImports(found: Findings, node: Node): void {
  const from = sourceOf(found, node);
  if (from === null) return;
  const isAll = node.getChild('Star') !== null;
  const whole = node.getChildren('VariableDefinition');
  for (const [at, each] of whole.entries()) {
    const isModule = isAll && at === whole.length - 1;
    found.bindings.set(found.textOf(each), { from, name: isModule ? null : 'default' });
    if (!isModule) found.use('default', from);
  }
  for (const { name, as } of groupOf(found, node.getChild('ImportGroup'))) {
    found.bindings.set(as, { from, name });
    found.use(name, from);
  }
}

/** `{ a, b as c }` */
function groupOf(found: Findings, group: Node | null) {
  const inner = childrenOf(group).filter(({ name }) => name !== '{' && name !== '}');
  return splitAtCommas(inner).map((part) => {
    const names = part.filter(({ name }) => /^Variable(?:Name|Definition)$|^String$/.test(name));
    const first = names[0] ?? part.at(-1)!;
    return { name: found.textOf(first), as: found.textOf(names.at(-1) ?? first) };
  });
}

/** `const m = require('./m')`, `const { a, b: c } = require('./m')` */
function bindRequire(found: Findings, node: Node): boolean {
  const call = node.getChild('CallExpression') ?? node.getChild('AwaitExpression');
  const isRequire = found.textOf(call?.firstChild ?? null) === 'require';
  const from = isRequire
    ? sourceOf(found, call?.getChild('ArgList') ?? null)
    : sourceOf(found, call?.getChild('DynamicImport') ?? null);
  if (from === null) return false;
  const whole = node.getChild('VariableDefinition');
  if (whole !== null) found.bindings.set(found.textOf(whole), { from, name: null });
  for (const property of node.getChild('ObjectPattern')?.getChildren('PatternProperty') ?? []) {
    const as = found.textOf(property.getChild('VariableDefinition'));
    const name = found.textOf(property.getChild('PropertyName')) || as;
    found.bindings.set(as, { from, name });
    found.use(name, from);
  }
  return isRequire;
}

/** `exports.a = …`, `module.exports = { a, b: … }` */
function exportCommon(found: Findings, node: Node): boolean {
  const [target, , value] = childrenOf(node);
  const text = found.textOf(target ?? null);
  const [, name] = /^(?:module\.)?exports\.([\w$]+)$/.exec(text) ?? [];
  if (name !== undefined) found.declare(name, arityOfValue(value ?? null), true, value ?? null);
  if (text !== 'module.exports') return name !== undefined;
  for (const property of value?.getChildren('Property') ?? []) {
    const own = found.textOf(property.getChild('PropertyDefinition'));
    if (own !== '') found.export(own, own);
  }
  return true;
}

/** Re-exports, export lists and the default export. */
function passOn(found: Findings, node: Node): void {
  const from = sourceOf(found, node);
  for (const { name, as } of groupOf(found, node.getChild('ExportGroup'))) {
    found.export(name, as);
    if (from !== null) found.use(name, from);
  }
  if (from !== null && node.getChild('Star') !== null) {
    const as = found.textOf(node.getChild('VariableName'));
    if (as === '') found.stars.push(from);
    else found.declare(as, null, true);
  }
  if (node.getChild('default') === null) return;
  const made = node.getChild('FunctionDeclaration') ?? node.getChild('ClassDeclaration');
  const name = found.textOf(made?.getChild('VariableDefinition') ?? node.getChild('VariableName'));
  found.declare('default', arityOfValue(node.lastChild), true);
  if (name !== '') found.export(name, 'default');
}

function noteUse(found: Findings, node: Node): void {
  const { name, parent } = node;
  if (parent === null || /^(?:Import|Export)(?:Group|Declaration)$/.test(parent.name)) return;
  const isShort = name === 'PropertyDefinition' && parent.name === 'Property';
  if (isShort && childrenOf(parent).length === 1) found.useName(found.textOf(node));
  if (/^(?:VariableName|TypeName|JSXIdentifier)$/.test(name)) {
    if (parent.name !== 'JSXAttribute') found.useName(found.textOf(node));
  }
  if (name !== 'PropertyName' || parent.name !== 'MemberExpression') return;
  found.useMember(found.textOf(parent.firstChild), found.textOf(node));
}
