/**
 * Gemini CLI's stream-json output, line by line, as AgentEvents, and its retries from standard error.
 *
 *   S1. Never throws. Every line of the stream is dated: one that is not gives no event at all, one
 *       without a known meaning is `activity`.
 *   S2. An answer comes in pieces. They are reported as such, and once more whole at the end.
 *   S3. A turn that the CLI broke off (a loop, its turn limit) ends as `success`: the error
 *       reported before it decides.
 *   S4. A command that fails is a tool that succeeded: the stream does not tell them apart.
 */

import type { AgentEvent, Usage } from '../../model/agent-event.ts';
import type { Failure, SimpleFailureKind } from '../../model/failure.ts';
import type { Job, Parser } from '../agent.ts';
import type { Fields } from '../json-fields.ts';
import { bounded, clip, fieldsOf, numberOf, parseFields, textOf } from '../json-fields.ts';
import { toldFailure } from './failure.ts';
import { withheldTools } from './policy.ts';
import { RetryReader } from './retries.ts';

type Events = readonly AgentEvent[];

/** The parser of one attempt's output. */
export class StreamParser implements Parser {
  readonly #withheld: ReadonlySet<string>;
  readonly #retries = new RetryReader();
  readonly #toolNames = new Map<string, string>();
  #session = '';
  /** The pieces of the answer that is being given. */
  #pieces: string[] = [];
  /** The last error that was told without being the end. */
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
        return [...this.#whole(), this.#toolStart(fields)];
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
    const model = textOf(fields.model);
    return [{ type: 'session', id, ...(model && { model }) }];
  }

  /** The prompt comes back as a message, too. */
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

  #toolStart(fields: Fields): AgentEvent {
    const id = textOf(fields.tool_id);
    const name = textOf(fields.tool_name);
    this.#toolNames.set(id, name);
    return { type: 'tool.start', id, name, input: bounded(fields.parameters ?? null) };
  }

  #toolEnd(fields: Fields): Events {
    const id = textOf(fields.tool_id);
    const error = fieldsOf(fields.error);
    const name = this.#toolNames.get(id) ?? '';
    this.#toolNames.delete(id);
    const output = clip(textOf(fields.output) || textOf(error.message));
    const end: AgentEvent = { type: 'tool.end', id, ok: fields.status === 'success', output };
    const denied = isDenial(error, this.#withheld.has(name));
    return denied ? [end, { type: 'denied', tool: clip(name, 200), id }] : [end];
  }

  #result(fields: Fields): Events {
    const text = this.#pieces.join('');
    const failure = this.#failure(fields);
    const end = { text, usage: usageOf(fieldsOf(fields.stats)) };
    const result: AgentEvent =
      failure === null
        ? { type: 'result', ok: true, ...end }
        : { type: 'result', ok: false, ...end, failure };
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

function activity(what: unknown): Events {
  return [{ type: 'activity', what: clip(textOf(what), 100) }];
}

/** The CLI continues without the rules it was given: a person must see that. */
const UNHEEDED_RULES = /^(?:Security Warning: |\[(?:ADMIN|USER)\] Policy file )/;

const BROKEN_OFF: ReadonlyMap<string, SimpleFailureKind> = new Map<string, SimpleFailureKind>([
  ['Loop detected, stopping execution', 'stuck'],
  ['Maximum session turns exceeded', 'turns'],
]);
