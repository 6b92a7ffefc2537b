/** Whether this machine and this repository are ready, and what to do where not. Asks no model. */

import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { findAgent } from '../agents/index.ts';
import { messageOf, OperationalError } from '../base/errors.ts';
import { identityProblem, signingProblem, signsCommits } from '../git/commit.ts';
import { git } from '../git/git.ts';
import { headBranch, type Repository } from '../git/repository.ts';
import { openForReading } from '../journal/database.ts';
import { findRun, readEntries } from '../journal/journal.ts';
import { fold } from '../model/fold.ts';
import { isGood, type RunState } from '../model/state.ts';
import { fenceSupport } from '../process/fence.ts';
import { requireTempFolder } from '../process/scratch.ts';
import { findSession, type Surroundings } from '../worker/sessions.ts';
import type { Host } from './host.ts';
import type { Place } from './place.ts';
import { probeAgents } from './probe.ts';

export interface Finding {
  readonly what: string;
  readonly state: 'good' | 'note' | 'missing';
  readonly says: string;
  readonly remedy?: string;
}

const LEAST_GIT = [2, 38] as const;
const LEAST_BYTES = 1024 ** 3;

/** Checks everything but the program that asks. */
export async function diagnose(place: Place, signal: AbortSignal): Promise<readonly Finding[]> {
  return [
    await gitFinding(signal),
    ...(await repositoryFindings(place, signal)),
    ...(await agentFindings(place.host, signal)),
    await fenceFinding(signal),
    diskFinding(place),
    tempFinding(),
  ];
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

async function repositoryFindings(place: Place, signal: AbortSignal): Promise<readonly Finding[]> {
  if (place.repository === null) {
    const remedy = 'Tasks that write need one: git init, or -C DIR.';
    return [{ what: 'repository', state: 'note', says: `none at ${place.dir}`, remedy }];
  }
  const { repository, dir } = place;
  return [
    await headFinding(repository, signal),
    await identityFinding(dir, signal),
    ...(await signingFindings(repository, signal)),
    ...(await sessionFindings(place)),
  ];
}

async function headFinding({ dir }: Repository, signal: AbortSignal): Promise<Finding> {
  const head = await headBranch(dir, signal);
  if (head.kind === 'branch') {
    return { what: 'repository', state: 'good', says: `${dir}, on ${head.name}` };
  }
  const says = head.kind === 'unborn' ? 'it has no commits yet' : 'HEAD is detached';
  const remedy = head.kind === 'unborn' ? 'Create a first commit.' : 'Use --target BRANCH.';
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

/** Nothing where the newest run has succeeded, or its agents still have all of its sessions. */
async function sessionFindings({ stateDir, host }: Place): Promise<readonly Finding[]> {
  using db = openForReading(stateDir);
  const newest = db === null ? { kind: 'none' as const } : findRun(db, null);
  if (db === null || newest.kind !== 'found') return [];
  const state = fold(readEntries(db, newest.run, 0));
  const lost = await lostSessions(state, host);
  if (lost.length === 0) return [];
  const says = `the agents no longer have those of ${lost.join(', ')} in run ${newest.run}`;
  const remedy = 'Their next attempts begin new sessions.';
  return [{ what: 'sessions', state: 'note', says, remedy }];
}

async function agentFindings(host: Host, signal: AbortSignal): Promise<readonly Finding[]> {
  const found = (await probeAgents(host, signal)).filter(
    ({ agent }) => agent.program.file !== null,
  );
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

function diskFinding({ dir }: Place): Finding {
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  const says = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  if (free >= LEAST_BYTES) return { what: 'disk', state: 'good', says };
  const remedy = 'Every workspace is a full checkout: free some space.';
  return { what: 'disk', state: 'missing', says, remedy };
}

function tempFinding(): Finding {
  const what = 'temp folder';
  try {
    requireTempFolder();
    return { what, state: 'good', says: tmpdir() };
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    const { message, remedy = '' } = error;
    return { what, state: 'missing', says: message, remedy };
  }
}

/** Tasks without success whose session is no longer in its agent's store. */
export async function lostSessions(
  { tasks }: RunState,
  surroundings: Surroundings,
): Promise<readonly string[]> {
  const looked = [...tasks.values()].map(async (task) => {
    const { session, spec, attempts } = task;
    const store = findAgent(attempts.at(-1)?.by.agent ?? spec.agent)?.program.sessions ?? null;
    if (isGood(task) || session === null || store === null) return [];
    const found = await findSession(store, session, surroundings);
    return found === 'missing' ? [spec.id] : [];
  });
  return (await Promise.all(looked)).flat();
}
