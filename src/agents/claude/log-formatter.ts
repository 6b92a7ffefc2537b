/**
 * Formats Claude Code's stream line by line, in the words of claude-code-orchestrator: text appears as
 * it is written, not when the message is whole.
 */

import type { Said } from '../../model/effect.ts';
import { type Fields, fieldsOf, listOf, numberOf, parseFields, textOf } from '../json-fields.ts';
import type { LogFormatter } from '../log-formatter.ts';
import { completeText, initText, resultText, toolText } from '../log-formatter.ts';
import { contentOf } from './stream.ts';

export class StreamFormatter implements LogFormatter {
  readonly #names = new Map<string, string>();

  format(chatter: Said): string {
    if (chatter.from === 'agent') return '';
    const fields = chatter.from === 'stdout' ? parseFields(chatter.text) : null;
    return fields === null ? `${chatter.text}\n` : this.#format(fields);
  }

  #format(fields: Fields): string {
    switch (fields.type) {
      case 'system':
        if (fields.subtype !== 'init') return '';
        return initText(textOf(fields.session_id), textOf(fields.model));
      case 'stream_event':
        return partText(fieldsOf(fields.event));
      case 'assistant':
        return contentOf(fields)
          .map((block) => this.#toolUse(block))
          .join('');
      case 'user':
        return this.#toolResult(fields);
      case 'result':
        return completeText(numberOf(fields.duration_ms), textOf(fields.result));
      default:
        return '';
    }
  }

  #toolUse({ type, id, name, input }: Fields): string {
    if (type !== 'tool_use') return '';
    this.#names.set(textOf(id), textOf(name));
    return toolText(textOf(name) || 'unknown', input);
  }

  /** What a program printed, else the first answer of the message. */
  #toolResult(fields: Fields): string {
    const answer = contentOf(fields).find(({ type }) => type === 'tool_result');
    const tool = this.#names.get(textOf(answer?.tool_use_id)) ?? '';
    const printed = textOf(fieldsOf(fields.tool_use_result).stdout);
    return resultText(printed || answerText(answer?.content), tool);
  }
}

function partText(event: Fields): string {
  switch (event.type) {
    case 'content_block_delta': {
      const { type, text } = fieldsOf(event.delta);
      return type === 'text_delta' ? textOf(text) : '';
    }
    case 'content_block_stop':
      return '\n';
    case 'message_stop':
      return '\n---\n';
    default:
      return '';
  }
}

function answerText(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = listOf(content).flatMap((part) => {
    const text = typeof part === 'string' ? part : fieldsOf(part).text;
    return typeof text === 'string' ? [text] : [];
  });
  return parts.join('\n');
}
