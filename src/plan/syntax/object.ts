/**
 * Plain data as the tree that its YAML would give. A place is the way to a value: `tasks[2].needs`.
 * Never throws: what YAML cannot hold is a problem, and then there is no tree.
 */

import type { Place, ProblemLog } from '../problem.ts';
import type { YamlEntry, YamlNode, YamlValue } from './yaml.ts';

/** Null where it is no plain data, which is then in the log; an undefined value counts as absent. */
export function readObject(root: unknown, log: ProblemLog): YamlNode | null {
  let count = 0;

  /** `around` are the objects that the value is in. */
  function read(value: unknown, path: string, around: readonly unknown[]): YamlNode {
    count += 1;
    const at: Place = { line: count, column: 1, path };
    if (value === null || isScalar(value)) return { kind: 'scalar', at, value };
    if (around.includes(value)) return refuse(at, 'the object contains itself');
    const inside = [...around, value];
    if (Array.isArray(value)) {
      const items = value.map((item, i) => read(item, `${path}[${i}]`, inside));
      return { kind: 'list', at, items };
    }
    if (!isPlain(value)) return refuse(at, `expected plain data, found ${nameOf(value)}`);
    const entries = new Map<YamlValue, YamlEntry>();
    for (const [key, content] of Object.entries(value)) {
      if (content === undefined) continue;
      const node = read(content, path === '' ? stepOf(key) : `${path}.${stepOf(key)}`, inside);
      entries.set(key, { key, keyAt: node.at, value: node });
    }
    return { kind: 'map', at, entries };
  }

  function refuse(at: Place, message: string): YamlNode {
    log.error(at, message, 'use texts, numbers, booleans, lists and objects');
    return { kind: 'scalar', at, value: null };
  }

  const tree = read(root, '', []);
  return log.failed ? null : tree;
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // An object of another realm has another Object.prototype, whose own prototype is null as well.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  return `an instance of ${value.constructor.name}`;
}

/** A key that is no plain word is quoted, so that the path can be told apart. */
function stepOf(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}
