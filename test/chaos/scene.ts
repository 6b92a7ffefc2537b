/**
 * A run with everything that can be cut in two: batches of landings, a gate that is red once, a
 * retry, a conflict, tasks that wait for others, a read task, leftovers. The engine is ended at one
 * point, the run is resumed (and that engine ended, too, where a second point says so), and the end
 * is compared with that of an undisturbed run. Or it is halted at that point, another host
 * takes the run over and finishes it, and then it is let go on.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { marked } from '../../src/process/process-tree.ts';
import { elsewhere } from '../faults/scene.ts';
import { bareEnv, type Ended } from '../support/landfast.ts';
import { nativePlan } from '../support/native-plan.ts';
import { tempDir } from '../support/temp-dir.ts';
import { type Blow, wrapGit } from './git-wrapper.ts';

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'landfast.cjs');
const PRELOAD = join(import.meta.dirname, 'kill-at-fact.mjs');

const GATES = [
  { name: 'shared', run: 'test "$(head -n 1 shared.txt)" = top' },
  { name: 'not-red', run: '! grep -qs red wrong.txt' },
];

const TASKS = {
  left: 'echo left >> shared.txt; echo 1 > left.txt',
  right: 'echo right >> shared.txt; echo 2 > right.txt; echo loose > right.tmp',
  flaky: {
    retries: 2,
    prompt: 'test "$LANDFAST_ATTEMPT" = 1 && { echo half > half.txt; exit 1; }; echo 3 > flaky.txt',
  },
  wrong: 'test "$LANDFAST_ATTEMPT" = 1 && echo red > wrong.txt || echo 4 > wrong.txt',
  look: { needs: ['left'], read_only: true, prompt: 'cat left.txt; echo scribble > scribble.txt' },
  last: { needs: ['left', 'flaky'], prompt: 'cat left.txt flaky.txt > last.txt' },
};

export type Point = Blow & { readonly on: 'fact' | 'git' | 'file' };

/** What is there when everything is over. */
export interface End {
  readonly code: number | null;
  /** The published files; lines of the shared one sorted, because either task may land first. */
  readonly files: Readonly<Record<string, string>>;
  /** How often each task landed. */
  readonly landed: Readonly<Record<string, number>>;
  /** Whatever should not be there any more, by what it is. */
  readonly stray: readonly string[];
}

export interface Told extends End {
  /** One for each engine: how far it came, and whether it was really ended at its point. */
  readonly engines: readonly Driven[];
  /** Where an end that was not wanted is kept: repository, journal, and what the engines said. */
  readonly kept: string | null;
}

export interface Driven {
  readonly struck: boolean;
  /** The git command or the file at its point, if that is one. */
  readonly at: string | null;
  readonly facts: number;
  readonly commands: number;
  /** How many files it has moved or removed itself. */
  readonly files: number;
}

/** Runs the plan, strikes each engine at its point, and resumes until the run is over. */
export async function runThrough(
  points: readonly Point[],
  isWanted: (end: End) => boolean = () => true,
): Promise<Told> {
  await using temp = await tempDir();
  const scene = new Scene(await prepare(temp.path), points);
  let last = await scene.drive(RUN);
  while (last.signal === 'SIGKILL') {
    last = await scene.drive(['resume']);
    // Struck before its first fact there is no run; the user simply starts it.
    if (/^No run yet/.test(last.stdout)) last = await scene.drive(RUN);
  }
  const { place, engines, said, wrong } = scene;
  const end = {
    code: last.code,
    files: await published(place),
    landed: await landings(place),
    stray: [...(await strays(place)), ...wrong],
  };
  const kept = isWanted(end) ? null : keep(place, { points, end, said: said.join('\n') });
  return { ...end, engines, kept };
}

/** The engines of a run, one after the other. */
class Scene {
  readonly place: Place;
  readonly engines: Driven[] = [];
  readonly said: string[] = [];
  /** What an engine that was let go on did, and should not have. */
  readonly wrong: string[] = [];
  readonly #points: readonly Point[];

  constructor(place: Place, points: readonly Point[]) {
    this.place = place;
    this.#points = points;
  }

  /** Starts an engine; answers when it has ended, or where it is halted when another one has. */
  async drive(args: readonly string[], env: Env = {}): Promise<Ended> {
    const nth = this.engines.length;
    const chaos = join(this.place.home, `chaos-${nth}`);
    const point = this.#points[nth] ?? null;
    const child = engine({ ...this.place, chaos }, args, { point, env });
    const end = ended(child);
    const isHalted = point?.halts === true && (await halted(child, this.place));
    this.engines.push({ struck: isHalted, at: null, facts: 0, commands: 0, files: 0 });
    const next = isHalted ? await this.#overtake(child, end) : null;
    const last = await end;
    this.engines[nth] = {
      struck: isHalted || last.signal === 'SIGKILL',
      at: point === null ? null : whatWasAt(chaos, point),
      facts: numberIn(join(chaos, 'fact-count')),
      commands: numberIn(join(chaos, 'git-count')),
      files: numberIn(join(chaos, 'file-count')),
    };
    this.said.push(`--- ${args.join(' ')}: ${last.code}\n${last.stdout}${last.stderr}`);
    return next ?? last;
  }

  /** Another host finishes the run; the engine then goes on, and has to find that out. */
  async #overtake(child: ChildProcess, end: Promise<Ended>): Promise<Ended | null> {
    const before = endOfRun(this.place.repo);
    const there = elsewhere({ host: 'other', clockMs: 60_000 });
    const next = await this.drive(['resume'], there);
    const journal = journalIn(this.place.repo);
    child.kill('SIGCONT');
    const { code, stderr } = await end;
    if (/^No run yet/.test(next.stdout)) return null; // It had not begun: there is nothing to take.
    const isTold = code === 3 && stderr.includes('Another engine has taken over');
    if (!isTold && before === null) this.wrong.push(`it woke up and ended with ${code}`);
    const written = journalIn(this.place.repo).length - journal.length;
    if (written > 0) this.wrong.push(`it woke up and wrote ${written} entries`);
    // It held a lock of git that blocked every other process; now it is free.
    return /git is at work/.test(next.stderr) ? this.drive(['resume'], there) : next;
  }
}

/** Waits until an engine is halted, and not in the middle of writing; false where it ended. */
async function halted(child: ChildProcess, { repo }: Place): Promise<boolean> {
  for (;;) {
    await new Promise((go) => setTimeout(go, 20));
    if (child.exitCode !== null || child.signalCode !== null) return false;
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    if (stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'T') continue;
    if (isWritable(repo)) return true;
    child.kill('SIGCONT');
    await new Promise((go) => setTimeout(go, 20));
    child.kill('SIGSTOP');
  }
}

function isWritable(repo: string): boolean {
  const file = databaseOf(repo);
  if (!existsSync(file)) return true;
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch (error) {
    if (!/locked|busy/.test(String(error))) throw error;
    return false;
  } finally {
    db.close();
  }
}

const RUN = ['run', '../plan.yaml'];

/** A copy of everything, with `difference.txt` beside the repository. */
function keep(
  { home, repo }: Place,
  { said, ...what }: { points: readonly Point[]; end: End; said: string },
): string {
  const folder = mkdtempSync(join(tmpdir(), 'landfast-chaos-kept-'));
  cpSync(home, folder, { recursive: true, verbatimSymlinks: true });
  const entries = journalIn(repo);
  const text = [JSON.stringify(what, null, 2), said, '--- journal', ...entries];
  writeFileSync(join(folder, 'difference.txt'), `${text.join('\n')}\n`);
  return folder;
}

interface Place {
  readonly home: string;
  readonly repo: string;
  readonly tmp: string;
  readonly git: string;
}

async function prepare(home: string): Promise<Place> {
  const which = await command(home, 'sh', ['-c', 'command -v git']);
  const place = {
    home,
    repo: join(home, 'repo'),
    tmp: join(home, 'tmp'),
    git: which.trim(),
  };
  const script = `mkdir -p tmp && git init -q -b main repo && cd repo &&
    git config user.name Ada && git config user.email ada@example.com &&
    echo top > shared.txt && echo '*.tmp' > .gitignore && git add -A && git commit -qm First`;
  await command(home, 'sh', ['-c', script]);
  const more = { limits: { workers: 3, gates: 2 } };
  const plan = nativePlan({ gates: GATES, land: { verify: 'batch' }, more, tasks: TASKS });
  writeFileSync(join(home, 'plan.yaml'), plan);
  return place;
}

type Env = Readonly<Record<string, string>>;

function engine(
  { home, repo, chaos, tmp, git }: Place & { readonly chaos: string },
  args: readonly string[],
  { point, env }: { readonly point: Point | null; readonly env: Env },
): ChildProcess {
  const none = { at: 0, when: 'before', everybody: false } as const;
  const onGit = point?.on === 'git' ? point : none;
  const inside = point === null || point.on === 'git' ? none : point;
  const bin = wrapGit(chaos, git, onGit);
  for (const name of ['fact-count', 'file-count']) writeFileSync(join(chaos, name), '0');
  const bare = bareEnv(home);
  const child = spawn(process.execPath, ['--import', PRELOAD, BIN, ...args], {
    cwd: repo,
    env: {
      ...bare,
      NODE_DISABLE_COMPILE_CACHE: '1', // Files that it would keep are no steps of a run.
      TMPDIR: tmp,
      PATH: `${bin}:${bare.PATH}`,
      CHAOS_AT: JSON.stringify({ ...inside, countTo: chaos }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  writeFileSync(join(chaos, 'engine-pid'), String(child.pid));
  return child;
}

async function ended(child: ChildProcess): Promise<Ended> {
  const exit = once(child, 'exit');
  const close = once(child, 'close');
  // Agents that outlive a killed engine hold its pipes open: its own end is what counts.
  const said = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (part: string) => (said.stdout += part));
  child.stderr?.setEncoding('utf8').on('data', (part: string) => (said.stderr += part));
  let isStuck = false;
  const stuck = setTimeout(() => {
    isStuck = child.kill('SIGKILL');
    said.stderr += `It had not ended after ${STUCK_MS / 1000} s.\n`;
  }, STUCK_MS);
  const [code, signal] = await exit;
  clearTimeout(stuck);
  if (signal === null) await close; // Its last words may not have been read yet.
  return { code, signal: isStuck ? 'stuck' : signal, ...said };
}

/** The scene takes seconds: an engine that is alive after this waits for what will not come. */
const STUCK_MS = 300_000;

async function command(cwd: string, file: string, args: readonly string[]): Promise<string> {
  const env = bareEnv(cwd);
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  return text(child.stdout);
}

async function published({ repo, git }: Place): Promise<Readonly<Record<string, string>>> {
  const names = (await command(repo, git, ['ls-tree', '-r', '--name-only', 'main'])).trim();
  const entries = await Promise.all(
    names.split('\n').map(async (name) => {
      const content = await command(repo, git, ['show', `main:${name}`]);
      return [name, content.trim().split('\n').sort().join(' ')] as const;
    }),
  );
  return Object.fromEntries(entries);
}

async function landings({ repo, git }: Place): Promise<Readonly<Record<string, number>>> {
  const subjects = await command(repo, git, ['log', '--format=%s', 'main']);
  const landed: Record<string, number> = {};
  for (const [, task = ''] of subjects.matchAll(/^Land (\S+)$/gm)) {
    landed[task] = (landed[task] ?? 0) + 1;
  }
  return landed;
}

/** Locks, workspaces, branches, processes, leases, temporary files: all that must be gone. */
async function strays({ home, repo, git, tmp }: Place): Promise<readonly string[]> {
  const refs = (await command(repo, git, ['for-each-ref', '--format=%(refname)'])).trim();
  const trees = (await command(repo, git, ['worktree', 'list', '--porcelain'])).trim();
  const status = (await command(repo, git, ['status', '--porcelain'])).trim();
  const locks = readdirSync(join(repo, '.git'), { recursive: true, encoding: 'utf8' });
  return [
    ...refs
      .split('\n')
      .filter((ref) => ref !== 'refs/heads/main' && !ref.startsWith('refs/landfast/kept/')),
    ...(trees.match(/^worktree .*/gm) ?? []).slice(1),
    ...(status === '' ? [] : [`status ${status}`]),
    ...locks.filter((name) => /\.lock$|landfast-index-/.test(name)).map((name) => `lock ${name}`),
    ...(existsSync(`${repo}.worktrees`) ? ['the folder of workspaces'] : []),
    ...readdirSync(tmp).map((name) => `temporary ${name}`),
    ...runsIn(repo).flatMap((run) => marked(`${run}/`).map(({ pid }) => `process ${pid}`)),
    ...leasesIn(repo),
    ...(existsSync(join(home, 'repo', '.git', 'MERGE_HEAD')) ? ['a merge under way'] : []),
  ];
}

function runsIn(repo: string): readonly string[] {
  return query(repo, 'SELECT run AS value FROM runs');
}

function leasesIn(repo: string): readonly string[] {
  const sql = "SELECT 'lease of ' || run AS value FROM leases WHERE pid IS NOT NULL";
  return query(repo, sql);
}

function journalIn(repo: string): readonly string[] {
  return query(repo, "SELECT seq || ' ' || at || ' ' || event AS value FROM entries");
}

/** How the run ended; null while it has not, or has not begun. */
function endOfRun(repo: string): string | null {
  const sql = "SELECT event AS value FROM entries WHERE type = 'run.finished'";
  return query(repo, sql).at(0) ?? null;
}

function databaseOf(repo: string): string {
  return join(repo, '.git', 'landfast', 'landfast.db');
}

function query(repo: string, sql: string): readonly string[] {
  if (!existsSync(databaseOf(repo))) return [];
  const db = new DatabaseSync(databaseOf(repo));
  try {
    return db
      .prepare(sql)
      .all()
      .map(({ value }) => String(value));
  } finally {
    db.close();
  }
}

function numberIn(path: string): number {
  return Number(readFileSync(path, 'utf8'));
}

function whatWasAt(chaos: string, { on, at }: Point): string | null {
  const file = join(chaos, 'file-at');
  if (on === 'file') return existsSync(file) ? readFileSync(file, 'utf8') : null;
  return on === 'git' ? commandIn(join(chaos, 'git-log'), at) : null;
}

function commandIn(path: string, count: number): string | null {
  if (!existsSync(path)) return null;
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.find((line) => line.startsWith(`${count} `)) ?? null;
}
