/**
 * OpenCode's JSON lines (standard output) and those of our reporter (standard error, reporter.ts)
 * as AgentEvents.
 *
 *   S1. Nothing is reported twice: both streams report a tool, the first one counts as its start, and
 *       only standard output reports its end.
 *   S2. There is no line for the end. A step that does not end in tool calls is one, and so is an
 *       error; the last counts. A turn that is cut off has none.
 *   S3. Usage is of this process: every step says what it cost. The steps of sub-agents are known
 *       from the reporter only, those of the session itself from standard output only.
 *   S4. A wait of more than a minute is left to the engine: it ends the attempt with the time to
 *       come back. The CLI would sit there for hours, if the service says so.
 */

import type { AgentEvent } from '../../model/agent-event.ts';
import type { Failure } from '../../model/failure.ts';
import type { Parser } from '../agent.ts';
import { activity, type Events, resultOf, session, sumUsage, toolStart } from '../events.ts';
import { guessedFailure } from '../failure.ts';
import { clip, type Fields, fieldsOf, numberOf, parseFields, textOf } from '../json-fields.ts';
import { errorFailure } from './failure.ts';

export class StreamParser implements Parser {
  #session = '';
  #texts: string[] = [];
  #steps = 0;
  #usage = sumUsage([]);
  /** It gave a result. Until it is busy again, signs of life do not mean that it continues. */
  #isOver = false;
  readonly #began = new Set<string>();

  stdout(line: string): Events {
    const fields = parseFields(line);
    const id = textOf(fields?.sessionID);
    if (fields === null || id === '') return [];
    this.#isOver = false;
    return [...this.#begin(id, {}), ...this.#line(fields)];
  }

  stderr(line: string): Events {
    const fields = parseFields(line);
    const type = textOf(fields?.landfast);
    if (fields === null || type === '') return [];
    const id = textOf(fields.session);
    const isOwn = id === this.#session;
    if (type === 'status' && fields.status === 'busy') this.#isOver = false;
    switch (type) {
      case 'session':
        return this.#begin(id, fields);
      case 'tool':
        return isOwn ? this.#toolStart(fields) : activity('sub-agent');
      case 'step':
        return isOwn ? this.#sign('step') : this.#spend(fields);
      case 'retry':
        return isOwn ? this.#retry(fields) : activity('retry');
      default:
        return this.#sign(type);
    }
  }

  #sign(what: string): Events {
    return this.#isOver ? [] : activity(what);
  }

  /** The first session is the attempt's own; those of sub-agents come later. */
  #begin(id: string, fields: Fields): Events {
    if (this.#session !== '' || id === '') return this.#session === id ? [] : activity('session');
    this.#session = id;
    return [session(id, fields.model, fields.cwd)];
  }

  #line(fields: Fields): Events {
    const part = fieldsOf(fields.part);
    switch (fields.type) {
      case 'step_start':
        this.#texts = [];
        return activity('step_start');
      case 'text':
        this.#texts.push(textOf(part.text));
        return [{ type: 'text', text: textOf(part.text) }];
      case 'reasoning':
        return [{ type: 'thinking' }];
      case 'tool_use':
        return this.#toolUse(part);
      case 'step_finish':
        return this.#stepEnd(part);
      case 'error': {
        const failure = errorFailure(fieldsOf(fields.error), numberOf(fields.timestamp));
        return [this.#failed(failure)];
      }
      default:
        return activity(fields.type);
    }
  }

  #toolStart({ id, name, input }: Fields): Events {
    if (this.#began.has(textOf(id))) return activity('tool');
    this.#began.add(textOf(id));
    return [toolStart(id, clip(textOf(name), 200), input)];
  }

  #toolUse(part: Fields): Events {
    const state = fieldsOf(part.state);
    const id = textOf(part.callID);
    const refused = refusedTool(part);
    const start = this.#toolStart({ id, name: part.tool, input: state.input });
    const output = clip(textOf(state.output) || textOf(state.error));
    const exit = numberOf(fieldsOf(state.metadata).exit);
    const ok = state.status === 'completed' && exit === 0 && refused === null;
    return [
      ...start.filter(({ type }) => type === 'tool.start'),
      ...(refused === null ? [] : [{ type: 'denied', tool: refused, id } as const]),
      { type: 'tool.end', id, ok, output },
    ];
  }

  #stepEnd(part: Fields): Events {
    this.#steps += 1;
    const spent = this.#spend(part);
    const reason = textOf(part.reason);
    if (GOES_ON.has(reason)) return spent;
    if (reason !== 'stop') return [...spent, this.#failed(badEnd(reason))];
    this.#isOver = true;
    const text = this.#texts.join('\n');
    return [...spent, resultOf(null, { text, usage: this.#usage, turns: this.#steps })];
  }

  #spend({ cost, tokens }: Fields): Events {
    const { input, output, reasoning, cache } = fieldsOf(tokens);
    const { read, write } = fieldsOf(cache);
    const spent = {
      costUsd: numberOf(cost),
      inputTokens: numberOf(input) + numberOf(read) + numberOf(write),
      outputTokens: numberOf(output) + numberOf(reasoning),
    };
    this.#usage = sumUsage([this.#usage, spent]);
    return [{ type: 'usage', usage: this.#usage }];
  }

  #retry({ message, attempt, delayMs, next }: Fields): Events {
    const failure = guessedFailure(textOf(message) || 'The service did not answer.');
    const wait = Math.max(0, numberOf(delayMs));
    const retryAt = numberOf(next);
    if (wait > MAX_WAIT_MS && retryAt > 0) {
      const limited: Failure = { kind: 'rate-limited', message: failure.message, retryAt };
      return [{ type: 'limit', status: 'rejected', resetsAt: retryAt }, this.#failed(limited)];
    }
    return [{ type: 'retry', attempt: numberOf(attempt), max: MAX_TRIES, delayMs: wait, failure }];
  }

  #failed(failure: Failure): AgentEvent {
    this.#isOver = true;
    return resultOf(failure, { text: '', usage: this.#usage, turns: this.#steps });
  }
}

/** The name of a tool that was refused: by a rule, for lack of a person to ask, or as unknown. */
function refusedTool(part: Fields): string | null {
  const state = fieldsOf(part.state);
  const name = clip(textOf(part.tool), 200);
  if (REFUSED.test(textOf(state.error))) return name;
  const { tool, error } = fieldsOf(state.input);
  const isAbsent = name === 'invalid' && /unavailable tool/i.test(textOf(error));
  return isAbsent && OWN_TOOLS.has(textOf(tool)) ? textOf(tool) : null;
}

function badEnd(reason: string): Failure {
  const message = BAD_ENDS.get(reason);
  if (message !== undefined) return { kind: 'permanent', message };
  const how = reason === '' ? '' : ` (${clip(reason, 100)})`;
  return { kind: 'transient', message: `The model’s answer broke off${how}.` };
}

const BAD_ENDS: ReadonlyMap<string, string> = new Map([
  ['length', 'The answer exceeded the model’s maximum length.'],
  ['content-filter', 'The service refused to answer (content filter).'],
]);

const MAX_WAIT_MS = 60_000;
/** How often the CLI asks again. */
const MAX_TRIES = 5;
const GOES_ON: ReadonlySet<string> = new Set(['tool-calls', 'unknown']);
const REFUSED = /rejected permission to use|specified a rule which prevents/i;
/** Tools that are absent only because a rule took them away. */
const OWN_TOOLS: ReadonlySet<string> = new Set([
  ...['bash', 'edit', 'write', 'patch', 'apply_patch', 'multiedit', 'read', 'glob', 'grep', 'list'],
  ...['task', 'webfetch', 'websearch', 'codesearch', 'todowrite', 'todoread', 'skill', 'lsp'],
]);
