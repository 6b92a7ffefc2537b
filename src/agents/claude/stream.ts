/**
 * Claude Code's stream-json output, line by line, as AgentEvents.
 *
 *   S1. Nothing is reported twice: parts of a message are only signs of life, as the whole follows;
 *       a denied tool counts once, though it is named when denied and again in the result.
 *   S2. `text` is the agent's own voice. What a sub-agent says is a sign of life; its tools count.
 *   S3. Usage is of this process: a resumed session's totals, which the CLI also gives, are not.
 */

import type { AgentEvent, Usage } from '../../model/agent-event.ts';
import type { Parser } from '../agent.ts';
import type { Events } from '../events.ts';
import { activity, denial, orActivity, resultOf, session, sumUsage, toolStart } from '../events.ts';
import type { Fields } from '../json-fields.ts';
import { clip, fieldsOf, isFields, listOf, numberOf, parseFields, textOf } from '../json-fields.ts';
import { serviceFailure, turnFailure } from './failure.ts';

export class StreamParser implements Parser {
  #session = '';
  /** The code of the last API error of the main conversation, until it recovers. */
  #errorCode = '';
  #retryAt: number | undefined;
  #usage = sumUsage([]);
  readonly #denied = new Set<string>();

  stdout(line: string): Events {
    const fields = parseFields(line);
    if (fields === null) return [];
    switch (fields.type) {
      case 'stream_event':
        return STREAM_EVENT;
      case 'system':
        return this.#system(fields);
      case 'assistant':
        return orActivity(this.#assistant(fields), 'assistant');
      case 'user':
        return orActivity(toolResults(fields), 'user');
      case 'rate_limit_event':
        return this.#limit(fieldsOf(fields.rate_limit_info));
      case 'result':
        return this.#result(fields);
      default:
        // Every line of the stream names its session; other programs also write JSON with a type.
        return textOf(fields.session_id) === '' ? [] : activity(fields.type);
    }
  }

  /** Standard error holds only words for people; the end of it is judged with the exit. */
  stderr(): Events {
    return [];
  }

  #system(fields: Fields): Events {
    switch (fields.subtype) {
      case 'init':
        return this.#init(fields);
      case 'api_retry':
        return [retry(fields)];
      case 'permission_denied':
        return this.#denials([fields]);
      case 'background_tasks_changed':
        return [{ type: 'activity', what: 'background', background: listOf(fields.tasks).length }];
      case 'model_fallback':
      case 'model_refusal_no_fallback':
      case 'informational': {
        const text = textOf(fields.content);
        return text === '' ? activity(fields.subtype) : [{ type: 'warning', text: clip(text) }];
      }
      default:
        return activity(fields.subtype);
    }
  }

  /** Every turn begins with one of these; only the first is news. */
  #init(fields: Fields): Events {
    const id = textOf(fields.session_id);
    if (id === '' || id === this.#session) return activity('init');
    this.#session = id;
    return [session(id, fields.model, fields.cwd)];
  }

  #assistant(fields: Fields): Events {
    const content = contentOf(fields);
    const main = textOf(fields.parent_tool_use_id) === '';
    const code = textOf(fields.error);
    if (main) this.#errorCode = code;
    if (code !== '') return [{ type: 'warning', text: clip(joinText(content) || code) }];
    return content.flatMap((block) => blockEvents(block, main));
  }

  #limit(info: Fields): Events {
    const status = LIMIT_STATUS.get(textOf(info.status));
    if (status === undefined) return activity('rate_limit_event');
    const resetsAt = numberOf(info.resetsAt) * 1000; // The CLI counts in seconds.
    const known = resetsAt > 0;
    this.#retryAt = status === 'rejected' && known ? resetsAt : undefined;
    return [{ type: 'limit', status, ...(known && { resetsAt }) }];
  }

  #denials(denials: readonly unknown[]): AgentEvent[] {
    const fresh = denials.map(fieldsOf).filter(({ tool_use_id }) => {
      const id = textOf(tool_use_id);
      if (id !== '' && this.#denied.has(id)) return false;
      this.#denied.add(id);
      return true;
    });
    return fresh.map((each) => denial(each.tool_name, textOf(each.tool_use_id) || undefined));
  }

  /** `subtype: success` says only that the turn came to an end: `is_error` decides. */
  #result(fields: Fields): Events {
    const ok = fields.subtype === 'success' && fields.is_error !== true;
    const text = textOf(fields.result);
    const end = {
      text,
      usage: this.#use(fields),
      turns: numberOf(fields.num_turns),
      ...(fields.structured_output === undefined ? {} : { structured: fields.structured_output }),
    };
    const result = resultOf(ok ? null : this.#failure(fields, text), end);
    this.#errorCode = '';
    return [...this.#denials(listOf(fields.permission_denials)), result];
  }

  #failure(fields: Fields, text: string) {
    return turnFailure({
      code: this.#errorCode,
      status: numberOf(fields.api_error_status),
      message: text || listOf(fields.errors).map(textOf).join('; '),
      retryAt: this.#retryAt,
      subtype: textOf(fields.subtype),
      terminalReason: textOf(fields.terminal_reason),
      startFailure: textOf(fields.startup_failure_reason),
    });
  }

  /**
   * Newer versions say what was used since the last result: the sum of these is the attempt's.
   * Older ones only have totals, which then are the process's own.
   */
  #use(fields: Fields): Usage {
    const since = fields.model_usage_since_last_result;
    this.#usage = isFields(since)
      ? sumUsage([this.#usage, ...modelUsages(since)])
      : {
          ...sumUsage(modelUsages(fieldsOf(fields.modelUsage))),
          costUsd: numberOf(fields.total_cost_usd),
        };
    return this.#usage;
  }
}

function retry(fields: Fields): AgentEvent {
  const code = textOf(fields.error);
  const status = numberOf(fields.error_status);
  const answer = status === 0 ? 'did not answer' : `answered ${status}`;
  const message = `The service ${answer}${code === '' ? '' : ` (${clip(code, 100)})`}.`;
  return {
    type: 'retry',
    attempt: numberOf(fields.attempt),
    max: numberOf(fields.max_retries),
    delayMs: numberOf(fields.retry_delay_ms),
    failure: serviceFailure({ code, status, message }),
  };
}

function blockEvents(block: Fields, main: boolean): Events {
  switch (block.type) {
    case 'text':
      return main ? [{ type: 'text', text: textOf(block.text) }] : activity('sub-agent');
    case 'thinking':
      return [{ type: 'thinking' }];
    case 'tool_use':
      return [toolStart(block.id, block.name, block.input)];
    default:
      return [];
  }
}

function toolResults(fields: Fields): Events {
  return contentOf(fields)
    .filter((block) => block.type === 'tool_result')
    .map((block) => ({
      type: 'tool.end',
      id: textOf(block.tool_use_id),
      ok: block.is_error !== true,
      output: clip(textOf(block.content) || joinText(listOf(block.content).map(fieldsOf))),
    }));
}

/** The blocks of a message. */
export function contentOf(fields: Fields): readonly Fields[] {
  return listOf(fieldsOf(fields.message).content).map(fieldsOf);
}

function joinText(content: readonly Fields[]): string {
  return content.map((block) => textOf(block.text)).join('');
}

/** Tokens read from or written to a cache count as input. */
function modelUsages(models: Fields): readonly Usage[] {
  return Object.values(models)
    .map(fieldsOf)
    .map((model) => ({
      costUsd: numberOf(model.costUSD),
      inputTokens:
        numberOf(model.inputTokens) +
        numberOf(model.cacheReadInputTokens) +
        numberOf(model.cacheCreationInputTokens),
      outputTokens: numberOf(model.outputTokens),
    }));
}

/** A long answer has thousands of these: one value serves all. */
const STREAM_EVENT: Events = [{ type: 'activity', what: 'stream_event' }];

const LIMIT_STATUS: ReadonlyMap<string, 'allowed' | 'warning' | 'rejected'> = new Map([
  ['allowed', 'allowed'],
  ['allowed_warning', 'warning'],
  ['rejected', 'rejected'],
]);
