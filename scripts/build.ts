/**
 * Builds what is published: dist/, with every dependency inside, so that users install one package.
 * Commands are split off, so that `landfast --help` does not load what it does not need.
 */

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describeProgram } from '../src/cli/main.ts';
import type { WrittenHelp } from '../src/cli/start.ts';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};

const made = join(root, 'dist.new');
rmSync(made, { recursive: true, force: true });
const result = await build({
  absWorkingDir: root,
  entryPoints: { main: 'src/cli/start.ts' },
  outdir: 'dist.new',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  minifySyntax: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  define: { 'process.env.LANDFAST_VERSION': JSON.stringify(version) },
  // Some dependencies are CommonJS and call `require` for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
});
writeFileSync(
  join(made, 'THIRD_PARTY_LICENSES.txt'),
  licences(Object.keys(result.metafile.inputs)),
);
const help: WrittenHelp = { narrow: helpText(80), wide: helpText(10_000) };
writeFileSync(join(made, 'help.json'), JSON.stringify(help));

// Whoever runs the program meanwhile finds the old one or the new one, never half of one.
rmSync(join(root, 'dist'), { recursive: true, force: true });
renameSync(made, join(root, 'dist'));

/** What `landfast --help` prints in a terminal of that width. */
function helpText(columns: number): string {
  let text = '';
  const write = (more: string): void => {
    text += more;
  };
  const program = describeProgram((command) => async (...given) => {
    await command(...given);
  });
  program.configureOutput({ writeOut: write, getOutHelpWidth: () => columns }).outputHelp();
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
