/**
 * `landfast doctor`: whether this machine and this repository are ready, and what to do where not.
 * Asks no model. Exits 1 when something that every run needs is missing.
 */

import { statfsSync } from 'node:fs';
import { messageOf } from '../../base/errors.ts';
import { git } from '../../git/git.ts';
import { identityProblem } from '../../git/identity.ts';
import { headBranch, type Repository } from '../../git/repository.ts';
import { signingProblem, signsCommits } from '../../git/signing.ts';
import { fenceSupport } from '../../process/fence.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../main.ts';
import { findPlace } from '../place.ts';
import { probeAgents } from '../probe.ts';

export interface Finding {
  readonly what: string;
  readonly state: 'good' | 'note' | 'missing';
  readonly says: string;
  readonly remedy?: string;
}

const LEAST_GIT = [2, 38] as const;
const LEAST_BYTES = 1024 ** 3;

/** Checks everything and prints what it found. */
export async function doctor(flags: {
  readonly projectDir: string;
  readonly json?: boolean;
}): Promise<number> {
  const signal = new AbortController().signal;
  const findings = [
    nodeFinding(),
    await gitFinding(signal),
    ...(await repositoryFindings(flags.projectDir, signal)),
    ...(await agentFindings(signal)),
    await fenceFinding(signal),
    diskFinding(flags.projectDir),
  ];
  if (flags.json === true) process.stdout.write(jsonText(findings));
  else for (const finding of findings) print(finding);
  return findings.some(({ state }) => state === 'missing') ? EXIT.failed : EXIT.ok;
}

function print({ what, state, says, remedy }: Finding): void {
  const sign = { good: '✓', note: '·', missing: '✗' }[state];
  console.log(`${sign} ${what.padEnd(12)}${says}`);
  if (remedy !== undefined) console.log(`${' '.repeat(14)}${remedy}`);
}

function nodeFinding(): Finding {
  const { node, sqlite } = process.versions;
  return { what: 'node', state: 'good', says: `${node}, SQLite ${sqlite ?? 'unknown'}` };
}

async function gitFinding(signal: AbortSignal): Promise<Finding> {
  try {
    const { stdout } = await git('/', ['--version'], signal);
    const [major = 0, minor = 0] = (/\d+\.\d+/.exec(stdout)?.[0] ?? '').split('.').map(Number);
    const isNew = major > LEAST_GIT[0] || (major === LEAST_GIT[0] && minor >= LEAST_GIT[1]);
    const says = stdout.trim();
    if (isNew) return { what: 'git', state: 'good', says };
    const remedy = `Merges in memory need git ${LEAST_GIT.join('.')} or newer.`;
    return { what: 'git', state: 'missing', says, remedy };
  } catch (error) {
    return { what: 'git', state: 'missing', says: messageOf(error), remedy: 'Install git.' };
  }
}

async function repositoryFindings(
  projectDir: string,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const place = await findPlace(projectDir, signal);
  if (place.repository === null) {
    const remedy = 'Tasks that write need one: git init, or -C DIR.';
    return [{ what: 'repository', state: 'note', says: `none at ${place.dir}`, remedy }];
  }
  const { repository, dir } = place;
  return [
    await headFinding(repository, signal),
    await identityFinding(dir, signal),
    ...(await signingFindings(repository, signal)),
  ];
}

async function headFinding({ dir }: Repository, signal: AbortSignal): Promise<Finding> {
  const head = await headBranch(dir, signal);
  if (head.kind === 'branch') {
    return { what: 'repository', state: 'good', says: `${dir}, on ${head.name}` };
  }
  const says = head.kind === 'unborn' ? 'it has no commits yet' : 'HEAD is detached';
  const remedy = head.kind === 'unborn' ? 'Make a first commit.' : 'Say --target BRANCH.';
  return { what: 'repository', state: 'note', says, remedy };
}

async function identityFinding(dir: string, signal: AbortSignal): Promise<Finding> {
  const problem = await identityProblem(dir, signal);
  if (problem === null) return { what: 'identity', state: 'good', says: 'git knows who commits' };
  return { what: 'identity', state: 'missing', says: problem.message, remedy: problem.remedy };
}

/** Nothing where commits are not to be signed. */
async function signingFindings(
  { commonDir }: Repository,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (!(await signsCommits(commonDir, signal))) return [];
  const problem = await signingProblem(commonDir, signal);
  if (problem === null) return [{ what: 'signing', state: 'good', says: 'commits can be signed' }];
  const { message, remedy } = problem;
  return [{ what: 'signing', state: 'missing', says: message, remedy }];
}

async function agentFindings(signal: AbortSignal): Promise<readonly Finding[]> {
  const found = (await probeAgents(signal)).filter(({ agent }) => agent.program.file !== null);
  return found.map(({ agent, path, version, login }): Finding => {
    if (path === null) {
      return {
        what: agent.name,
        state: 'note',
        says: 'not installed',
        remedy: agent.program.install,
      };
    }
    const says = version ?? path;
    if (login !== 'out') return { what: agent.name, state: 'good', says };
    return {
      what: agent.name,
      state: 'note',
      says: `${says}, not logged in`,
      remedy: 'Log in with it.',
    };
  });
}

async function fenceFinding(signal: AbortSignal): Promise<Finding> {
  const support = await fenceSupport(signal);
  if (support.kind === 'available') {
    return { what: 'sandbox', state: 'good', says: `${support.tool} ${support.version}` };
  }
  return { what: 'sandbox', state: 'note', says: support.why, remedy: support.remedy };
}

function diskFinding(projectDir: string): Finding {
  const { bavail, bsize } = statfsSync(projectDir);
  const free = bavail * bsize;
  const says = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  if (free >= LEAST_BYTES) return { what: 'disk', state: 'good', says };
  const remedy = 'Every workspace is a checkout of its own: make room.';
  return { what: 'disk', state: 'missing', says, remedy };
}
