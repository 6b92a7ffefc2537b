/** `landfast kept`: work that is held by refs of ours: lists, shows, restores and drops it. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { UserError } from '../../base/errors.ts';
import { beyondBranches, changesOf, type KeptRef, refsBelow } from '../../git/kept.ts';
import { deleteRef, readRef, updateRef } from '../../git/refs.ts';
import { addWorktree } from '../../git/worktree.ts';
import { keptRef } from '../../model/names.ts';
import { columns, count, isoTime, PLAIN_INK, shortSha } from '../../report/format.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../main.ts';
import { isGitBranchName } from '../names.ts';
import { findPlace } from '../place.ts';
import { requireRepository } from '../survey.ts';

export interface KeptFlags {
  readonly projectDir: string;
  readonly json?: boolean;
  readonly patch?: boolean;
  readonly branch?: string;
  readonly worktree?: string;
  readonly yes?: boolean;
}

const LIMIT_MS = 120_000;
const PREFIX = 'refs/landfast/kept';

/** Lists what is kept. */
export async function kept(flags: KeptFlags): Promise<number> {
  const { dir, signal } = await here(flags);
  const rows = await Promise.all(
    (await refsBelow(dir, PREFIX, signal)).map(async (one) => {
      const [run = '', ...what] = one.ref.slice(PREFIX.length + 1).split('/');
      const beyond = await beyondBranches(dir, one.commit, signal);
      return { ...one, run, what: what.join('/'), at: isoTime(one.at), ...beyond };
    }),
  );
  if (flags.json === true) process.stdout.write(jsonText(rows));
  else if (rows.length === 0) console.log('Nothing is kept.');
  else {
    const cells = rows.map(({ run, what, at, commit, commits, files }) =>
      [
        `${run}/${what}`,
        shortSha(commit),
        at,
        `${count(commits, 'commit')} nowhere else`,
        count(files.length, 'file'),
      ].map((text) => ({ text })),
    );
    process.stdout.write(`${columns(cells, PLAIN_INK).join('\n')}\n`);
  }
  return EXIT.ok;
}

/** Shows what a kept ref changes. */
export async function showKept(name: string, flags: KeptFlags): Promise<number> {
  const { dir, signal } = await here(flags);
  const one = await find(dir, name, signal);
  const form = flags.patch === true ? 'patch' : 'stat';
  if (form === 'stat') console.log(`${one.ref} ${one.commit}\n${one.subject}\n`);
  process.stdout.write(await changesOf(dir, one.commit, form, signal));
  return EXIT.ok;
}

/** Puts kept work on a new branch, or into a new worktree; nothing that exists is touched. */
export async function restoreKept(name: string, flags: KeptFlags): Promise<number> {
  const { dir, commonDir, signal } = await here(flags);
  const one = await find(dir, name, signal);
  const branch = flags.branch ?? null;
  if (branch === null && flags.worktree === undefined) {
    throw new UserError('Where to?', 'kept restore REF --branch NAME, or --worktree DIR.');
  }
  if (branch !== null && !isGitBranchName(branch)) {
    throw new UserError(`${branch} is no name for a branch.`);
  }
  const path = flags.worktree === undefined ? null : resolve(flags.worktree);
  if (path !== null && existsSync(path)) throw new UserError(`${path} is there already.`);
  if (branch !== null) {
    const ref = `refs/heads/${branch}`;
    const change = await updateRef(dir, ref, { to: one.commit, from: null }, signal);
    if (change.kind === 'lost') throw new UserError(`There is a branch ${branch} already.`);
  }
  const place = { path: path ?? '', branch, commit: one.commit };
  if (path !== null) await addWorktree(commonDir, place, signal);
  const where = [branch && `branch ${branch}`, path].filter((part) => part !== null).join(', ');
  console.log(`${one.ref} is restored: ${where}. It is still kept.`);
  return EXIT.ok;
}

/** Lets go of kept work, and says how to find it as long as git has it. */
export async function dropKept(name: string, flags: KeptFlags): Promise<number> {
  const { dir, signal } = await here(flags);
  const one = await find(dir, name, signal);
  if (!(await isWanted(one, flags))) return EXIT.ok;
  const change = await deleteRef(dir, one.ref, one.commit, signal);
  if (change.kind === 'lost') throw new UserError(`${one.ref} has changed meanwhile.`);
  console.log(`${one.ref} is dropped. Until git tidies up it is still there as ${one.commit}.`);
  return EXIT.ok;
}

async function isWanted(one: KeptRef, { yes }: KeptFlags): Promise<boolean> {
  if (yes === true) return true;
  if (process.stdin.isTTY !== true) {
    console.error(`Nothing was dropped. To do it: landfast kept drop ${one.ref} --yes`);
    return false;
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question(`Drop ${one.ref} (${one.subject})? [y/N] `);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function here({ projectDir }: KeptFlags) {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const { dir, commonDir } = requireRepository(await findPlace(projectDir, signal));
  return { dir, commonDir, signal };
}

/** By its full name, or as RUN/TASK the newest of that task. */
async function find(dir: string, name: string, signal: AbortSignal): Promise<KeptRef> {
  const all = await refsBelow(dir, PREFIX, signal);
  const [run = '', ...rest] = name.split('/');
  const full = keptRef(run, rest.join('/'));
  const found =
    all.find(({ ref }) => ref === name || ref === full) ??
    all.find(({ ref }) => ref.startsWith(`${full}.`) || ref.startsWith(`${full}_`));
  if (found !== undefined) return found;
  if ((await readRef(dir, name, signal)) !== null) {
    throw new UserError(`${name} is not a kept ref.`, 'landfast kept lists them.');
  }
  throw new UserError(`Nothing is kept as ${name}.`, 'landfast kept lists what is.');
}
