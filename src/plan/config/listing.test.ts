import { expect, test } from 'vitest';
import { lower } from '../formats/native/lower.ts';
import { BUILT_IN, findKey } from './keys.ts';
import { configSchema } from './schema.ts';

const AROUND = { name: 'x', home: '/home/ada' };
const PLAN = { landfast: 1 as const, tasks: [{ id: 'a' }] };

test('every default has a key and fits it', () => {
  expect([...BUILT_IN.keys()].filter((name) => findKey(name) === undefined)).toEqual([]);
  const values: Record<string, Record<string, unknown> | unknown> = {};
  for (const [name, value] of BUILT_IN) {
    const [section = '', key] = name.split('.');
    values[section] = key === undefined ? value : { ...(values[section] ?? {}), [key]: value };
  }
  expect(configSchema.safeParse(values).error?.issues ?? []).toEqual([]);
});

test('the defaults that are shown for native plans are those they have', () => {
  const shown: Record<string, Record<string, unknown> | unknown> = {};
  const sections = ['defaults', 'land', 'limits', 'sandbox', 'fence'];
  for (const [name, value] of BUILT_IN) {
    const [section = '', key] = name.split('.');
    if (!sections.includes(section)) continue;
    shown[section] = key === undefined ? value : { ...(shown[section] ?? {}), [key]: value };
  }
  const config = configSchema.parse(shown);
  const bare = lower(PLAN, ['p'], { ...AROUND, config: {} });
  expect(lower(PLAN, ['p'], { ...AROUND, config })).toEqual(bare);
});
