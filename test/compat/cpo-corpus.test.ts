/** Directories as people have them: all are read without a word, and mean what they say. */

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { parsePlan } from '../../src/plan/parse.ts';
import { formatProblem } from '../../src/plan/problem.ts';
import { planInput } from '../support/plan-input.ts';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'plans', 'cpo');
/** What the repositories around them would hold, so that each has its package manager. */
const ROOT = { 'pyproject.toml': '', 'package.json': '{}', 'go.mod': '', 'Cargo.toml': '' };

function read(name: string) {
  const directory = `parallel/${name}`;
  const inside = readdirSync(join(FOLDER, name), { recursive: true, encoding: 'utf8' })
    .map((file) => join(FOLDER, name, file))
    .filter((file) => statSync(file).isFile())
    .map((file) => {
      const path = relative(join(FOLDER, name), file).replaceAll('\\', '/');
      return [`${directory}/${path}`, readFileSync(file, 'utf8')] as const;
    });
  const files = { ...ROOT, ...Object.fromEntries(inside) };
  const path = `${directory}/manifest.json`;
  return parsePlan(
    planInput(path, files[path as keyof typeof files] ?? '', { directory, files }),
    null,
  );
}

test.each([
  ['inventory', 'dependencies 1:2 wave-1-validation 2:1 wave-2-validation'],
  ['prompts-only', '1:1 2:1 wave-2-validation'],
  ['prompt-files', '1:2'],
  ['legacy', '1:1 2:1'],
  ['rag', 'dependencies 1:2 wave-1-validation 2:1 wave-2-validation'],
  ['web-shop', 'dependencies 1:2 wave-1-validation 2:1 wave-2-validation'],
  ['go-service', 'dependencies 1:1 wave-1-validation 2:2 wave-2-validation'],
  ['rust-cli', 'dependencies 1:1 wave-1-validation 2:1 wave-2-validation'],
  ['platform', '1:2 2:1 wave-2-validation 3:2 4:1 wave-4-validation'],
  ['notifications', '1:1 2:1 wave-2-validation'],
])('%s is read without a problem: %s', (name, outline) => {
  const { plan, format, problems } = read(name);

  const words: string[] = [];
  for (const { id, wave, agent } of plan?.tasks ?? []) {
    const [number, count] = words.at(-1)?.split(':') ?? [];
    if (agent === 'shell') words.push(id);
    else if (number === String(wave)) words.splice(-1, 1, `${number}:${Number(count) + 1}`);
    else words.push(`${wave}:1`);
  }
  expect(problems.map(formatProblem)).toEqual([]);
  expect(format).toBe('cpo');
  expect(words.join(' ')).toBe(outline);
  expect(plan?.tasks.filter(({ prompt }) => prompt.trim() === '')).toEqual([]);
});

test('no directory of the corpus is left out', () => {
  expect(readdirSync(FOLDER)).toHaveLength(10);
});
