/** Stand-ins for coding agents: scripts that are found under their names and speak their streams. */

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TempRepo } from './temp-repo.ts';

/**
 * What a claude's script finds: `$session` of this call, `$resumed` (empty where it is new), `$argv`
 * and `$prompt`. It begins with `hello` and says its end with `result '"is_error":false'`.
 */
export const CLAUDE = `argv="$*"; session=; resumed=
while test $# -gt 0; do
  case $1 in
    --session-id) session=$2;;
    --resume) session=$2; resumed=$2;;
  esac
  shift
done
prompt=$(cat)
hello() { echo "{\\"type\\":\\"system\\",\\"subtype\\":\\"init\\",\\"session_id\\":\\"$session\\"}"; }
result() { echo "{\\"type\\":\\"result\\",\\"subtype\\":\\"success\\",\\"session_id\\":\\"$session\\",\\"result\\":\\"Done.\\",$1}"; }`;

/** What a codex's script finds: `$prompt`, and `good` to say that its turn is over. */
const CODEX = `argv="$*"; prompt=$(cat)
good() { echo '{"type":"thread.started","thread_id":"t1"}'; echo '{"type":"turn.started"}'
  echo '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"Done."}}'
  echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'; }`;

const BEGINNINGS = { claude: CLAUDE, codex: CODEX } as const;

/**
 * The environment in which these agents are found, and no others. `$OUT` in a script is the folder
 * beside the repository.
 */
export function standIns(
  repo: TempRepo,
  scripts: Readonly<Partial<Record<keyof typeof BEGINNINGS, string>>>,
): { readonly PATH: string } {
  const bin = join(repo.outside, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const name of Object.keys(scripts) as (keyof typeof BEGINNINGS)[]) {
    const text = [`#!/bin/sh\nOUT='${repo.outside}'`, BEGINNINGS[name], scripts[name], ''];
    writeFileSync(join(bin, name), text.join('\n'));
    chmodSync(join(bin, name), 0o755);
  }
  return { PATH: `${bin}:/usr/bin:/bin` };
}
