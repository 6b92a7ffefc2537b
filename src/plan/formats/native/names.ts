/** How a Plan names what the keys of a native plan hold: in camel case, but for the names below. */

import type * as z from 'zod';
import { durationText } from './values.ts';

/** Times are in milliseconds there. */
const OTHER_NAMES = {
  timeout: 'timeoutMs',
  idle: 'idleMs',
  pause: 'pauseMs',
  fork: 'forks',
  disk: 'diskBytes',
  disk_free: 'diskFreeBytes',
  load: 'loadPerCore',
} as const;

type CamelCase<K extends string> = K extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : K;

type NameOf<K> = K extends keyof typeof OTHER_NAMES
  ? (typeof OTHER_NAMES)[K]
  : CamelCase<K & string>;

type Named<T> = { [K in keyof T as NameOf<K>]: Exclude<T[K], undefined> };

function nameOf(key: string): string {
  const other = Object.hasOwn(OTHER_NAMES, key) && OTHER_NAMES[key as keyof typeof OTHER_NAMES];
  return other || key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The values of a section under their names in a Plan; what is undefined is left out. */
export function toPlan<T extends object>(section: T): Named<T> {
  const given = Object.entries(section).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([key, value]) => [nameOf(key), value])) as Named<T>;
}

/** Keys and plain values, in the order in which they are written. */
export type Keys = Readonly<Record<string, unknown>>;

/** The inverse of `toPlan`, in the order of the schema. */
export function fromPlan({ shape }: z.ZodObject, spec: object): Keys {
  const values = new Map(Object.entries(spec));
  const keys = Object.keys(shape).flatMap((key) => {
    const value: unknown = values.get(nameOf(key));
    if (value === undefined) return [];
    return [[key, nameOf(key).endsWith('Ms') ? durationText(Number(value)) : value]];
  });
  return Object.fromEntries(keys);
}
