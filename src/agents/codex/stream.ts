/**
 * Codex's output, line by line, as AgentEvents: the stream on standard output, the log beside it.
 *
 *   S1. Usage is this attempt's. The stream's own count goes over the whole thread, so where a
 *       session continues, only the log's counts are used; without them nothing is claimed.
 *   S2. An error is not the end: the CLI continues by itself. But a wait that may last (a limit, a lost
 *       network) is also reported as a result, so that an agent which stays silent is ended and the
 *       engine does the waiting. Whatever comes after such a result counts instead of it.
 *   S3. An attempt in which every command failed for lack of a sandbox has not succeeded.
 */

import type { AgentEvent, Usage } from '../../model/agent-event.ts';
import type { Failure } from '../../model/failure.ts';
import type { Job, Parser } from '../agent.ts';
import { activity, type Events, resultOf, session, sumUsage, toolStart } from '../events.ts';
import type { Fields } from '../json-fields.ts';
import { clip, fieldsOf, listOf, numberOf, parseFields, textOf } from '../json-fields.ts';
import { serviceFailure } from './failure.ts';

type Result = AgentEvent & { readonly type: 'result' };
type ToolEnd = AgentEvent & { readonly type: 'tool.end' };

export class StreamParser implements Parser {
  readonly #job: Job;
  readonly #open = new Set<string>();
  #text = '';
  #waits = 0;
  #end: Result | null = null;
  /** What the log has counted, and what the stream says of a thread that began with us. */
  #counted: Usage | null = null;
  #total: Usage | null = null;
  #status: number | null = null;
  #now: number | null = null;
  #sandboxError = '';
  #didSomething = false;

  constructor(job: Job) {
    this.#job = job;
  }

  stdout(line: string): Events {
    const fields = parseFields(line);
    if (fields === null) return [];
    switch (fields.type) {
      case 'thread.started':
        return started(fields);
      case 'item.started':
        return this.#started(fieldsOf(fields.item));
      case 'item.completed':
        return this.#completed(fieldsOf(fields.item));
      case 'turn.completed':
        return this.#completeTurn(fields);
      case 'turn.failed':
        return this.#finish(this.#failure(fieldsOf(fields.error).message));
      case 'error':
        return typeof fields.message === 'string' ? this.#error(fields) : [];
      default:
        // Other programs write JSON with a type, too.
        return /^(?:thread|turn|item)\./.test(textOf(fields.type)) ? activity(fields.type) : [];
    }
  }

  /** Words for people give no event; the end of them is judged with the exit. */
  stderr(line: string): Events {
    const entry = parseLogLine(line);
    if (entry === null) return [];
    if (Number.isFinite(entry.at)) this.#now = entry.at;
    if (entry.name === 'api_request') this.#status = statusOf(entry);
    const used = usageOf(entry);
    if (used !== null) return this.#count(used);
    return this.#end === null ? activity(entry.name) : [];
  }

  #started(item: Fields): Events {
    if (!isTool(item)) return activity(item.type);
    this.#open.add(textOf(item.id));
    return [itemStart(item)];
  }

  #completed(item: Fields): Events {
    switch (item.type) {
      case 'agent_message':
        this.#text = textOf(item.text);
        return [{ type: 'text', text: this.#text }];
      case 'reasoning':
        return [{ type: 'thinking' }];
      case 'error':
        return [{ type: 'warning', text: clip(textOf(item.message)) }];
      default:
        return isTool(item) ? this.#toolEnded(item) : activity(item.type);
    }
  }

  /** A tool that finishes at once has no start of its own. */
  #toolEnded(item: Fields): Events {
    const start = this.#open.delete(textOf(item.id)) ? [] : [itemStart(item)];
    const end = itemEnd(item);
    this.#didSomething ||= end.ok;
    const denied: Events = [{ type: 'denied', tool: toolName(item), id: end.id }];
    return [...start, ...(wasDenied(item) ? denied : []), end, ...this.#sandboxWarning(end)];
  }

  #sandboxWarning({ ok, output }: ToolEnd): Events {
    if (ok || this.#sandboxError !== '' || !output.startsWith('bwrap: ')) return [];
    this.#sandboxError = `${NO_SANDBOX} ${clip(output.split('\n')[0] ?? '', 300)}`;
    return [{ type: 'warning', text: this.#sandboxError }];
  }

  /** Every error of a request comes here; the last one comes again as the turn's failure. */
  #error(fields: Fields): Events {
    const message = textOf(fields.message);
    const [, attempt, max, reason] = RECONNECTING.exec(message) ?? [];
    if (attempt !== undefined) {
      const failure = this.#failure(reason);
      return this.#retry(Number(attempt), Number(max), failure, failure.kind === 'rate-limited');
    }
    const waiting = WAITING.exec(message);
    if (waiting === null) return [{ type: 'warning', text: clip(message) }];
    this.#waits += 1;
    const words = `No network. ${clip(waiting[1] ?? '', 500)}`;
    return this.#retry(this.#waits, 0, { kind: 'transient', message: words }, true);
  }

  #retry(attempt: number, max: number, failure: Failure, mayLast: boolean): Events {
    const retry: AgentEvent = { type: 'retry', attempt, max, delayMs: 0, failure };
    if (!mayLast) return [retry];
    return [retry, resultOf(failure, { text: this.#text, ...this.#usage() })];
  }

  #completeTurn(fields: Fields): Events {
    if (this.#job.resume === null) this.#total = totalOf(fieldsOf(fields.usage));
    if (this.#sandboxError !== '' && !this.#didSomething) {
      return this.#finish({ kind: 'permanent', message: this.#sandboxError });
    }
    return this.#job.options.schema === null ? this.#finish(null) : this.#finishWithAnswer();
  }

  /** The service makes the answer fit the schema; text that is not JSON has slipped through. */
  #finishWithAnswer(): Events {
    try {
      return this.#finish(null, { structured: JSON.parse(this.#text) });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      const message = 'The agent’s answer is not in the form that was asked for.';
      return this.#finish({ kind: 'schema', message });
    }
  }

  #failure(message: unknown): Failure {
    return serviceFailure({ message: textOf(message), status: this.#status, now: this.#now });
  }

  #finish(failure: Failure | null, answer: { readonly structured?: unknown } = {}): Events {
    const end = resultOf(failure, { text: this.#text, ...answer, ...this.#usage() });
    this.#end = end;
    return [end];
  }

  /** The log comes through another pipe: a count may follow the turn's end, which then changes. */
  #count(used: Usage): Events {
    this.#counted = this.#counted === null ? used : sumUsage([this.#counted, used]);
    if (this.#end === null) return [{ type: 'usage', usage: this.#counted }];
    this.#end = { ...this.#end, ...this.#usage() };
    return [this.#end];
  }

  #usage(): { readonly usage?: Usage } {
    const known = this.#counted ?? this.#total;
    return known === null ? {} : { usage: larger(known, this.#total ?? known) };
  }
}

function started({ thread_id }: Fields): Events {
  const id = textOf(thread_id);
  return id === '' ? activity('thread.started') : [session(id, '')];
}

function statusOf(entry: LogLine): number | null {
  const status = Number(entry.field('http.response.status_code'));
  return status > 0 ? status : null;
}

function usageOf(entry: LogLine): Usage | null {
  const [input, output] = ['input_token_count', 'output_token_count'].map(entry.field);
  if (entry.name !== 'sse_event' || !input) return null;
  return { costUsd: 0, inputTokens: Number(input) || 0, outputTokens: Number(output) || 0 };
}

function totalOf({ input_tokens, output_tokens }: Fields): Usage {
  return { costUsd: 0, inputTokens: numberOf(input_tokens), outputTokens: numberOf(output_tokens) };
}

/** The log includes reviews; the stream includes what the log has not reported yet. */
function larger(a: Usage, b: Usage): Usage {
  return {
    costUsd: 0,
    inputTokens: Math.max(a.inputTokens, b.inputTokens),
    outputTokens: Math.max(a.outputTokens, b.outputTokens),
  };
}

const RECONNECTING = /^Reconnecting\.\.\. (\d+)\/(\d+)(?: \((.*)\))?$/s;
const WAITING = /^Reconnecting\.\.\. waiting for network(?: \((.*)\))?$/s;

const NO_SANDBOX =
  'Codex could not set up its sandbox, so its commands do not run. Let this machine create user ' +
  'namespaces (and install bubblewrap), or put the agent into another fence (sandbox: require) ' +
  'and give it the permissions bypassPermissions.';

/** Whether the item is a tool at work: a command, a patch, an MCP call, a search. */
function isTool(item: Fields): boolean {
  return NAMES.has(textOf(item.type));
}

/** The tool's name, as users would name it. */
function toolName(item: Fields): string {
  const name = NAMES.get(textOf(item.type)) ?? 'tool';
  if (item.type === 'mcp_tool_call') return clip(`mcp:${nameOf(item.server)}/${nameOf(item.tool)}`);
  return item.type === 'collab_tool_call' ? clip(nameOf(item.tool)) : name;
}

function itemStart(item: Fields): AgentEvent {
  const { id, type, status, aggregated_output, exit_code, result, error, ...input } = item;
  return toolStart(id, toolName(item), input);
}

function itemEnd(item: Fields): ToolEnd {
  const failed = item.status === 'failed' || item.status === 'declined';
  return { type: 'tool.end', id: textOf(item.id), ok: !failed, output: clip(outputOf(item)) };
}

/** Whether it did not run because it lacked permission. */
function wasDenied(item: Fields): boolean {
  return item.status === 'declined' || NEEDS_APPROVAL.test(textOf(fieldsOf(item.error).message));
}

function outputOf(item: Fields): string {
  const error = textOf(fieldsOf(item.error).message);
  const content = listOf(fieldsOf(item.result).content).map(fieldsOf);
  return (
    textOf(item.aggregated_output) || error || content.map(({ text }) => textOf(text)).join('')
  );
}

function nameOf(value: unknown): string {
  return textOf(value) || 'unknown';
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['command_execution', 'shell'],
  ['file_change', 'apply_patch'],
  ['mcp_tool_call', 'mcp'],
  ['web_search', 'web_search'],
  ['collab_tool_call', 'collab'],
]);

const NEEDS_APPROVAL = /requires approval|approval review|rejected|cancelled/i;

/**
 * The value of RUST_LOG. It makes Codex log its requests on standard error:
 *
 *   2026-11-15T23:29:22.069046Z  INFO codex_otel.trace_safe: event.name="codex.api_request" …
 *
 * The log has what the stream lacks: tokens of this attempt alone, the HTTP status, the time of day,
 * and signs of life during a request. Nothing depends on it alone. Only the part that holds no
 * prompt, answer or account is asked for. Programs started by the agent see the variable, too, so it
 * begins with their usual level.
 */
export const LOG_FILTER = 'error,codex_otel.trace_safe=info';

interface LogLine {
  /** When it was written (ms since 1970); NaN where that cannot be read. */
  readonly at: number;
  readonly name: string;
  /** The value of a field, `''` where it has none. */
  field(key: string): string;
}

function parseLogLine(line: string): LogLine | null {
  const found = ENTRY.exec(line.slice(0, MAX_LINE));
  if (found === null) return null;
  const [, time = '', name = '', rest = ''] = found;
  return { at: Date.parse(time), name, field: (key) => fieldOf(rest, key) };
}

function fieldOf(rest: string, key: string): string {
  const start = rest.indexOf(` ${key}=`);
  if (start < 0) return '';
  const value = rest.slice(start + key.length + 2);
  return /^"([^"]*)"/.exec(value)?.[1] ?? /^\S*/.exec(value)?.[0] ?? '';
}

const ENTRY = /^(\S+Z) +INFO codex_otel\.trace_safe: .*?\bevent\.name="(?:codex\.)?([\w.]+)"(.*)$/;
const MAX_LINE = 4000;
