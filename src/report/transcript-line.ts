/** One line of a transcript as a person reads it. */

import type { AgentEvent } from '../model/agent-event.ts';
import { actionOf } from './action.ts';
import { brief, tail } from './clean.ts';

const SHOWN = 200;
const MOST_LINES = 400;
const MOST_CHARS = 40_000;

/** The line, or null where there is nothing to read. */
export function transcriptLine(event: AgentEvent): string | null {
  switch (event.type) {
    case 'session':
      return `[session] ${event.id}${event.model === undefined ? '' : ` (${event.model})`}`;
    case 'text':
      return tail(event.text, MOST_LINES, MOST_CHARS);
    case 'tool.start':
      return `[tool] ${actionOf(event) ?? event.name}`;
    case 'tool.end':
      return `[${event.ok ? 'ok' : 'error'}] ${brief(event.output, SHOWN)}`;
    case 'retry':
      return `[retry] ${event.attempt}/${event.max}: ${brief(event.failure.message, SHOWN)}`;
    case 'limit':
      return event.status === 'allowed' ? null : `[limit] ${event.status}`;
    case 'denied':
      return `[denied] ${event.tool}`;
    case 'warning':
      return `[warning] ${brief(event.text, SHOWN)}`;
    case 'result':
      return `[result] ${event.ok ? 'ok' : brief(event.failure?.message ?? 'failed', SHOWN)}`;
    default:
      return null;
  }
}
