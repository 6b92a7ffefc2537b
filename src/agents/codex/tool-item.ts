/** The items of Codex's stream that are tools at work: commands, patches, MCP calls, searches. */

import type { AgentEvent } from '../../model/agent-event.ts';
import { bounded, clip, type Fields, fieldsOf, listOf, textOf } from '../json-fields.ts';

type ToolEnd = AgentEvent & { readonly type: 'tool.end' };

/** Whether the item is a tool's. */
export function isTool(item: Fields): boolean {
  return NAMES.has(textOf(item.type));
}

/** The tool's name, as users would name it. */
export function toolName(item: Fields): string {
  const name = NAMES.get(textOf(item.type)) ?? 'tool';
  if (item.type === 'mcp_tool_call') return clip(`mcp:${nameOf(item.server)}/${nameOf(item.tool)}`);
  return item.type === 'collab_tool_call' ? clip(nameOf(item.tool)) : name;
}

/** The tool begins. */
export function toolStart(item: Fields): AgentEvent {
  const { id, type, status, aggregated_output, exit_code, result, error, ...input } = item;
  return { type: 'tool.start', id: textOf(id), name: toolName(item), input: bounded(input) };
}

/** The tool is over. */
export function toolEnd(item: Fields): ToolEnd {
  const failed = item.status === 'failed' || item.status === 'declined';
  return { type: 'tool.end', id: textOf(item.id), ok: !failed, output: clip(outputOf(item)) };
}

/** Whether it did not run for want of a permission. */
export function wasDenied(item: Fields): boolean {
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
