/**
 * The JSON of what crosses the worker port: effects one way, facts and chatter the other. The journal
 * stores the same facts, and schemas/ publishes both schemas for programs that read or write them.
 *
 *   V1. A reader accepts unknown fields and refuses an unknown version: a field may be added without
 *       a new version, a changed meaning needs one.
 *   V2. The tables name every field of the types in model/, and the compiler checks that they do.
 *
 * Nothing that starts with the program imports this file: zod takes a while to load.
 */

import { z } from 'zod';
import { OperationalError } from '../base/errors.ts';
import type { AgentEvent } from '../model/agent-event.ts';
import type { Effect, Message } from '../model/effect.ts';
import type { Event } from '../model/event.ts';
import type { Failure, SimpleFailureKind } from '../model/failure.ts';
import type { Plan } from '../model/plan.ts';

export const WIRE_VERSION = 1;

/** An effect on its way to a worker. */
export function encodeEffect(effect: Effect): string {
  return JSON.stringify({ version: WIRE_VERSION, effect });
}

export function decodeEffect(text: string): Effect {
  return decode(text, 'an effect', z.looseObject({ effect: effectSchema })).effect;
}

/** A fact or chatter on its way to the engine. */
export function encodeMessage(message: Message): string {
  return JSON.stringify({ version: WIRE_VERSION, message });
}

export function decodeMessage(text: string): Message {
  return decode(text, 'a message', z.looseObject({ message: messageSchema })).message;
}

function decode<T>(text: string, what: string, schema: z.ZodType<T>): T {
  const { data: tag } = z.looseObject({ version: z.number() }).safeParse(parseJson(text));
  if (tag === undefined) throw new OperationalError(`This is not ${what} of Landfast: no version.`);
  if (tag.version !== WIRE_VERSION) {
    throw new OperationalError(
      `This is ${what} of version ${tag.version}; this Landfast reads version ${WIRE_VERSION}.`,
      { remedy: 'Use the same version of Landfast on both sides.' },
    );
  }
  const { data, error } = schema.safeParse(tag);
  if (error !== undefined) {
    throw new OperationalError(`This is not ${what} of Landfast: ${z.prettifyError(error)}`);
  }
  return data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A schema for every field but the tag. */
type Shape<T> = {
  readonly [K in keyof T as K extends 'type' | 'kind' ? never : K]-?: z.ZodType<T[K]>;
};
type Tagged<U, Tag extends keyof U> = {
  readonly [V in U[Tag] & string]: Shape<Extract<U, Readonly<Record<Tag, V>>>>;
};

/** The union of objects whose tag is a key of the table. */
function tagged<U>(tag: string, table: Readonly<Record<string, z.ZodRawShape>>): z.ZodType<U> {
  const members = Object.entries(table).map(([name, shape]) =>
    z.looseObject({ [tag]: z.literal(name), ...shape }),
  );
  const [first, ...rest] = members;
  return z.union([first!, ...rest]) as unknown as z.ZodType<U>;
}

const text = z.string();
const texts = z.array(text);
const flag = z.boolean();
const number = z.number();
const count = z.int();
const exitCode = count.nullable();
const opt = z.exactOptional;
const task = text;
const tasks = texts;
const sha = text;
const yes = z.literal(true);

/** The parser of plans checks the rest (plan/). */
const plan = z.looseObject({
  name: text,
  tasks: z.array(z.looseObject({ id: text })),
}) as unknown as z.ZodType<Plan>;

const by = z.looseObject({ agent: text, model: opt(text) });
const start = z.union([
  z.looseObject({ kind: z.literal('fresh'), fork: opt(text) }),
  z.looseObject({ kind: z.literal('continue'), session: text.nullable() }),
  z.looseObject({ kind: z.literal('rework'), session: text.nullable(), commit: sha }),
]);
const gateTree = z.enum(['base', 'alone']);
const names = z.array(
  z.looseObject({
    name: text,
    file: text,
    change: z.enum(['removed', 'renamed', 'signature']),
    to: opt(text),
    usedBy: texts,
  }),
);
const usage = { costUsd: number, inputTokens: count, outputTokens: count };
const selfReport = z.looseObject({
  status: text,
  cycles: opt(count),
  reason: opt(text),
  report: opt(text),
  summary: opt(text),
  concerns: opt(text),
  validated: opt(flag),
  created: opt(texts),
  modified: opt(texts),
  tests: opt(z.looseObject({ run: opt(count), passed: opt(count), failed: opt(count) })),
  log: opt(text),
});
const conflict = z.looseObject({
  path: text,
  kind: z.enum([
    ...(['content', 'both-added', 'binary', 'submodule', 'mode', 'type', 'rename'] as const),
    ...(['deleted-here', 'deleted-there', 'file-folder', 'regenerate', 'other'] as const),
  ]),
  lines: opt(z.array(z.tuple([count, count]))),
});

const simple = { message: text };
const SIMPLE_FAILURES: Readonly<Record<SimpleFailureKind, typeof simple>> = {
  transient: simple,
  'exit-code': simple,
  auth: simple,
  billing: simple,
  budget: simple,
  turns: simple,
  schema: simple,
  permanent: simple,
  cancelled: simple,
  skipped: simple,
  revision: simple,
  interrupted: simple,
  'session-lost': simple,
  'no-change': simple,
  stuck: simple,
  'commit-failed': simple,
};
type OtherFailure = Exclude<Failure, { readonly kind: SimpleFailureKind }>;
const FAILURES: Tagged<OtherFailure, 'kind'> = {
  'rate-limited': { message: text, retryAt: opt(number), guessed: opt(flag) },
  'idle-timeout': { message: text, afterMs: number },
  'total-timeout': { message: text, afterMs: number },
  'out-of-scope': { message: text, files: texts },
  'checks-failed': { message: text, check: text, exitCode: opt(exitCode), output: text },
  'workspace-failed': {
    message: text,
    command: opt(text),
    exitCode: opt(exitCode),
    output: opt(text),
  },
  'gate-failed': {
    message: text,
    gate: text,
    command: opt(text),
    exitCode: opt(exitCode),
    output: text,
    landedSince: tasks,
  },
  conflict: {
    message: text,
    files: texts,
    conflicts: opt(z.array(conflict)),
    output: opt(text),
    landedSince: tasks,
  },
  semantic: {
    message: text,
    clashes: z.array(z.looseObject({ a: task, b: task, names })),
    landedSince: tasks,
  },
  'push-failed': { message: text, remote: text, branch: text },
  'dependency-failed': { message: text, dependency: task },
};
const failure = tagged<Failure>('kind', { ...SIMPLE_FAILURES, ...FAILURES }).meta({
  id: 'Failure',
});

const attempt = { task, attempt: count };
const limits = {
  workers: opt(count),
  gates: opt(count),
  budgetUsd: opt(number),
  diskBytes: opt(number),
  diskFreeBytes: opt(number),
  memoryPerAttempt: opt(number),
  loadPerCore: opt(number),
};
const comments = z.array(
  z.looseObject({
    path: text.nullable(),
    line: opt(count),
    endLine: opt(count),
    text,
    author: opt(text),
  }),
);
const EVENTS: Tagged<Event, 'type'> = {
  'run.started': {
    plan,
    planHash: text,
    base: sha.nullable(),
    target: text.nullable(),
    attended: opt(yes),
  },
  'run.resumed': { retry: tasks, head: opt(sha), attended: opt(yes), ...limits },
  'run.limited': limits,
  'run.replanned': {
    plan,
    planHash: text,
    difference: z.looseObject({
      added: tasks,
      changed: z.array(z.looseObject({ task, keys: texts, fresh: flag })),
      removed: tasks,
      sections: texts,
    }),
  },
  'run.stopping': { mode: z.enum(['drain', 'end', 'cancel']), why: text },
  'run.paused': { suspended: flag },
  'run.continued': {},
  'run.held': { of: z.enum(['disk', 'disk-budget', 'memory', 'load']), why: text },
  'run.eased': {},
  'run.finished': { outcome: z.enum(['succeeded', 'failed', 'cancelled', 'interrupted']) },
  'attempt.started': {
    ...attempt,
    base: sha.nullable(),
    start,
    by: opt(by),
    budgetUsd: opt(number),
  },
  'attempt.prepared': {
    ...attempt,
    setup: z.enum(['ran', 'kept', 'seeded']),
    ms: number,
    why: opt(text),
  },
  'attempt.session': { ...attempt, session: text, model: opt(text) },
  'attempt.usage': { ...attempt, ...usage },
  'attempt.denied': { ...attempt, tool: text, what: opt(text), allow: opt(text) },
  'attempt.strayed': { ...attempt, files: texts },
  'attempt.finished': {
    ...attempt,
    commit: sha.nullable(),
    files: texts,
    outside: texts,
    empty: opt(yes),
    exitCode,
    text,
    structured: opt(z.unknown()),
    status: opt(selfReport),
  },
  'attempt.failed': { ...attempt, failure, exitCode, status: opt(selfReport), tip: opt(sha) },
  'merge.settled': {
    task,
    files: z.array(z.looseObject({ path: text, how: z.enum(['memory', 'command']), by: text })),
  },
  'merge.started': {
    ...attempt,
    commit: sha,
    onto: sha,
    passes: opt(tasks),
    stays: opt(text),
  },
  'candidate.built': { task, commit: sha, tree: sha, spared: opt(yes) },
  'candidate.verifying': { task, commit: sha },
  'candidate.dropped': { task, commit: sha },
  'candidate.verified': { task, commit: sha, failure: failure.nullable() },
  'merge.withdrawn': { task, ahead: task.nullable(), why: text, lingers: opt(yes) },
  'merge.landing': { task, commit: sha },
  'gate.started': { task: task.nullable(), gate: text, tree: sha, on: opt(gateTree) },
  'gate.finished': {
    task: task.nullable(),
    gate: text,
    tree: sha,
    ok: flag,
    ms: number,
    output: text,
    command: opt(text),
    exitCode: opt(exitCode),
    spared: opt(z.enum(['memory', 'paths'])),
    by: opt(text),
    quarantined: opt(yes),
    on: opt(gateTree),
  },
  'gate.broken': {
    task,
    gate: text,
    why: z.enum(['red', 'not-run']),
    command: text,
    exitCode,
    output: text,
    attended: flag,
  },
  'merge.landed': { task, onto: sha, commit: sha },
  'merge.rejected': { task, onto: sha, failure },
  'work.adopted': { task, commit: sha },
  'work.mended': { task, commit: sha, files: texts },
  'work.kept': { ...attempt, ref: text, commit: sha },
  'work.delivered': { task, commit: sha, branch: text, pushed: text.nullable() },
  'work.proved': {
    task,
    by: z.enum(['history', 'files']),
    commits: z.array(sha),
    more: opt(count),
  },
  'publish.started': { head: sha, early: opt(yes) },
  'publish.finished': {
    target: text,
    commit: sha,
    checkout: z.enum(['followed', 'none']),
    proved: opt(z.looseObject({ works: count, by: z.enum(['history', 'files']) })),
  },
  'publish.blocked': { why: text, remedy: text },
  'publish.awaited': { head: sha },
  'publish.approved': { head: sha },
  'publish.declined': { head: sha },
  'task.failed': { task, failure },
  'task.cancelled': { task },
  'task.retried': { task, fresh: flag, note: opt(text) },
  'task.paused': { task },
  'task.continued': { task },
  'task.commented': { task, comments },
  'task.skipped': { task, satisfied: flag },
  'workspace.released': { task },
  'workspace.removed': { task, saved: opt(texts) },
  'workspace.kept': { task, why: text, saved: opt(texts) },
  'radar.conflict': { a: task, b: task.nullable(), files: texts },
  'radar.cleared': { a: task, b: task.nullable() },
  'radar.semantic': { a: task, b: task, names },
  'scope.strayed': { ...attempt, files: texts },
};
export const eventSchema = tagged<Event>('type', EVENTS);

const AGENT_EVENTS: Tagged<AgentEvent, 'type'> = {
  session: { id: text, model: opt(text), cwd: opt(text) },
  text: { text, delta: opt(flag) },
  thinking: {},
  'tool.start': { id: text, name: text, input: z.unknown() },
  'tool.end': { id: text, ok: flag, output: text },
  retry: { attempt: count, max: count, delayMs: number, failure },
  limit: { status: z.enum(['allowed', 'warning', 'rejected']), resetsAt: opt(number) },
  denied: { tool: text, id: opt(text) },
  usage: { usage: z.looseObject(usage) },
  warning: { text },
  activity: { what: text, background: opt(count) },
  result: {
    ok: flag,
    text,
    structured: opt(z.unknown()),
    failure: opt(failure),
    usage: opt(z.looseObject(usage)),
    turns: opt(count),
  },
};
export const agentEventSchema = tagged<AgentEvent>('type', AGENT_EVENTS);

const foes = z.array(z.looseObject({ with: task, names, landed: opt(yes) }));
const EFFECTS: Tagged<Effect, 'kind'> = {
  attempt: {
    ...attempt,
    base: sha.nullable(),
    start,
    by: opt(by),
    tried: opt(z.array(z.looseObject({ by, times: count, failure }))),
    before: failure.nullable(),
    heard: z.array(z.looseObject({ task, text })),
    meanwhile: z.array(
      z.looseObject({ task, title: text, prompt: text, said: text, files: texts }),
    ),
    instructions: opt(
      z.array(
        z.looseObject({
          at: number,
          note: text.nullable(),
          comments,
          after: count,
          answeredBy: count.nullable(),
        }),
      ),
    ),
    foreseen: opt(
      z.looseObject({
        collisions: z.array(z.looseObject({ with: task.nullable(), files: texts })),
        clashes: foes,
        missed: opt(foes),
        strayed: texts,
      }),
    ),
    budgetUsd: number.nullable(),
  },
  merge: {
    task,
    commit: sha,
    onto: sha,
    base: sha.nullable(),
    ahead: task.nullable(),
    lands: flag,
    beside: opt(yes),
    landedSince: tasks,
    suspects: opt(z.array(z.looseObject({ task, onto: sha, commit: sha, at: number }))),
    unproven: opt(texts),
    teaches: flag,
    credit: z.looseObject({ by: by.nullable(), costUsd: number }),
  },
  verify: {
    task,
    commit: sha,
    tree: sha,
    since: sha,
    again: flag,
    alone: opt(z.looseObject({ commit: sha, gate: text })),
    unproven: texts,
    landedSince: tasks,
  },
  land: {
    onto: sha,
    candidates: z.array(z.looseObject({ task, commit: sha })),
    teachers: z.array(sha),
  },
  release: { task, succeeded: flag, safe: z.array(sha), keep: opt(text) },
  publish: {
    base: sha,
    head: sha,
    target: text,
    landed: z.array(z.looseObject({ task, work: sha, onto: sha, commit: sha })),
    untold: tasks,
  },
};
export const effectSchema = tagged<Effect>('kind', EFFECTS);

export const messageSchema: z.ZodType<Message> = z.union([
  z.looseObject({ kind: z.literal('fact'), event: eventSchema }),
  z.looseObject({
    kind: z.literal('chatter'),
    ...attempt,
    line: z.union([
      z.looseObject({ from: z.enum(['stdout', 'stderr', 'prompt', 'setup', 'checks']), text }),
      z.looseObject({ from: z.literal('agent'), event: agentEventSchema }),
    ]),
  }),
]);
