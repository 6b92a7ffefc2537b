/** The declarations of the library: what they promise, and how they serve who installs the package. */

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPacked } from '../support/packed.ts';
import { type TempDir, tempDir } from '../support/temp-dir.ts';

const exec = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const REPORT = join(ROOT, 'docs', 'api', 'landfast.api.md');
const PROGRAM = join(import.meta.dirname, 'consumer', 'program.ts');
/** What npm publishes, and what it reads for that. */
const PUBLISHED = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'bin', 'dist', 'docs'];

let place: TempDir;
let staged: string;
let extracted: string;

beforeAll(async () => {
  place = await tempDir();
  staged = join(place.path, 'staged');
  mkdirSync(staged);
  for (const name of [...PUBLISHED, 'schemas']) {
    cpSync(join(ROOT, name), join(staged, name), { recursive: true });
  }
  const types = [join(ROOT, 'scripts', 'types.ts'), '--check', '--out', join(staged, 'dist')];
  extracted = await complaints(process.execPath, types, ROOT);
});
afterAll(() => place[Symbol.asyncDispose]());

test('the public API is the one that docs/api/landfast.api.md reports', () => {
  expect(extracted).toBe('');
});

describe('a program that installs the package', () => {
  let app: string;

  beforeAll(async () => {
    ({ app } = await installPacked(place.path, staged));
    cpSync(PROGRAM, join(app, 'program.ts'));
  });

  // The compiler may get `AbortSignal` from Node's types, or from those of the browser.
  const node = { lib: ['es2022'], types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] };
  const browser = { lib: ['es2022', 'dom'], types: [] };
  test.each([
    { moduleResolution: 'node16', module: 'node16', ...node },
    { moduleResolution: 'bundler', module: 'esnext', ...browser },
  ])(
    'type-checks with moduleResolution $moduleResolution, declarations included',
    async (options) => {
      expect(await check(app, options)).toBe('');
    },
  );

  test('uses every name that the package exports', () => {
    const report = readFileSync(REPORT, 'utf8');
    const direct = /^export (?:class|function|interface|type|const) (\w+)/gm;
    const renamed = /^export \{ \w+ as (\w+) \}/gm;
    const exported = [direct, renamed].flatMap((each) => [...report.matchAll(each)]);
    expect(report.match(/^export /gm)).toHaveLength(exported.length);
    const [, imported = ''] = /import \{([^}]*)\} from 'landfast'/.exec(
      readFileSync(PROGRAM, 'utf8'),
    )!;
    const used = imported.split(',').flatMap((name) => name.trim().replace('type ', '') || []);
    expect(used.sort()).toEqual(exported.map(([, name]) => name).sort());
  });
});

/** What the compiler says of the program in a folder, with the strictest options that users have. */
async function check(app: string, options: object): Promise<string> {
  const compilerOptions = {
    target: 'es2022',
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    ...options,
  };
  await place.write({
    'app/tsconfig.json': JSON.stringify({ compilerOptions, files: ['program.ts'] }),
  });
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  return complaints(tsc, ['-p', app, '--pretty', 'false'], app);
}

/** All that a program prints, and that it failed. */
async function complaints(file: string, args: readonly string[], cwd: string): Promise<string> {
  const failed = (error: Error & { readonly stdout: string }) => ({
    stdout: error.stdout,
    stderr: error.message, // Which ends with what it wrote there.
  });
  const { stdout, stderr } = await exec(file, args, { cwd }).catch(failed);
  return `${stdout}${stderr}`;
}
