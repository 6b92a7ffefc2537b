/**
 * Which of many scopes could meet a scope: as `overlaps` for each of them, without comparing each
 * with each. Globs that have no folder in common cannot meet. So shapes hang in a tree at the
 * folder that they begin with, and a scope is compared with those on the way to its own folder and
 * below it.
 */

import { literalLength, type Shape, shapesIn, shapesMeet } from './scope.ts';

interface Entry<T> {
  readonly shape: Shape;
  readonly value: T;
}

interface Folder<T> {
  readonly here: Entry<T>[];
  readonly below: Map<string, Folder<T>>;
}

export class ScopeIndex<T> {
  readonly #root: Folder<T> = newFolder();

  add(globs: readonly string[], value: T): void {
    for (const shape of shapesIn(globs)) {
      let folder = this.#root;
      for (const name of beginningOf(shape)) {
        const next = folder.below.get(name) ?? newFolder<T>();
        folder.below.set(name, next);
        folder = next;
      }
      folder.here.push({ shape, value });
    }
  }

  /** The values whose scopes could meet these globs, each once; `counts` says which to look at. */
  meeting(globs: readonly string[], counts: (value: T) => boolean = () => true): ReadonlySet<T> {
    const found = new Set<T>();
    for (const shape of shapesIn(globs)) {
      for (const entry of this.#near(shape)) {
        if (found.has(entry.value) || !counts(entry.value)) continue;
        if (shapesMeet(entry.shape, shape)) found.add(entry.value);
      }
    }
    return found;
  }

  /** What hangs on the way to the shape's folder, and all that is below it. */
  *#near(shape: Shape): Iterable<Entry<T>> {
    let folder = this.#root;
    for (const name of beginningOf(shape)) {
      yield* folder.here;
      const next = folder.below.get(name);
      if (next === undefined) return;
      folder = next;
    }
    const ahead = [folder];
    for (const each of ahead) {
      yield* each.here;
      for (const next of each.below.values()) ahead.push(next); // The loop goes on into these.
    }
  }
}

function newFolder<T>(): Folder<T> {
  return { here: [], below: new Map() };
}

/** The segments before the first wildcard. */
function beginningOf(shape: Shape): Shape {
  return shape.slice(0, literalLength(shape));
}
