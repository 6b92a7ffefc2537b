/**
 * A project as parallel-orchestra's users have it: a repository, a manifest, and in the place of
 * `claude` a stub that knows nothing of landfast: plain text, exit codes, words on standard error.
 *
 *   J1. The stub finds out what to do by the `--agent` it is called with, as any `claude` would.
 *   J2. Everything is below one temporary folder, which is also the home of what is run.
 */

import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, landfast, type Running, start } from '../support/landfast.ts';
import { tempDir, writeFiles } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

/** What the stub does as each agent: shell, in the folder in which it is started. */
export type Agents = Readonly<Record<string, string>>;

/** Where runs are started and what they leave behind. */
export interface Folder {
  /** The folder that holds `plan.md`. */
  readonly dir: string;
  /** The folder around it, with the stub and whatever the stub writes there as `$OUT`. */
  readonly outside: string;
  readonly claude: string;
  /** `landfast run plan.md --claude-exe … args`, to its end. */
  run(...args: readonly string[]): Promise<Ended>;
  /** The same with another manifest. */
  runPlan(plan: string, ...args: readonly string[]): Promise<Ended>;
  /** The same, to be steered while it goes on. */
  start(...args: readonly string[]): Running;
  /** Another stub in the place of this one. */
  replaceStub(agents: Agents): Promise<void>;
  /** The agents the stub was called as, in order. */
  calls(): Promise<readonly string[]>;
  /** A file the stub wrote into `$OUT`, trimmed; empty where there is none. */
  read(name: string): Promise<string>;
}

/** A git repository with a manifest that is committed. */
export interface Project extends Folder, AsyncDisposable {
  readonly repo: TempRepo;
  /** The files of a branch. */
  files(branch?: string): Promise<readonly string[]>;
  /** A file as it is on `main`. */
  show(path: string): Promise<string>;
  /** The branches of tasks, whichever run they are from. */
  taskBranches(): Promise<readonly string[]>;
}

export interface ProjectInput {
  readonly plan: string;
  readonly agents: Agents;
  /** More files of the first commit. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A manifest of these tasks, which are items of a YAML list; `head` holds further keys. */
export function manifest(tasks: string, head = ''): string {
  const top = 'po_plan_version: "0.1"\nname: compat\ncwd: "."\n';
  return `---\n${top}${head}tasks:\n${tasks}---\n\n# Plan\n`;
}

/** Makes a repository with the manifest as `plan.md`. */
export async function poProject({ plan, agents, files = {} }: ProjectInput): Promise<Project> {
  const repo = await tempRepo({ files: { 'README.md': 'hello\n', 'plan.md': plan, ...files } });
  const lines = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await repo.git(...args)).split('\n').filter((line) => line !== '');
  return {
    ...(await folder(repo.dir, repo.outside, agents)),
    repo,
    files: (branch = 'main') => lines('ls-tree', '-r', '--name-only', branch),
    show: (path) => repo.git('show', `main:${path}`),
    taskBranches: () =>
      lines('for-each-ref', '--format=%(refname:short)', 'refs/heads/parallel-orchestra/'),
    [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose](),
  };
}

/** Makes a folder that is in no repository, with the manifest as `plan.md`. */
export async function poFolder(plan: string, agents: Agents): Promise<Folder & AsyncDisposable> {
  const home = await tempDir();
  await home.write({ 'work/plan.md': plan });
  return {
    ...(await folder(join(home.path, 'work'), home.path, agents)),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

/** The lines about tasks on standard output. */
export function summary({ stdout }: Ended): readonly string[] {
  return stdout.split('\n').filter((line) => /^\[\w+\] /.test(line));
}

/** The same without the measured time, which differs each time. */
export function timeless(ended: Ended): readonly string[] {
  return summary(ended).map((line) => line.replace(/ duration=\d+\.\d\d /, ' duration=? '));
}

/** Shell that waits for a condition, for twenty seconds at most. */
export function until(condition: string): string {
  return `n=0; until ${condition}; do n=$((n + 1)); [ $n -lt 2000 ] || exit 9; sleep 0.1; done`;
}

/** Shell that is true once a task's work is on any branch but its own. */
export function hasLanded(task: string): string {
  return `git log --all --format=%s | grep -qx 'Merge parallel-orchestra task ${task}'`;
}

/** Every path below a folder, with the size and time that a write changes. */
export async function snapshot(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir, { recursive: true });
  const entries = names.map(async (name) => {
    const { mtimeMs, size } = await stat(join(dir, name));
    return `${name} ${size} ${mtimeMs}`;
  });
  return (await Promise.all(entries)).sort();
}

async function folder(dir: string, outside: string, agents: Agents): Promise<Folder> {
  const claude = join(outside, 'claude');
  const command = (plan: string, args: readonly string[]): readonly string[] => [
    ...['run', plan, '--claude-exe', claude],
    ...args,
  ];
  const read = (name: string) =>
    readFile(join(outside, name), 'utf8').then(
      (text) => text.trim(),
      () => '',
    );
  const replaceStub = async (next: Agents): Promise<void> => {
    await writeFiles(outside, { claude: stubText(outside, next) });
    await chmod(claude, 0o755);
  };
  await replaceStub(agents);
  return {
    dir,
    outside,
    claude,
    run: (...args) => landfast(command('plan.md', args), { cwd: dir }),
    runPlan: (plan, ...args) => landfast(command(plan, args), { cwd: dir }),
    start: (...args) => start(command('plan.md', args), { cwd: dir }),
    replaceStub,
    calls: async () => (await read('calls')).split('\n').filter((line) => line !== ''),
    read,
  };
}

function stubText(outside: string, agents: Agents): string {
  const cases = Object.entries(agents).map(([agent, shell]) => `${agent})\n${shell}\n;;`);
  return `#!/bin/sh
OUT='${outside}'
cat > /dev/null
agent=none previous=
for word in "$@"; do
  [ "$previous" = --agent ] && agent=$word
  previous=$word
done
echo "$agent" >> "$OUT/calls"
case "$agent" in
${cases.join('\n')}
*) echo "nobody told me what to do as $agent" >&2; exit 64 ;;
esac
`;
}
