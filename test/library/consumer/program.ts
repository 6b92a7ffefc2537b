/**
 * A program of a user of the package: it uses every name that the library exports. It is checked
 * against the declarations of the packed package (../declarations.test.ts), and never run.
 */

import {
  type CheckedPlan,
  type CustomAgent,
  type CustomContext,
  type CustomEvent,
  type CustomFailure,
  type CustomJob,
  type CustomResult,
  definePlan,
  type Entry,
  type Event,
  type EventsOptions,
  type GateAnswer,
  type GateCandidate,
  type GateFunction,
  type LandOptions,
  type NativePlan,
  type OpenOptions,
  OperationalError,
  openRepository,
  type PauseOptions,
  PlanError,
  type PlanOptions,
  type Problem,
  type Repository,
  type ResumeOptions,
  type RetryOptions,
  type ReviewComment,
  type Run,
  type RunResult,
  type RunSettings,
  type RunSummary,
  type SimulatedRun,
  type SimulateOptions,
  simulate,
  type TaskResult,
  UserError,
} from 'landfast';

/** Passes where both types are the same, so that no `any` slips through. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function holds<_Claim extends true>(): void {}

const stopping = new AbortController();
const { signal } = stopping;

export const plan: NativePlan = definePlan({
  landfast: 1,
  name: 'login',
  limits: { workers: 2 },
  gates: [{ name: 'readme', run: 'test -s README.md' }],
  land: { publish: 'ask', on_gate_failure: 'fail' },
  tasks: [
    { id: 'login', agent: 'function:writer', prompt: 'Write it.', retry: { pause: 0 } },
    { id: 'logout', agent: 'claude', prompt: 'Write it.', needs: ['login'], writes: ['src/**'] },
  ],
});

// @ts-expect-error: a key that no plan has
definePlan({ landfast: 1, taks: [] });
// @ts-expect-error: prompts are texts
definePlan({ landfast: 1, tasks: [{ id: 'a', prompt: 7 }] });
// @ts-expect-error: not a way to publish
definePlan({ landfast: 1, land: { publish: 'perhaps' }, tasks: [] });

const writer: CustomAgent = {
  name: 'writer',
  resumes: true,
  async run(job: CustomJob, { emit, signal: ending }: CustomContext): Promise<CustomResult> {
    const said: CustomEvent = { type: 'text', text: `${job.task} ${job.attempt} in ${job.dir}` };
    emit(said);
    emit({ type: 'session', id: job.session ?? job.run, model: job.model ?? 'mine' });
    emit({ type: 'usage', usage: { costUsd: 0.1, inputTokens: 1, outputTokens: 1 } });
    // @ts-expect-error: only Landfast says how an attempt ends
    emit({ type: 'result', ok: true, text: '' });
    const failure: CustomFailure = { kind: 'rate-limited', message: 'Later.', retryAt: 1 };
    if (ending.aborted || job.readOnly) return { ok: false, failure };
    // @ts-expect-error: a kind that there is not
    if (job.env.CI === '1') return { ok: false, failure: { kind: 'tired', message: 'No.' } };
    return { ok: true, text: job.prompt, structured: { done: true } };
  },
};

const reviewed: GateFunction = {
  key: 'v1',
  async check({ dir, tree, commit, signal: ending, log }: GateCandidate): Promise<GateAnswer> {
    log(`${dir} ${tree} ${commit}`);
    return ending.aborted ? { red: 'Too late.' } : 'green';
  },
};
// @ts-expect-error: a gate is green, or red with a reason
export const wrongGate: GateFunction = { check: async () => 'red' };

/** Every call of a repository. */
export async function useRepository(): Promise<void> {
  const opening: OpenOptions = { env: { CI: '1' }, onWarning: (text) => text.trim(), signal };
  const repo: Repository = await openRepository('.', opening);
  // @ts-expect-error: a folder has to be named
  await openRepository();
  const reading: PlanOptions = { format: 'native' };
  const checked: CheckedPlan = await repo.plan('plan.yaml', reading);
  const forecast: SimulateOptions = { durations: { login: 60_000 }, gatesMs: 1_000, workers: 2 };
  const simulated: SimulatedRun = simulate(checked, forecast);
  holds<Same<typeof simulated.endMs, number>>();
  // @ts-expect-error: a plan has to be checked before
  simulate(plan, forecast);
  const settings: RunSettings = {
    workers: 4,
    budgetUsd: 10,
    agents: [writer],
    gates: { reviewed },
    programs: { claude: '/opt/claude' },
    keepWorkspaces: true,
    attended: true,
    signal,
  };
  for (const source of [checked, plan, 'plan.yaml'])
    await follow(await repo.start(source, settings));
  const resuming: ResumeOptions = { ...settings, retry: ['login'] };
  await steer(await repo.resume('2026', resuming));
  const landing: LandOptions = { target: 'main', gates: ['npm test'], verify: 'each' };
  report(await repo.land(['feature/a'], { ...landing, strategy: 'squash', agent: 'claude' }));
  // @ts-expect-error: gates of branches are commands
  await repo.land(['feature/a'], { gates: { reviewed } });
  const runs: readonly RunSummary[] = await repo.runs();
  for (const { run, live, outcome } of runs) if (live && outcome === null) await repo.run(run);
  // @ts-expect-error: what is read is not to be changed
  repo.dir = '/elsewhere';
}

async function follow(run: Run): Promise<void> {
  const options: EventsOptions = { after: 3, signal };
  for await (const entry of run.events(options)) show(entry);
  report(await run.result());
}

/** The union narrows by the type of the event. */
function show({ seq, at, event }: Entry): string {
  holds<Same<string extends Event['type'] ? 'any text' : 'literals', 'literals'>>();
  switch (event.type) {
    case 'run.started':
      return `${event.plan.tasks.length} ${event.target ?? ''}`;
    case 'attempt.session':
      return `${event.task} ${event.attempt} ${event.session}`;
    case 'gate.finished':
      return `${event.gate} ${event.ok} ${event.ms}`;
    case 'merge.landed':
      holds<Same<typeof event.commit, string>>();
      return event.commit;
    case 'task.failed':
      return event.failure.kind === 'gate-failed' ? event.failure.gate : event.failure.message;
    case 'task.commented':
      return event.comments.map(({ path, line, text }) => `${path}:${line} ${text}`).join();
    case 'radar.conflict':
      return event.files.join();
    case 'publish.blocked':
      // @ts-expect-error: what is blocked has no commit
      return `${event.why} ${event.remedy} ${event.commit}`;
    // @ts-expect-error: an event that there is not
    case 'task.exploded':
      return '';
    default:
      return `${seq + at} ${event.type}`;
  }
}

/** Every call of a run. */
async function steer(run: Run): Promise<void> {
  const pausing: PauseOptions = { suspend: true, tasks: ['login'] };
  const retrying: RetryOptions = { fresh: true, note: 'Use the old API.' };
  const comment: ReviewComment = { path: 'src/a.ts', line: 7, endLine: 9, text: 'Why?' };
  await run.pause(pausing);
  await run.continue({ tasks: ['login'] });
  await run.cancel('login');
  await run.cancel();
  await run.retry(['login'], retrying);
  await run.comment('login', [comment, { path: null, text: 'All of it.', author: 'Ada' }]);
  await run.limit({ workers: 8, budgetUsd: 20, gates: 2 });
  await run.approve({ publish: false });
  await run.skip(['login'], { satisfied: true });
  // @ts-expect-error: tasks are a list
  await run.retry('login');
  // @ts-expect-error: a comment has a text
  await run.comment('login', [{ path: 'src/a.ts', line: 7 }]);
}

function report({ outcome, tasks, landed, published, costUsd }: RunResult): string {
  const { login } = tasks;
  const task: TaskResult | undefined = login;
  holds<Same<TaskResult['structured'], unknown>>();
  // @ts-expect-error: not an outcome
  if (outcome === 'fine') return '';
  const commits = landed.map(({ commit }) => commit).join();
  return `${task?.status} ${task?.failure?.kind} ${commits} ${published?.target} ${costUsd}`;
}

export function explain(error: unknown): string {
  if (error instanceof PlanError) {
    const problems: readonly Problem[] = error.problems;
    holds<Same<typeof error extends UserError ? true : false, true>>();
    return problems
      .map(({ file, line, path, message }) => `${file}:${line} ${path} ${message}`)
      .join();
  }
  if (error instanceof UserError || error instanceof OperationalError) return error.remedy ?? '';
  throw error;
}
