/**
 * A project as cpo's users have it: a repository with `parallel/TS-0042-shop/`, and in the place of
 * `claude` a stub that finds its task by the first line of its prompt.
 *
 *   J1. The stub answers as `claude --output-format stream-json` does, with the text that its shell
 *       code leaves in `$ANSWER`, and leaves the file that prompts ask for.
 *   J2. Everything is below one temporary folder, which is also the home of what is run.
 */

import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, landfast, type Running, start } from '../support/landfast.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

export const DIR = 'parallel/TS-0042-shop';

/** What the stub does for each task: shell, in the folder in which it is started. */
export type Tasks = Readonly<Record<string, string>>;

export interface Project extends AsyncDisposable {
  readonly repo: TempRepo;
  /** The folder around the repository, with whatever the stub writes there as `$OUT`. */
  readonly outside: string;
  /** `landfast <command> parallel/TS-0042-shop …`, to its end. */
  run(...args: readonly string[]): Promise<Ended>;
  validate(...args: readonly string[]): Promise<Ended>;
  status(...args: readonly string[]): Promise<Ended>;
  /** The same as run, to be looked at while it goes on. */
  start(...args: readonly string[]): Running;
  /** The tasks the stub was called for, in order. */
  calls(): Promise<readonly string[]>;
  /** A file the stub wrote into `$OUT`; '' where there is none. */
  read(name: string): Promise<string>;
  /** A file of the directory in the checkout; '' where there is none. */
  inside(name: string): Promise<string>;
  /** The files of `main` that were not there before. */
  landed(): Promise<readonly string[]>;
  /** The messages of the commits since then, the oldest first; without merges. */
  subjects(): Promise<readonly string[]>;
}

export interface ProjectInput {
  readonly manifest?: unknown;
  /** More files of the directory; a text for each. */
  readonly files?: Readonly<Record<string, string>>;
  /** More files of the repository's root. */
  readonly root?: Readonly<Record<string, string>>;
  readonly tasks?: Tasks;
  /** Programs on the PATH besides git and the system's: shell scripts by name. */
  readonly programs?: Readonly<Record<string, string>>;
}

/** A manifest of these waves; `more` are further keys of each wave by its number. */
export function manifest(
  waves: readonly (readonly string[])[],
  more: Readonly<Record<number, object>> = {},
): object {
  return {
    tech_spec_id: 'TS-0042',
    name: 'shop',
    waves: waves.map((ids, index) => ({
      number: index + 1,
      tasks: ids.map((id) => ({ id, agent: 'python-experts:django-expert' })),
      ...more[index + 1],
    })),
  };
}

/** The text of a task file. */
export function taskFile(id: string, scope: string, front = 'deps: []\ncontracts: []'): string {
  return `---
id: ${id}
component: users
agent: python-experts:django-expert
${front}
---

# ${id}: Users

## Scope
${scope}

## Requirements
- Add users.

## Checklist
- [ ] Tests pass
`;
}

/** Makes a repository with the directory, all of it committed. */
export async function cpoProject(input: ProjectInput): Promise<Project> {
  const { manifest: given = manifest([['task-001']]), files = {}, root = {}, tasks = {} } = input;
  const text = typeof given === 'string' ? given : JSON.stringify(given, null, 2);
  const inside = Object.entries(files).map(([name, content]) => [`${DIR}/${name}`, content]);
  const repo = await tempRepo({
    files: {
      'README.md': 'hello\n',
      [`${DIR}/manifest.json`]: text,
      ...Object.fromEntries(inside),
      ...root,
    },
  });
  const first = await repo.git('rev-parse', 'main');
  const bin = join(repo.outside, 'bin');
  await mkdir(bin, { recursive: true });
  const programs = { ...input.programs, claude: stub(repo.outside, tasks) };
  for (const [name, script] of Object.entries(programs)) {
    await writeFiles(bin, { [name]: script });
    await chmod(join(bin, name), 0o755);
  }
  const env = { PATH: `${bin}:${process.env.PATH ?? '/usr/bin:/bin'}` };
  const options = { cwd: repo.dir, env };
  const call =
    (command: string) =>
    (...args: readonly string[]) =>
      landfast([command, DIR, ...args], options);
  const lines = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await repo.git(...args)).split('\n').filter((line) => line !== '');
  const contentOf = (path: string) => readFile(path, 'utf8').catch(() => '');
  return {
    repo,
    outside: repo.outside,
    run: call('run'),
    validate: call('validate'),
    status: call('status'),
    start: (...args) => start(['run', DIR, ...args], options),
    calls: async () => (await contentOf(join(repo.outside, 'calls'))).split('\n').slice(0, -1),
    read: (name) => contentOf(join(repo.outside, name)),
    inside: (name) => contentOf(join(repo.dir, DIR, name)),
    landed: () => lines('diff', '--name-only', first, 'main'),
    subjects: () =>
      lines('log', '--reverse', '--topo-order', '--no-merges', '--format=%s', `${first}..main`),
    [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose](),
  };
}

/** What an agent that is done says. */
export const DONE = `ANSWER='All done.
\`\`\`json
{"task_completed": true, "validation_passed": true, "summary": "done", "tests_run": 3}
\`\`\`
Anything else?'`;

function stub(outside: string, tasks: Tasks): string {
  const cases = Object.entries(tasks).map(([task, shell]) => `${task})\n${shell}\n;;`);
  return `#!/bin/sh
OUT='${outside}'
case "$1" in --version) echo '2.0.0 (stub)'; exit 0;; esac
prompt=$(cat)
task=$(printf '%s\\n' "$prompt" | sed -n 's/^# Task \\(task-[0-9]*\\).*/\\1/p' | head -n 1)
echo "$task" >> "$OUT/calls"
printf '%s\\n' "$prompt" > "$OUT/prompt-$task"
printf '%s\\n' "$@" > "$OUT/argv-$task"
ANSWER=done
touch .claude-task-complete
case "$task" in
${cases.join('\n')}
*) echo "nobody told me what to do for $task" >&2; exit 64 ;;
esac
node -e '
const [result] = process.argv.slice(1);
const base = { session_id: "00000000-0000-4000-8000-000000000000" };
console.log(JSON.stringify({ type: "system", subtype: "init", ...base }));
const end = { is_error: false, duration_ms: 5, num_turns: 1, total_cost_usd: 0.44, ...base };
console.log(JSON.stringify({ type: "result", subtype: "success", result, ...end }));
' "$ANSWER"
`;
}
