/** docs/library.md: its examples are checked and run, and it names all that the library exports. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bareEnv } from '../support/landfast.ts';
import { tempDir } from '../support/temp-dir.ts';
import { plainRepository } from './plain-repository.ts';
import { scripts, writes } from './scene.ts';

const exec = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs', 'library.md'), 'utf8');

describe('docs/library.md', () => {
  const SNIPPETS = [...PAGE.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text = '']) => text);
  const PRINTS = [
    /^1 run\.started\n[\s\S]*\nlogin landed as [0-9a-f]{40}\n$/,
    /^succeeded\n$/,
    /^hello landed\nworld landed\n$/,
    /^interrupted\nmain\n$/,
    /^2 \[ 'succeeded', 'succeeded' \]\n$/,
    /^Wrote notes\.md\.\n$/,
    /^1 workers: 11 minutes\n2 workers: 11 minutes\n4 workers: 11 minutes\n8 workers: 11 minutes\n$/,
    /^tasks\[0\] task "a" has no prompt .+\n$/,
  ];

  test('every example type-checks', async () => {
    await using place = await tempDir();
    const files = SNIPPETS.map((_, index) => `snippet-${index}.ts`);
    await place.write(Object.fromEntries(files.map((file, index) => [file, SNIPPETS[index]!])));
    const compilerOptions = {
      target: 'es2024',
      module: 'nodenext',
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules', '@types')],
      paths: { landfast: [join(ROOT, 'src', 'index.ts')] },
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      strict: true,
      noEmit: true,
      noUncheckedIndexedAccess: true,
      exactOptionalPropertyTypes: true,
      verbatimModuleSyntax: true,
    };
    const config = JSON.stringify({ compilerOptions, files });
    await place.write({ 'tsconfig.json': config, 'package.json': '{"type": "module"}' });
    const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
    const checked = await exec(tsc, ['-p', place.path]).catch((error: object) => error);
    expect(checked).toMatchObject({ stdout: '' });
  });

  test('every example runs, one after the other in one repository', async () => {
    expect(SNIPPETS).toHaveLength(PRINTS.length);
    await using place = await tempDir();
    const env = bareEnv(place.path);
    const gates = [{ name: 'package', run: 'test -e package.json' }];
    const files = {
      'package.json': '{ "scripts": { "test": "test -e package.json" } }\n',
      'plan.yaml': JSON.stringify(scripts({ login: writes('session') }, { gates })),
    };
    const branches = { 'feature/a': { 'a.txt': 'a' }, 'feature/b': { 'b.txt': 'b' } };
    const dir = await plainRepository(join(place.path, 'repo'), files, env, branches);
    const built = pathToFileURL(join(ROOT, 'dist', 'index.mjs')).href;
    await place.write({
      'app/node_modules/landfast/package.json': '{"type": "module", "exports": "./index.mjs"}',
      'app/node_modules/landfast/index.mjs': `export * from '${built}';\n`,
      'app/package.json': '{"type": "module"}',
    });
    for (const [index, text] of SNIPPETS.entries()) {
      const file = join(place.path, 'app', `run-${index}.ts`);
      await place.write({ [`app/run-${index}.ts`]: text });
      const args = ['--experimental-strip-types', '--no-warnings', file];
      const { stdout } = await exec(process.execPath, args, { cwd: dir, env });
      expect(stdout, text).toMatch(PRINTS[index]!);
    }
  });

  test('documents every name that the library exports', () => {
    const entry = readFileSync(join(ROOT, 'src', 'index.ts'), 'utf8');
    const listed = [...entry.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(
      ([, names = '']) =>
        names.split(',').flatMap((name) => name.trim().split(' as ').at(-1) || []),
    );
    const functions = [...entry.matchAll(/^export function (\w+)/gm)].map(([, name = '']) => name);
    const types = readFileSync(join(ROOT, 'src', 'app', 'api.ts'), 'utf8');
    const written = [...types.matchAll(/^export interface (\w+)/gm)].map(([, name = '']) => name);
    const names = [...listed, ...functions, ...written];
    expect(names.length).toBeGreaterThan(30);
    const reference = PAGE.slice(PAGE.indexOf('## Reference'));
    expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(reference))).toEqual([]);
  });
});
