/**
 * JSON Schemas from the types of src/model: a type is the one description of an event or an effect,
 * and its comments say what the fields mean. A named type becomes a definition. Objects are open:
 * readers accept fields that they do not know.
 */

import { createRequire } from 'node:module';
import { join } from 'node:path';
import type ts5 from '../node_modules/@microsoft/api-extractor/node_modules/typescript/lib/typescript.js';

// TypeScript 7 has no compiler API; the release that api-extractor brings has one.
const require = createRequire(import.meta.resolve('@microsoft/api-extractor'));
const ts = require('typescript') as typeof ts5;

export type Json = Readonly<Record<string, unknown>>;

/** The schemas of exported types, each given as `[file, name]`. */
export function typeSchemas(types: readonly (readonly [file: string, name: string])[]): Json[] {
  const root = join(import.meta.dirname, '..', 'src');
  const files = types.map(([file]) => join(root, file));
  const program = ts.createProgram(files, {
    strict: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: [],
  });
  const checker = program.getTypeChecker();
  return types.map(([, name], index) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(files[index]!)!)!;
    const symbol = checker.getExportsOfModule(module).find((each) => each.name === name);
    if (symbol === undefined) throw new Error(`${files[index]} exports no ${name}`);
    const writer = new SchemaWriter(checker);
    return { ...writer.ofDeclaration(symbol), definitions: writer.definitions() };
  });
}

class SchemaWriter {
  readonly #checker: ts5.TypeChecker;
  readonly #definitions = new Map<string, Json>();

  constructor(checker: ts5.TypeChecker) {
    this.#checker = checker;
  }

  definitions(): Json {
    return Object.fromEntries([...this.#definitions].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  ofDeclaration(symbol: ts5.Symbol): Json {
    const declaration = symbol.declarations![0]!;
    return ts.isTypeAliasDeclaration(declaration)
      ? this.#ofNode(declaration.type)
      : this.#ofObject(this.#checker.getDeclaredTypeOfSymbol(symbol));
  }

  #ofNode(node: ts5.TypeNode): Json {
    switch (node.kind) {
      case ts.SyntaxKind.StringKeyword:
        return { type: 'string' };
      case ts.SyntaxKind.NumberKeyword:
        return { type: 'number' };
      case ts.SyntaxKind.BooleanKeyword:
        return { type: 'boolean' };
      case ts.SyntaxKind.UnknownKeyword:
        return {};
    }
    if (ts.isParenthesizedTypeNode(node) || ts.isTypeOperatorNode(node)) {
      return this.#ofNode(node.type);
    }
    if (ts.isLiteralTypeNode(node)) return literalSchema(node);
    if (ts.isUnionTypeNode(node)) return union(node.types.map((each) => this.#ofNode(each)));
    if (ts.isArrayTypeNode(node)) return { type: 'array', items: this.#ofNode(node.elementType) };
    if (ts.isTupleTypeNode(node)) {
      const items = node.elements.map((each) => this.#ofNode(each));
      return { type: 'array', items, minItems: items.length, maxItems: items.length };
    }
    if (ts.isTypeReferenceNode(node)) return this.#ofReference(node);
    return this.#ofObject(this.#checker.getTypeFromTypeNode(node));
  }

  #ofReference(node: ts5.TypeReferenceNode): Json {
    const name = node.typeName.getText();
    const [first, second] = node.typeArguments ?? [];
    if (name === 'Readonly') return this.#ofNode(first!);
    if (name === 'Record') {
      return { type: 'object', additionalProperties: this.#ofNode(second!) };
    }
    if (first !== undefined) return this.#ofObject(this.#checker.getTypeFromTypeNode(node));
    const found = this.#checker.getSymbolAtLocation(node.typeName)!;
    const isImported = (found.flags & ts.SymbolFlags.Alias) !== 0;
    const symbol = isImported ? this.#checker.getAliasedSymbol(found) : found;
    const reference = { $ref: `#/definitions/${name}` };
    if (this.#definitions.has(name)) return reference;
    this.#definitions.set(name, {}); // A type that names itself finds this.
    const schema = this.ofDeclaration(symbol);
    this.#definitions.set(name, { ...this.#meaningOf(symbol), ...schema });
    return reference;
  }

  #ofObject(type: ts5.Type): Json {
    const fields = this.#checker.getPropertiesOfType(type);
    const properties = fields.map((field) => {
      const { type: node } = field.declarations![0] as ts5.PropertySignature;
      return [field.name, { ...this.#meaningOf(field), ...this.#ofNode(node!) }] as const;
    });
    const isOptional = (field: ts5.Symbol) => (field.flags & ts.SymbolFlags.Optional) !== 0;
    const required = fields.filter((field) => !isOptional(field)).map(({ name }) => name);
    return { type: 'object', properties: Object.fromEntries(properties), required };
  }

  #meaningOf(symbol: ts5.Symbol): Json {
    const lines = symbol.getDocumentationComment(this.#checker).map(({ text }) => text);
    return lines.length === 0 ? {} : { description: lines.join('').replace(/\s+/g, ' ') };
  }
}

function literalSchema({ literal }: ts5.LiteralTypeNode): Json {
  if (literal.kind === ts.SyntaxKind.NullKeyword) return { type: 'null' };
  return { const: ts.isStringLiteral(literal) ? literal.text : JSON.parse(literal.getText()) };
}

/** Unions of literals are enumerations; unions in unions are one. */
function union(members: readonly Json[]): Json {
  const flat = members.flatMap((each) =>
    Array.isArray(each.anyOf) ? (each.anyOf as Json[]) : [each],
  );
  const isLiteral = (each: Json) => 'const' in each || 'enum' in each;
  if (flat.every(isLiteral)) {
    return { enum: flat.flatMap((each) => ('const' in each ? [each.const] : each.enum)) };
  }
  return { anyOf: flat };
}
