/**
 * What the radar costs, and how soon it sees: 20 live workspaces of a repository with 5,000 files,
 * one file changed in each every two seconds. After half of the time two of them change the same
 * line. CPU is that of the whole process tree, by the `times` of a shell around it.
 *
 *   npm run bench:radar
 */

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultPlace } from './ground.ts';

const WORKSPACES = 20;
const FILES = 5_000;
const PER_FOLDER = 20;
const EVERY_MS = 2_000;
const RUN_MS = 32_000;
const MOST_SHARE = 0.15;
const MOST_MS = 3_000;

const place = mkdtempSync(join(defaultPlace(tmpdir()), 'landfast-radar-'));
try {
  process.exitCode = await measure(join(place, 'repo'));
} finally {
  rmSync(place, { recursive: true, force: true });
}

async function measure(dir: string): Promise<number> {
  const base = build(dir);
  const workspaces = Array.from({ length: WORKSPACES }, (_, at) =>
    join(`${dir}.worktrees/r1/t${at}`),
  );
  for (const [at, path] of workspaces.entries()) {
    git(dir, 'worktree', 'add', '-q', '-b', `landfast/r1.t${at}`, path, base);
  }
  const engine = join(import.meta.dirname, 'radar-engine.ts');
  const command = '"$0" "$@"; times >&2';
  const args = [process.execPath, engine, dir, base, String(WORKSPACES), String(RUN_MS)];
  const child = spawn('bash', ['-c', command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const plantedAt = await work(workspaces);
  const [facts, times] = await said;
  return tell(facts, times, plantedAt);
}

function build(dir: string): string {
  mkdirSync(dir, { recursive: true });
  git(dir, 'init', '-q', '-b', 'main');
  for (let at = 0; at < FILES; at += 1) {
    const path = join(dir, fileAt(at));
    if (at % PER_FOLDER === 0) mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, `export const value${at} = ${at};\n// the end\n`);
  }
  git(dir, 'add', '.');
  const who = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
  git(dir, ...who, 'commit', '-q', '-m', 'Begin');
  return git(dir, 'rev-parse', 'HEAD').trim();
}

function fileAt(at: number): string {
  return `src/f${Math.floor(at / PER_FOLDER)}/m${at}.ts`;
}

/** Everybody changes a file of its own; answers when two of them changed the same line. */
async function work(workspaces: readonly string[]): Promise<number> {
  const rounds = Math.floor((RUN_MS - EVERY_MS) / EVERY_MS);
  let plantedAt = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, dir] of workspaces.entries()) {
      const file = at * 200 + round;
      writeFileSync(join(dir, fileAt(file)), `export const value${file} = ${Date.now()};\n`);
    }
    if (round === Math.floor(rounds / 2)) {
      for (const dir of workspaces.slice(3, 5)) writeFileSync(join(dir, fileAt(4_999)), dir);
      plantedAt = Date.now();
    }
    await sleep(EVERY_MS);
  }
  return plantedAt;
}

function tell(facts: string, times: string, plantedAt: number): number {
  const seen = facts
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { at: number });
  const spent = times.trim().split('\n').at(-1) ?? '';
  const cpu = [...spent.matchAll(/(\d+)m([\d.]+)s/g)]
    .map(([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds))
    .reduce((sum, each) => sum + each, 0);
  const share = (cpu * 1_000) / RUN_MS;
  const tookMs = seen.length === 1 ? seen[0]!.at - plantedAt : Number.NaN;
  console.log(`${WORKSPACES} workspaces, ${FILES} files, ${RUN_MS / 1_000} s`);
  console.log(
    `CPU of one core: ${(share * 100).toFixed(1)} % (target: below ${MOST_SHARE * 100} %)`,
  );
  console.log(`planted conflict seen after ${tookMs} ms (target: within ${MOST_MS} ms)`);
  return share < MOST_SHARE && tookMs <= MOST_MS ? 0 : 1;
}

function git(dir: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: dir, encoding: 'utf8', maxBuffer: 1 << 26 });
}
