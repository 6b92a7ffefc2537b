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
import type { Host, Place } from './place.ts';
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

function good(what: string, says: string): Finding {
  return { what, state: 'good', says };
}

/** Something that every run needs, and that is not as it should be. */
function missing(what: string, says: string, remedy: string): Finding {
  return { what, state: 'missing', says, remedy };
}

/** Something that some runs need. */
function note(what: string, says: string, remedy: string): Finding {
  return { what, state: 'note', says, remedy };
}

async function gitFinding(signal: AbortSignal): Promise<Finding> {
  try {
    const { stdout } = await git('/', ['--version'], signal);
    const [major = 0, minor = 0] = (/\d+\.\d+/.exec(stdout)?.[0] ?? '').split('.').map(Number);
    const isNew = major > LEAST_GIT[0] || (major === LEAST_GIT[0] && minor >= LEAST_GIT[1]);
    const says = stdout.trim();
    if (isNew) return good('git', says);
    return missing('git', says, `Merges in memory need git ${LEAST_GIT.join('.')} or newer.`);
  } catch (error) {
    return missing('git', messageOf(error), 'Install git.');
  }
}

async function repositoryFindings(place: Place, signal: AbortSignal): Promise<readonly Finding[]> {
  const { repository, dir } = place;
  if (repository === null) {
    const remedy = 'Tasks that write need one: git init, or -C DIR.';
    return [note('repository', `none at ${dir}`, remedy)];
  }
  return [
    await headFinding(repository, signal),
    await identityFinding(dir, signal),
    ...(await signingFindings(repository, signal)),
    ...(await sessionFindings(place)),
  ];
}

async function headFinding({ dir }: Repository, signal: AbortSignal): Promise<Finding> {
  const head = await headBranch(dir, signal);
  if (head.kind === 'branch') return good('repository', `${dir}, on ${head.name}`);
  return head.kind === 'unborn'
    ? note('repository', 'it has no commits yet', 'Create a first commit.')
    : note('repository', 'HEAD is detached', 'Use --target BRANCH.');
}

async function identityFinding(dir: string, signal: AbortSignal): Promise<Finding> {
  const problem = await identityProblem(dir, signal);
  if (problem === null) return good('identity', 'git knows who commits');
  return missing('identity', problem.message, problem.remedy);
}

/** Nothing where commits are not to be signed. */
async function signingFindings(
  { commonDir }: Repository,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (!(await signsCommits(commonDir, signal))) return [];
  const problem = await signingProblem(commonDir, signal);
  if (problem === null) return [good('signing', 'commits can be signed')];
  return [missing('signing', problem.message, problem.remedy)];
}

/** Nothing where the newest run has succeeded, or its agents still have all of its sessions. */
async function sessionFindings({ stateDir, host }: Place): Promise<readonly Finding[]> {
  using db = openForReading(stateDir);
  const newest = db === null ? { kind: 'none' as const } : findRun(db, null);
  if (db === null || newest.kind !== 'found') return [];
  const lost = await lostSessions(fold(readEntries(db, newest.run, 0)), host);
  if (lost.length === 0) return [];
  const says = `the agents no longer have those of ${lost.join(', ')} in run ${newest.run}`;
  return [note('sessions', says, 'Their next attempts begin new sessions.')];
}

async function agentFindings(host: Host, signal: AbortSignal): Promise<readonly Finding[]> {
  const found = await probeAgents(host, signal);
  const named = found.filter(({ agent }) => agent.program.file !== null);
  return named.map(({ agent: { name, program }, path, version, login }) => {
    if (path === null) return note(name, 'not installed', program.install);
    const says = version ?? path;
    return login === 'out'
      ? note(name, `${says}, not logged in`, 'Log in with it.')
      : good(name, says);
  });
}

async function fenceFinding(signal: AbortSignal): Promise<Finding> {
  const support = await fenceSupport(signal);
  if (support.kind === 'missing') return note('sandbox', support.why, support.remedy);
  return good('sandbox', `${support.tool} ${support.version}`);
}

function diskFinding({ dir }: Place): Finding {
  const { bavail, bsize } = statfsSync(dir);
  const free = bavail * bsize;
  const says = `${(free / 1024 ** 3).toFixed(1)} GiB free`;
  if (free >= LEAST_BYTES) return good('disk', says);
  return missing('disk', says, 'Every workspace is a full checkout: free some space.');
}

function tempFinding(): Finding {
  try {
    requireTempFolder();
    return good('temp folder', tmpdir());
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error;
    return missing('temp folder', error.message, error.remedy ?? '');
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
