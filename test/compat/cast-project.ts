/**
 * A project as cast-parallel's users have it: a repository, a Markdown plan with a manifest, and in
 * the place of `claude` a stub that knows nothing of landfast.
 *
 *   J1. The stub finds out what to do by the task it is called for, or by the `--agent` it is called
 *       with: `a` and `b` are streams, `main` is a session without a role.
 *   J2. Everything is below one temporary folder, which is also the home of what is run.
 */

import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Ended, landfast, type Running, start } from '../support/landfast.ts';
import { writeFiles } from '../support/temp-dir.ts';
import { type TempRepo, tempRepo } from '../support/temp-repo.ts';

export interface CastProject extends AsyncDisposable {
  readonly repo: TempRepo;
  /** `landfast run plan.md --claude-exe … args`, to its end. */
  run(...args: readonly string[]): Promise<Ended>;
  /** The same, to be steered while it goes on. */
  start(...args: readonly string[]): Running;
  /** The same with any arguments and more environment. */
  call(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** The agents the stub was called as, in order. */
  calls(): Promise<readonly string[]>;
  /** A file the stub wrote into `$OUT`, trimmed; empty where there is none. */
  read(name: string): Promise<string>;
  /** The files of a branch. */
  files(branch?: string): Promise<readonly string[]>;
}

/** A Markdown plan with these batches in its block. */
export function dispatch(batches: readonly unknown[], head: object = {}): string {
  const json = JSON.stringify({ plan_id: 'feature', ...head, batches }, null, 2);
  return `# A feature\n\n## Agent Dispatch Manifest\n\n\`\`\`json dispatch\n${json}\n\`\`\`\n`;
}

/** So many batches, each with one agent that writes code. */
export function batches(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    description: `Step ${index + 1}`,
    parallel: false,
    agents: [{ subagent_type: 'code-writer', prompt: `Do step ${index + 1}.` }],
  }));
}

/** Makes a repository with the plan as `plan.md`; `agents` is what the stub does as each. */
export async function castProject(
  plan: string,
  agents: Readonly<Record<string, string>> = {},
): Promise<CastProject> {
  const repo = await tempRepo({ files: { 'README.md': 'hello\n', 'plan.md': plan } });
  const claude = join(repo.outside, 'claude');
  await writeFiles(repo.outside, { claude: stubText(repo.outside, agents) });
  await chmod(claude, 0o755);
  const command = (args: readonly string[]) => ['run', 'plan.md', '--claude-exe', claude, ...args];
  const read = (name: string) =>
    readFile(join(repo.outside, name), 'utf8').then(
      (text) => text.trim(),
      () => '',
    );
  const lines = (text: string) => text.split('\n').filter((line) => line !== '');
  return {
    repo,
    run: (...args) => landfast(command(args), { cwd: repo.dir }),
    start: (...args) => start(command(args), { cwd: repo.dir }),
    call: (args, env = {}) => landfast(args, { cwd: repo.dir, env }),
    calls: async () => lines(await read('calls')),
    read,
    files: async (branch = 'main') => lines(await repo.git('ls-tree', '-r', '--name-only', branch)),
    [Symbol.asyncDispose]: () => repo[Symbol.asyncDispose](),
  };
}

function stubText(outside: string, agents: Readonly<Record<string, string>>): string {
  const cases = Object.entries(agents).map(([agent, shell]) => `${agent})\n${shell}\n;;`);
  return `#!/bin/sh
OUT='${outside}'
PROMPT=$(cat)
agent=main previous=
for word in "$@"; do
  [ "$previous" = --agent ] && agent=$word
  previous=$word
done
case "$LANDFAST_TASK" in
stream-a) agent=a ;;
stream-b) agent=b ;;
esac
echo "$agent" >> "$OUT/calls"
case "$agent" in
${cases.join('\n')}
*) echo "nobody told me what to do as $agent" >&2; exit 64 ;;
esac
`;
}
