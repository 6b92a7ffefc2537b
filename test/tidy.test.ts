/**
 * The rules of the house that a machine can check: who may import whom, what pure code may not
 * touch, who may write where, headers, names. The tables are quoted in ARCHITECTURE.md.
 */

import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OWN_DIALECT } from '../src/plan/config/read.ts';
import { CONFIG_DIALECTS, FORMATS } from '../src/plan/formats/index.ts';

const { projectFile: OWN } = OWN_DIALECT;

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  model: ['base'],
  forge: [],
  plan: ['base', 'model', 'forge'],
  schedule: ['base', 'model'],
  agents: ['base', 'model'],
  report: ['base', 'model', 'forge'],
  semantic: ['base', 'model'],
  journal: ['base', 'model'],
  process: ['base'],
  git: ['base', 'process'],
  workspace: ['base', 'model', 'git', 'process', 'semantic'],
  transport: ['base', 'model', 'git', 'process'],
  merge: ['base', 'model', 'git', 'workspace'],
  worker: ['base', 'model', 'agents', 'process', 'workspace', 'transport'],
  engine: ['base', 'model', 'schedule', 'journal', 'worker', 'merge'],
  notify: ['base', 'model', 'process', 'report'],
  tui: ['base', 'model', 'report'],
  app: ['*'],
  cli: ['base', 'model', 'app', 'report', 'tui'],
  'index.ts': ['*'],
};

/** Packages from npm, each with a line in ARCHITECTURE.md. Node's own modules need none. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  model: ['picomatch'],
  plan: ['yaml', 'zod'],
  transport: ['zod'],
  semantic: ['@lezer/javascript', '@lezer/python'],
  tui: ['string-width'],
  cli: ['commander'],
};

const PURE = ['model', 'plan', 'schedule', 'agents', 'report', 'semantic', 'forge'];

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
  [/\bmkdir(?:Sync)?\([^;]*recursive/, 'Node may try for ever: base/make-folders.ts'],
  [/\breaddirSync\([^;]*recursive/, 'signals are not heard meanwhile: readdir of node:fs/promises'],

  [/\bTODO\b(?! \(#\d+\))|\bFIXME\b|\bXXX\b/, 'a TODO carries an issue number'],
];

/** A use case gets its surroundings as an argument (app/place.ts) and returns values. */
const BANNED_IN_APP: readonly (readonly [RegExp, string])[] = [
  [/\bprocess\.\w/, 'a use case knows no process: take it from its Host'],
  [/\bconsole\./, 'a use case prints nothing: it returns values, or warns through its Host'],
  [/\bhomedir\(|\bEXIT\b/, 'a use case knows no home and no exit codes'],
];

/** Several runs share a process: what one keeps is in its Runtime (ADR 0021), or passed. */
const BANNED_BELOW_FACES: readonly (readonly [RegExp, string])[] = [
  [/^(?:export )?let /m, 'state of a module is shared by all runs: base/runtime.ts'],
  [
    /^(?:export )?const \w+(?:: (?!Readonly)[^=]+)? = new (?:Weak)?(?:Map|Set)\b/m,
    'a map or set that may change belongs to a Runtime; a table is a ReadonlyMap or ReadonlySet',
  ],
];

/** A cache by value in pure code, or of one terminal, knows nothing of a run. */
const MAY_KEEP_STATE = [...PURE, 'tui', 'cli'];

const CATCHES_ANYTHING = /\bcatch \{|\.catch\(\(\) =>/;
const ENVIRONMENT = /\bprocess\.env\b/;

const SPAWNS = /\bchild_process\b/;
const NO_EDGE = /(?:^|-)(?:utils?|helpers?|common|types|manager|service|handler)(?:-|\.|$)/;

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
    if (folderOf(file) === 'app' && !isTest(file)) {
      for (const [pattern, instead] of BANNED_IN_APP) {
        if (pattern.test(text)) problems.push(`${pattern}: ${instead}`);
      }
    }
    if (!isTest(file)) problems.push(...sharingProblems(file, text));
    expect(problems).toEqual([]);
  });
});

function sharingProblems(file: string, text: string): string[] {
  const folder = folderOf(file);
  const problems: string[] = [];
  for (const [pattern, instead] of MAY_KEEP_STATE.includes(folder) ? [] : BANNED_BELOW_FACES) {
    if (pattern.test(text)) problems.push(`${pattern}: ${instead}`);
  }
  if (CATCHES_ANYTHING.test(text)) {
    problems.push('a catch names what it expects: otherwise, trySystem, rethrowBug of base/errors');
  }
  const mayReadEnvironment = folder === 'cli' || file === 'src/base/runtime.ts';
  if (!mayReadEnvironment && ENVIRONMENT.test(text)) {
    problems.push('the environment is that of the runtime: environment() of base/runtime.ts');
  }
  return problems;
}

function importProblems(file: string, text: string): string[] {
  const folder = folderOf(file);
  const problems: string[] = [];
  for (const [, target = ''] of text.matchAll(/(?:from|import\() ?'([^']+)'/g)) {
    if (target.endsWith('.schema.json') && folder === 'transport') continue; // It checks by them.
    if (target.startsWith('.')) {
      const to = relative('src', join(file, '..', target)).split('/')[0] ?? '';
      const allowed = MAY_IMPORT[folder] ?? [];
      const ok = to === folder || allowed.includes('*') || allowed.includes(to) || isTest(file);
      if (!ok) problems.push(`${folder} must not import ${to}`);
      if (to === 'cli' && folder !== 'cli') problems.push('nothing imports cli');
      if (to === 'app' && !['app', 'cli', 'index.ts'].includes(folder))
        problems.push('only faces import app');
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
  if (!text.startsWith('/**') && !isTest(file))
    problems.push('a file starts by saying what it is for');
  for (const [pattern, instead] of BANNED) {
    if (pattern.test(text) && !isTest(file)) problems.push(`${pattern}: ${instead}`);
  }
  if (NO_EDGE.test(file.split('/').at(-1) ?? '')) problems.push('a name without an edge');
  return problems;
}

/**
 * Every byte in a git directory is written by git. So only these files of src/git change anything on
 * the disk by themselves, and each only what is said here.
 */
const WRITES_FILES: Readonly<Record<string, string>> = {
  'exclude.ts': 'our block in info/exclude',
  'git-dir.ts': 'the file `.git` of a linked worktree, which is in no git directory',
  'locks.ts': 'removes stale locks of Landfast',
  'merge-attributes.ts': 'what temp-folder.ts has made',
  'temp-folder.ts': 'below landfast/temp, or the temporary folder of the system',
  'worktree-notes.ts': 'below landfast/worktrees',
  'worktree.ts': 'moves a workspace aside before it is deleted',
};

const WRITING =
  /^(?:append|chmod|copy|cp|link|mkd|open|rename|rm|symlink|truncate|unlink|utimes|write)/;
/** Looks into what git keeps for itself, by its path. */
const GITS_OWN =
  /(?:readFile|createReadStream|textOf)\w*\([^)]*(?:\/index\b|objects|packed-refs|refs\/|\/HEAD)/;

test('no code writes a file inside a git directory, or reads its index, objects or refs', () => {
  const ofGit = sources.filter((file) => file.startsWith('src/git/') && !isTest(file));
  const writers = ofGit.filter((file) =>
    importedFromFs(read(file)).some((name) => WRITING.test(name)),
  );
  expect(writers.map((file) => file.slice('src/git/'.length))).toEqual(Object.keys(WRITES_FILES));
  expect(sources.filter((file) => !isTest(file) && GITS_OWN.test(read(file)))).toEqual([]);
  // Elsewhere no path leads into a git directory except below landfast/.
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
  const allowed = /^src\/(agents|app|cli)\/|^src\/plan\/formats\//; // Formats say which agent they mean.
  const offenders = sources.filter(
    (file) =>
      !allowed.test(file) &&
      !isTest(file) &&
      names.some((name) => new RegExp(`'${name}'`).test(read(file))),
  );
  expect(offenders).toEqual([]);
});

test('a format is named in plan/formats, nowhere else', () => {
  const tools = CONFIG_DIALECTS.flatMap(({ projectFile, scaffold }) => [
    projectFile,
    ...(scaffold === undefined ? [] : [scaffold.name]),
  ]);
  const names = [...FORMATS.map(({ name }) => name), ...tools.filter((name) => name !== OWN)];
  const literals = names.map((name) => new RegExp(`['"\`]${name}['"\`]`));
  const offenders = sources.filter((file) => {
    if (file.startsWith('src/plan/formats/') || isTest(file)) return false;
    const text = read(file);
    return text.includes('/formats/foreign/') || literals.some((literal) => literal.test(text));
  });
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

test('the day of a task names at most 20 files, each of which exists', () => {
  const docs = read('ARCHITECTURE.md');
  const day = docs.slice(docs.indexOf('## The day of a task'), docs.indexOf('## State on disk'));
  const files = new Set(
    [...day.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = '']) => `src/${file}`),
  );
  expect(files.size).toBe(18);
  expect([...files].filter((file) => !sources.includes(file))).toEqual([]);
});
