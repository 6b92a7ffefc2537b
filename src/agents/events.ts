/** The AgentEvents that every stream has, made of fields of unknown types. */

import type { AgentEvent, Usage } from '../model/agent-event.ts';
import type { Failure } from '../model/failure.ts';
import { bounded, clip, textOf } from './json-fields.ts';

export type Events = readonly AgentEvent[];
type EventOf<Type> = AgentEvent & { readonly type: Type };

export function activity(what: unknown): Events {
  return [{ type: 'activity', what: clip(textOf(what), 100) }];
}

/** A line of the stream without a meaning for us is a sign of life. */
export function orActivity(events: Events, what: unknown): Events {
  return events.length > 0 ? events : activity(what);
}

export function session(id: string, model: unknown, cwd?: unknown): AgentEvent {
  const [name, folder] = [textOf(model), textOf(cwd)];
  return { type: 'session', id, ...(name && { model: name }), ...(folder && { cwd: folder }) };
}

export function toolStart(id: unknown, name: unknown, input: unknown): AgentEvent {
  return { type: 'tool.start', id: textOf(id), name: textOf(name), input: bounded(input ?? null) };
}

export function denial(tool: unknown, id: string | undefined): AgentEvent {
  return { type: 'denied', tool: clip(textOf(tool), 200), ...(id !== undefined && { id }) };
}

/** The end of a turn; a failure of null is success. */
export function resultOf(
  failure: Failure | null,
  end: Omit<EventOf<'result'>, 'type' | 'ok' | 'failure'>,
): EventOf<'result'> {
  return { type: 'result', ok: failure === null, ...end, ...(failure && { failure }) };
}

export function sumUsage(usages: readonly Usage[]): Usage {
  const sum = (key: keyof Usage) => usages.reduce((total, usage) => total + usage[key], 0);
  return {
    costUsd: sum('costUsd'),
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
  };
}
