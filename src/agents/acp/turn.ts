/**
 * An agent's updates on its work (`session/update`), as AgentEvents.
 *
 *   T1. An answer comes in pieces. They are reported as such, and once more whole at the end.
 *   T2. A tool begins once and ends once. It is reported when its input is known: before that it is
 *       `pending`, with an input that is empty or half of it.
 *   T3. A tool that is denied has ended: some agents say nothing more of it.
 *   T4. Money is counted over the whole session. Of a resumed one only what was added counts; where
 *       the agent did not report the sum before the prompt, the cost is unknown.
 */

import type { Usage } from '../../model/agent-event.ts';
import type { Failure } from '../../model/failure.ts';
import { denial, type Events, resultOf, toolStart } from '../events.ts';
import type { Fields } from '../json-fields.ts';
import { bounded, clip, fieldsOf, isFields, listOf, numberOf, textOf } from '../json-fields.ts';
import type { Asked } from './permission.ts';

interface Call {
  readonly id: string;
  /** All updates so far, merged. */
  fields: Fields;
  begun: boolean;
}

export class Turn {
  readonly #calls = new Map<string, Call>();
  readonly #ended = new Set<string>();
  #pieces: string[] = [];
  #message = '';
  #lastText = '';
  /** Cost of the session before the prompt; null where it is unknown. */
  #spentBefore: number | null;
  #usage: Usage | null = null;

  constructor(resumed: boolean) {
    this.#spentBefore = resumed ? null : 0;
  }

  /** Notes the cost of updates that precede the prompt. */
  recall(update: Fields): void {
    const cost = costOf(update);
    if (cost !== null) this.#spentBefore = cost;
  }

  /** The events of one update; none where it means nothing to us. */
  update(update: Fields): Events {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        return this.#text(update);
      case 'agent_thought_chunk':
        return [...this.#whole(), ...THINKING];
      case 'tool_call':
      case 'tool_call_update':
        return this.#tool(update);
      case 'usage_update':
        return this.#spent(costOf(update));
      default:
        return [];
    }
  }

  /** The tool that the agent asks permission for; enough is known to report it. */
  asked(toolCall: Fields): { readonly asked: Asked; readonly events: Events } {
    const call = this.#note(toolCall);
    const { kind, title } = call.fields;
    const asked = { id: call.id, ...namesOf({ kind, title }), paths: pathsOf(call.fields) };
    return { asked, events: this.#ended.has(call.id) ? [] : this.#begin(call) };
  }

  deny({ id, kind, title }: Asked): Events {
    return [denial(`${kind}: ${title}`, id), ...this.#finish(id, false, 'Denied.')];
  }

  /** Takes the tokens from the answer to the prompt. */
  count({ usage, _meta }: Fields): void {
    const told = fieldsOf(usage);
    const quota = fieldsOf(fieldsOf(fieldsOf(_meta).quota).token_count);
    const inputTokens = sum(told, INPUT_KEYS) + numberOf(quota.input_tokens);
    const outputTokens = sum(told, OUTPUT_KEYS) + numberOf(quota.output_tokens);
    if (inputTokens + outputTokens === 0) return;
    this.#usage = { costUsd: this.#usage?.costUsd ?? 0, inputTokens, outputTokens };
  }

  end(failure: Failure | null): Events {
    const events = this.#whole();
    const used = this.#usage === null ? {} : { usage: this.#usage };
    return [...events, resultOf(failure, { text: this.#lastText, ...used })];
  }

  #text({ content, messageId }: Fields): Events {
    const text = textOf(fieldsOf(content).text);
    const before = textOf(messageId) === this.#message ? [] : this.#whole();
    this.#message = textOf(messageId);
    if (text === '') return before;
    this.#pieces.push(text);
    return [...before, { type: 'text', text, delta: true }];
  }

  #whole(): Events {
    const text = this.#pieces.join('');
    this.#pieces = [];
    if (text === '') return [];
    this.#lastText = text;
    return [{ type: 'text', text }];
  }

  #tool(update: Fields): Events {
    const call = this.#note(update);
    if (call.id === '' || this.#ended.has(call.id)) return [];
    const { status } = update;
    const over = status === 'completed' || status === 'failed';
    // Some agents never say that a tool runs, only what it runs with.
    const filled = update.sessionUpdate === 'tool_call_update' && hasFields(update.rawInput);
    const begins = over || status === 'in_progress' || filled;
    return [
      ...(begins ? this.#begin(call) : []),
      ...(over ? this.#finish(call.id, status === 'completed', outputOf(call)) : []),
    ];
  }

  #note(told: Fields): Call {
    const id = textOf(told.toolCallId);
    const call = this.#calls.get(id) ?? { id, fields: {}, begun: false };
    const news = Object.entries(told).filter(([, value]) => value !== null && value !== undefined);
    call.fields = { ...call.fields, ...Object.fromEntries(news) };
    if (!this.#ended.has(id)) this.#calls.set(id, call);
    return call;
  }

  #begin(call: Call): Events {
    if (call.begun) return [];
    call.begun = true;
    const { rawInput, content, kind, title } = call.fields;
    const names = namesOf({ kind, title });
    const input = hasFields(rawInput) ? rawInput : { description: names.title, content };
    return [...this.#whole(), toolStart(call.id, names.kind, input)];
  }

  #finish(id: string, ok: boolean, output: string): Events {
    if (this.#ended.has(id)) return [];
    this.#calls.delete(id);
    this.#ended.add(id);
    return [{ type: 'tool.end', id, ok, output }];
  }

  #spent(cost: number | null): Events {
    if (cost === null || this.#spentBefore === null) return [];
    const costUsd = Math.max(0, cost - this.#spentBefore);
    this.#usage = { inputTokens: 0, outputTokens: 0, ...this.#usage, costUsd };
    return [{ type: 'usage', usage: this.#usage }];
  }
}

/** In dollars; null if the update has none. */
function costOf(update: Fields): number | null {
  const { amount, currency } = fieldsOf(update.cost);
  const told = update.sessionUpdate === 'usage_update' && currency === 'USD';
  return told && typeof amount === 'number' ? numberOf(amount) : null;
}

function namesOf({ kind, title }: Fields): { readonly kind: string; readonly title: string } {
  return { kind: clip(textOf(kind), 50) || 'other', title: clip(textOf(title), 200) };
}

function pathsOf({ locations, content }: Fields): readonly string[] {
  const named = [...listOf(locations), ...listOf(content)].map((part) => fieldsOf(part).path);
  return named.map(textOf).filter((path) => path !== '');
}

function outputOf({ fields: { content, rawOutput } }: Call): string {
  const texts = listOf(content).map((part) => textOf(fieldsOf(fieldsOf(part).content).text));
  const raw = fieldsOf(rawOutput);
  const words = [texts.join(''), rawOutput, raw.output, raw.error].map(textOf);
  const said = words.find((text) => text !== '');
  return clip(said ?? (hasFields(rawOutput) ? JSON.stringify(bounded(rawOutput)) : ''));
}

function hasFields(value: unknown): value is Fields {
  return isFields(value) && Object.keys(value).length > 0;
}

function sum(fields: Fields, keys: readonly string[]): number {
  return keys.reduce((total, key) => total + numberOf(fields[key]), 0);
}

/** A long thought has thousands of these: one value serves all. */
const THINKING: Events = [{ type: 'thinking' }];

/** Tokens read from or written to a cache count as input. */
const INPUT_KEYS = ['inputTokens', 'cachedReadTokens', 'cachedWriteTokens'];
const OUTPUT_KEYS = ['outputTokens', 'thoughtTokens'];
