/**
 * Gemini CLI's stream-json output, line by line, as AgentEvents, and its retries from standard error.
 *
 *   S1. Every line of the stream is dated: one that is not gives no event at all.
 *   S2. An answer comes in pieces. They are reported as such, and once more whole at the end.
 *   S3. A turn that the CLI broke off (a loop, its turn limit) ends as `success`: the error
 *       reported before it decides.
 *   S4. A command that fails is a tool that succeeded: the stream does not tell them apart.
 */

import type { AgentEvent, Usage } from '../../model/agent-event.ts';
import type { Failure, SimpleFailureKind } from '../../model/failure.ts';
import type { Job, Parser } from '../agent.ts';
import { activity, denial, type Events, resultOf, session, toolStart } from '../events.ts';
import { clip, type Fields, fieldsOf, numberOf, parseFields, textOf } from '../json-fields.ts';
import { toldFailure } from './failure.ts';
import { withheldTools } from './policy.ts';

type Retry = AgentEvent & { readonly type: 'retry' };

export class StreamParser implements Parser {
  readonly #withheld: ReadonlySet<string>;
  readonly #retries = new RetryReader();
  readonly #toolNames = new Map<string, string>();
  #session = '';
  /** The pieces of the answer that is being given. */
  #pieces: string[] = [];
  /** The last error that did not end the turn. */
  #error = '';

  constructor(job: Job) {
    this.#withheld = withheldTools(job);
  }

  stdout(line: string): Events {
    const fields = parseFields(line);
    if (fields === null || textOf(fields.timestamp) === '') return [];
    switch (fields.type) {
      case 'init':
        return this.#init(fields);
      case 'message':
        return this.#message(fields);
      case 'tool_use':
        this.#toolNames.set(textOf(fields.tool_id), textOf(fields.tool_name));
        return [...this.#whole(), toolStart(fields.tool_id, fields.tool_name, fields.parameters)];
      case 'tool_result':
        return this.#toolEnd(fields);
      case 'error':
        this.#error = textOf(fields.message);
        return [...this.#whole(), { type: 'warning', text: clip(this.#error) }];
      case 'result':
        return this.#result(fields);
      default:
        return activity(fields.type);
    }
  }

  stderr(line: string): Events {
    const retry = this.#retries.read(line);
    if (retry !== null) return [retry];
    return UNHEEDED_RULES.test(line) ? [{ type: 'warning', text: clip(line.trim()) }] : [];
  }

  #init(fields: Fields): Events {
    const id = textOf(fields.session_id);
    if (id === '' || id === this.#session) return activity('init');
    this.#session = id;
    return [session(id, fields.model)];
  }

  /** The prompt also comes back as a message. */
  #message(fields: Fields): Events {
    const text = textOf(fields.content);
    if (fields.role !== 'assistant' || text === '') return activity('message');
    this.#pieces.push(text);
    return [{ type: 'text', text, delta: true }];
  }

  #whole(): Events {
    const text = this.#pieces.join('');
    this.#pieces = [];
    return text === '' ? [] : [{ type: 'text', text }];
  }

  #toolEnd(fields: Fields): Events {
    const id = textOf(fields.tool_id);
    const error = fieldsOf(fields.error);
    const name = this.#toolNames.get(id) ?? '';
    this.#toolNames.delete(id);
    const output = clip(textOf(fields.output) || textOf(error.message));
    const end: AgentEvent = { type: 'tool.end', id, ok: fields.status === 'success', output };
    return isDenial(error, this.#withheld.has(name)) ? [end, denial(name, id)] : [end];
  }

  #result(fields: Fields): Events {
    const end = { text: this.#pieces.join(''), usage: usageOf(fieldsOf(fields.stats)) };
    const result = resultOf(this.#failure(fields), end);
    this.#error = '';
    return [...this.#whole(), result];
  }

  #failure(fields: Fields): Failure | null {
    if (fields.status === 'success') {
      const kind = BROKEN_OFF.get(this.#error);
      return kind === undefined
        ? null
        : { kind, message: `The agent was stopped: ${this.#error}.` };
    }
    const { type, message } = fieldsOf(fields.error);
    const at = Date.parse(textOf(fields.timestamp));
    return toldFailure({ name: textOf(type), message: textOf(message) || this.#error, at });
  }
}

/** Refused by a rule, for lack of a person to ask, or not even offered to this job. */
function isDenial({ type, message }: Fields, withheld: boolean): boolean {
  if (type === 'policy_violation') return true;
  if (type === 'tool_not_registered') return withheld;
  return /^Tool execution .* requires user confirmation/.test(textOf(message));
}

/**
 * Counted by this process, also in a resumed session. What was thought is in the total only. There
 * is no price.
 */
function usageOf(stats: Fields): Usage {
  const inputTokens = numberOf(stats.input_tokens);
  const written = Math.max(
    numberOf(stats.output_tokens),
    numberOf(stats.total_tokens) - inputTokens,
  );
  return { costUsd: 0, inputTokens, outputTokens: written };
}

/** The CLI continues without the rules it was given: a person must see that. */
const UNHEEDED_RULES = /^(?:Security Warning: |\[(?:ADMIN|USER)\] Policy file )/;

const BROKEN_OFF: ReadonlyMap<string, SimpleFailureKind> = new Map<string, SimpleFailureKind>([
  ['Loop detected, stopping execution', 'stuck'],
  ['Maximum session turns exceeded', 'turns'],
]);

/**
 * Gemini CLI's retries, which it reports only on standard error, in sentences. It may retry for minutes
 * before it says anything else.
 *
 *   Attempt 2 failed with status 503. Retrying with backoff... _ApiError: {"error":{…
 *   Attempt 2 failed. Retrying with backoff... Error: exception TypeError: fetch failed …
 *   Attempt 2 failed: <the service's words, maybe several lines>. Retrying after 5831ms...
 *
 *   R1. One event a retry, when the line that announces the wait is complete.
 *   R2. A wait that is not named is the CLI's usual one: 5 s, doubled each time, 30 s at most.
 */
class RetryReader {
  /** An attempt whose words go on over several lines. */
  #open: { readonly attempt: number; readonly lines: string[] } | null = null;

  /** The retry that this line announces. */
  read(line: string): Retry | null {
    const [, number = '', rest = ''] = /^Attempt (\d+) failed(.*)$/.exec(line) ?? [];
    if (number !== '') this.#open = { attempt: Number(number), lines: [] };
    if (this.#open === null) return null;
    const { attempt, lines } = this.#open;
    lines.push(number === '' ? line : rest);
    const words = lines.join('\n');
    const [announced, ms] = /Retrying (?:with backoff|after (\d+)ms)/.exec(words) ?? [];
    if (announced === undefined && words.startsWith(':') && lines.length < MAX_LINES) return null;
    this.#open = null;
    if (announced === undefined) return null;
    return retryOf(attempt, words, ms === undefined ? usualDelay(attempt) : Number(ms));
  }
}

function retryOf(attempt: number, words: string, delayMs: number): Retry {
  const [, status] = /^ with (?:status )?(\d{3})/.exec(words) ?? [];
  const [, said = ''] = /^: (.*?)\.? Retrying after /s.exec(words) ?? [];
  // Without a status, words of the service mean a limit; otherwise there was no answer.
  const code = Number(status ?? (said === '' ? 0 : 429));
  const message = said || (code === 0 ? 'The service did not answer.' : 'it is busy or failing.');
  const failure = toldFailure({ name: '', message, status: code, at: Number.NaN });
  return { type: 'retry', attempt, max: MAX_ATTEMPTS, delayMs, failure };
}

function usualDelay(attempt: number): number {
  return Math.min(30_000, 5_000 * 2 ** Math.min(attempt - 1, 3));
}

/** The CLI's own limit, unless the user's settings have another; it never says which. */
const MAX_ATTEMPTS = 10;
const MAX_LINES = 20;
