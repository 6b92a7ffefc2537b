/**
 * Builds what is published: dist/, with every dependency inside, so that users install one package.
 * The program is one file, main.js: one read and one compilation, which is kept (src/cli/boot/compile-cache.ts).
 * What only some commands need stays lazy in it: esbuild wraps what is reached by `import()`. The
 * small start.cjs says what can be said without it. index.mjs is the library; its declarations are made
 * by types.ts.
 */

import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type BuildOptions, build } from 'esbuild';
import type { WrittenHelp } from '../src/cli/boot/start.ts';
import { describeProgram } from '../src/cli/main.ts';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};

const made = join(root, 'dist.new');
rmSync(made, { recursive: true, force: true });
const common = {
  absWorkingDir: root,
  outdir: 'dist.new',
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node22.13',
  minifySyntax: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  // An `import()` would load Node's own loader of ES modules, which takes longer than all else.
  supported: { 'dynamic-import': false },
} as const satisfies BuildOptions;
const known = {
  'process.env.LANDFAST_VERSION': JSON.stringify(version),
  'import.meta.url': '""', // Only of use where the sources run as they are.
};
const whole = await build({
  ...common,
  entryPoints: { main: 'src/cli/main.ts' },
  define: known,
  banner: { js: '(function (exports, require, module) {' },
  footer: { js: '})' },
});
// src/cli/boot/compile-cache.ts counts on ASCII; esbuild leaves regular expressions and comments as they are.
const text = readFileSync(join(made, 'main.js'), 'utf8').replace(/[^\0-\x7f]/g, escaped);
writeFileSync(join(made, 'main.js'), text);
const built = createHash('sha256').update(text).digest('hex').slice(0, 16);
const first = await build({
  ...common,
  entryPoints: { start: 'src/cli/boot/start.ts' },
  outExtension: { '.js': '.cjs' },
  define: { ...known, 'process.env.LANDFAST_BUILD': JSON.stringify(built) },
});
// The library: for programs that import it. Packages in CommonJS ask for Node's modules by `require`.
const library = await build({
  ...common,
  entryPoints: { index: 'src/index.ts' },
  format: 'esm',
  outExtension: { '.js': '.mjs' },
  supported: {},
  define: known,
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
const inputs = [whole, first, library].flatMap(({ metafile }) => Object.keys(metafile.inputs));
writeFileSync(join(made, 'THIRD_PARTY_LICENSES.txt'), licences(inputs));
const { '': ofProgram, ...ofCommands } = await helpTexts();
writeFileSync(join(made, 'help.json'), JSON.stringify({ '': ofProgram }));
writeFileSync(join(made, 'command-help.json'), JSON.stringify(ofCommands));

// Whoever runs the program meanwhile finds the old one or the new one, never half of one.
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(made, join(root, 'dist'));

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** What `landfast --help` prints, under '', and `landfast COMMAND --help`. */
async function helpTexts(): Promise<Record<string, WrittenHelp>> {
  const program = await describeProgram((command) => async (...given) => {
    await command(...given);
  });
  const described = [program, ...program.commands];
  const written = described.map((each) => [
    each === program ? '' : each.name(),
    { narrow: helpText(each, 80), wide: helpText(each, 10_000) },
  ]);
  return Object.fromEntries(written);
}

/** What the help of a command is in a terminal of that width. */
function helpText(command: Command, columns: number): string {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  command.configureOutput({ writeOut: write, getOutHelpWidth: () => columns }).outputHelp();
  return text;
}

/** The licence of every package that ended up in the bundle: their terms ask for that. */
function licences(inputs: readonly string[]): string {
  const names = new Set<string>();
  for (const input of inputs) {
    const match = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match?.[1] !== undefined) names.add(match[1]);
  }
  return [...names]
    .sort()
    .map((name) => {
      const folder = join(root, 'node_modules', name);
      const file = ['LICENSE', 'LICENSE.md', 'license', 'LICENCE'].find((each) =>
        exists(folder, each),
      );
      const text =
        file === undefined ? '(see its package)' : readFileSync(join(folder, file), 'utf8');
      return `${name}\n${'='.repeat(name.length)}\n\n${text.trim()}\n`;
    })
    .join('\n\n');
}

function exists(folder: string, name: string): boolean {
  try {
    readFileSync(join(folder, name));
    return true;
  } catch {
    return false;
  }
}
