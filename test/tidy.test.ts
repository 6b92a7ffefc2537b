/**
 * The rules of the house that a machine can check: who may import whom, what pure code may not
 * touch, who may write where, headers, names. The tables are quoted in ARCHITECTURE.md.
 */

import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  model: ['base'],
  plan: ['base', 'model'],
  schedule: ['base', 'model'],
  agents: ['base', 'model'],
  report: ['base', 'model'],
  semantic: ['base', 'model'],
  journal: ['base', 'model'],
  process: ['base'],
  git: ['base', 'process'],
  workspace: ['base', 'model', 'git', 'process', 'semantic'],
  merge: ['base', 'model', 'git', 'workspace'],
  worker: ['base', 'model', 'agents', 'process', 'workspace'],
  engine: ['base', 'model', 'schedule', 'journal', 'worker', 'merge'],
  notify: ['base', 'model', 'process', 'report'],
  ui: ['base', 'model', 'journal', 'report'],
  cli: ['*'],
};

/** Packages from npm, each with a line in ARCHITECTURE.md. Node's own modules need none. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  model: ['picomatch'],
  plan: ['yaml', 'zod'],
  semantic: ['@lezer/javascript', '@lezer/python'],
  ui: ['string-width'],
  cli: ['commander'],
};

const PURE = ['model', 'plan', 'schedule', 'agents', 'report', 'semantic'];

const BANNED_IN_PURE: readonly (readonly [RegExp, string])[] = [
  [/from 'node:/, 'pure code runs in the browser and the simulator: take it as an argument'],
  [/\bDate\.now\b|new Date\(\)/, 'pure code is told the time'],
  [/\bMath\.random\b/, 'pure code is told its random numbers'],
  [/\bprocess\.(?!')/, 'pure code knows no process'],
  [/\bconsole\./, 'pure code returns its text'],
];

const BANNED: readonly (readonly [RegExp, string])[] = [
  [/^\s*(?:export )?(?:const )?enum /m, 'a union of strings is erasable'],
  [/^\s*(?:export )?namespace /m, 'a module is a namespace'],
  [/^export default/m, 'one name per thing'],
  [/^export \* from/m, 'no barrels'],

  [/\bTODO\b(?! \(#\d+\))|\bFIXME\b|\bXXX\b/, 'a TODO carries an issue number'],
];

const SPAWNS = /\bchild_process\b/;
const NO_EDGE = /(?:^|-)(?:utils?|helpers?|common|types|manager|service|handler)(?:-|\.|$)/;

const COLUMNS = 100;
const FUNCTION_LINES = 60;

const root = join(import.meta.dirname, '..');
const sources = globSync('src/**/*.ts', { cwd: root }).sort();
const isTest = (file: string): boolean => file.endsWith('.test.ts');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const folderOf = (file: string): string => file.split('/')[1] ?? '';

describe('every source file keeps the rules of the house', () => {
  test.each(sources)('%s', (file) => {
    const text = read(file);
    const problems = [...importProblems(file, text), ...styleProblems(file, text)];
    if (PURE.includes(folderOf(file)) && !isTest(file)) {
      for (const [pattern, instead] of BANNED_IN_PURE) {
        if (pattern.test(text)) problems.push(`${pattern}: ${instead}`);
      }
    }
    expect(problems).toEqual([]);
  });
});

function importProblems(file: string, text: string): string[] {
  const folder = folderOf(file);
  const problems: string[] = [];
  for (const [, target = ''] of text.matchAll(/(?:from|import\() ?'([^']+)'/g)) {
    if (target.startsWith('.')) {
      const to = relative('src', join(file, '..', target)).split('/')[0] ?? '';
      const allowed = MAY_IMPORT[folder] ?? [];
      const ok = to === folder || allowed.includes('*') || allowed.includes(to) || isTest(file);
      if (!ok) problems.push(`${folder} must not import ${to}`);
      if (to === 'cli' && folder !== 'cli') problems.push('nothing imports cli');
    } else if (!target.startsWith('node:') && !isTest(file)) {
      if (!(MAY_USE[folder] ?? []).includes(target))
        problems.push(`${folder} may not use ${target}`);
    }
  }
  const spawnsElsewhere = SPAWNS.test(text) && folder !== 'process' && !isTest(file);
  if (spawnsElsewhere) problems.push('processes are started in process/ only');
  return problems;
}

function styleProblems(file: string, text: string): string[] {
  const problems: string[] = [];
  const lines = text.split('\n');
  if (!text.startsWith('/**') && !isTest(file))
    problems.push('a file starts by saying what it is for');
  for (const [index, line] of lines.entries()) {
    const isLong = line.length > COLUMNS && !isTest(file) && !/['"`]/.test(line);
    if (isLong) problems.push(`line ${index + 1} has ${line.length} columns`);
  }
  if (!isTest(file)) problems.push(...longFunctions(lines));
  for (const [pattern, instead] of BANNED) {
    if (pattern.test(text) && !isTest(file)) problems.push(`${pattern}: ${instead}`);
  }
  if (NO_EDGE.test(file.split('/').at(-1) ?? '')) problems.push('a name without an edge');
  return problems;
}

/** A function that is formatted starts and ends in the same column. */
function longFunctions(lines: readonly string[]): string[] {
  const problems: string[] = [];
  for (const [index, line] of lines.entries()) {
    const head = /^(\s*)(?:export )?(?:async )?(?:function\*? |(?:static |async )*#?\w+\()/.exec(
      line,
    );
    const opens =
      head !== null && /[({]$/.test(line) && !/^\s*(?:if|for|while|switch|return)\b/.test(line);
    if (!opens) continue;
    const indent = head[1] ?? '';
    const length = lines.slice(index).indexOf(`${indent}}`);
    if (length > FUNCTION_LINES) problems.push(`line ${index + 1}: a function of ${length} lines`);
  }
  return problems;
}

/**
 * Every byte in a git directory is written by git. So only these files of src/git change anything on
 * the disk by themselves, and each only what is said here.
 */
const WRITES_FILES: Readonly<Record<string, string>> = {
  'exclude.ts': 'our block in info/exclude',
  'locks.ts': 'removes locks of ours that nobody holds',
  'merge-attributes.ts': 'below landfast/temp, through temp-folder.ts',
  'temp-folder.ts': 'below landfast/temp',
  'worktree-link.ts': 'the file `.git` of a worktree of ours, which lies in no git directory',
  'worktree-notes.ts': 'below landfast/worktrees',
  'worktree.ts': 'moves a worktree of ours aside before it is deleted',
};

const WRITING =
  /^(?:append|chmod|copy|cp|link|mkd|open|rename|rm|symlink|truncate|unlink|utimes|write)/;
/** Looks into what git keeps for itself, by its path. */
const GITS_OWN =
  /(?:readFile|createReadStream|textOf)\w*\([^)]*(?:\/index\b|objects|packed-refs|refs\/|\/HEAD)/;

test('nothing of ours writes a file inside a git directory, or reads its index, objects or refs', () => {
  const ofGit = sources.filter((file) => file.startsWith('src/git/') && !isTest(file));
  const writers = ofGit.filter((file) =>
    importedFromFs(read(file)).some((name) => WRITING.test(name)),
  );
  expect(writers.map((file) => file.slice('src/git/'.length))).toEqual(Object.keys(WRITES_FILES));
  expect(sources.filter((file) => !isTest(file) && GITS_OWN.test(read(file)))).toEqual([]);
  // Elsewhere nobody makes a path into a git directory but below landfast/.
  const others = sources.filter((file) => !file.startsWith('src/git/') && !isTest(file));
  const intoGit = /(?:commonDir|gitDir|gitDirOf\(\w+\))(?:\}\/|, ')(?!landfast|worktrees)/;
  const isWriter = (text: string): boolean =>
    importedFromFs(text).some((name) => WRITING.test(name));
  const found = others.filter((file) => isWriter(read(file)) && intoGit.test(read(file)));
  // Empty files and folders that a fence is mounted on: a mount needs something to lie on.
  expect(found).toEqual(['src/process/fence/bounds.ts']);
});

/** The functions that a file takes from Node's file system modules. */
function importedFromFs(text: string): readonly string[] {
  const found = text.matchAll(/import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g);
  return [...found].flatMap(([, names = '']) => names.split(',').map((name) => name.trim()));
}

test('every folder of src has its place in the dependency rule', () => {
  const folders = new Set(sources.map(folderOf));
  expect([...folders].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
});

test('an agent is named in its own file and in the registry, nowhere else', () => {
  const names = ['claude', 'codex', 'gemini', 'opencode', 'acp', 'shell'];
  const allowed = /^src\/(agents|cli)\/|^src\/plan\/formats\//; // Formats say which agent they mean.
  const offenders = sources.filter(
    (file) =>
      !allowed.test(file) &&
      !isTest(file) &&
      names.some((name) => new RegExp(`'${name}'`).test(read(file))),
  );
  expect(offenders).toEqual([]);
});

test('every event is named in docs/journal.md', () => {
  const events = [...read('src/model/event.ts').matchAll(/readonly type: '([^']+)'/g)];
  const docs = read('docs/journal.md');
  const missing = events.map(([, type = '']) => type).filter((type) => !docs.includes(type));
  expect({ events: events.length > 15, missing }).toEqual({ events: true, missing: [] });
});

test('the dependency rule in ARCHITECTURE.md is the one that is checked', () => {
  const docs = read('ARCHITECTURE.md');
  const rows = Object.entries(MAY_IMPORT).map(([folder, imports]) => {
    const list = imports.includes('*') ? 'everything' : imports.join(', ') || '-';
    return `| ${folder} | ${list} |`;
  });
  expect(rows.filter((row) => !docs.includes(row))).toEqual([]);
});

test('every dependency has a line in ARCHITECTURE.md that says why', () => {
  const { devDependencies, dependencies } = JSON.parse(read('package.json')) as {
    devDependencies: Record<string, string>;
    dependencies?: Record<string, string>;
  };
  const docs = read('ARCHITECTURE.md');
  const missing = Object.keys(devDependencies).filter((name) => !docs.includes(`\`${name}\``));
  expect({ dependencies, missing }).toEqual({ dependencies: undefined, missing: [] });
});
