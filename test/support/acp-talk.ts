/** An agent of the Agent Client Protocol in a test's hands: no process, only what is said. */

import { Conversation } from '../../src/agents/acp/conversation.ts';
import type { Job } from '../../src/agents/agent.ts';
import type { AgentEvent } from '../../src/model/agent-event.ts';
import type { Failure } from '../../src/model/failure.ts';
import { jobOf } from './job.ts';

/** A message that we send. */
export interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number };
}

/** What the agent says, what we have said to it, and what we took it for. */
export class Talk {
  readonly conversation: Conversation;
  readonly said: Message[] = [];
  readonly events: AgentEvent[] = [];

  constructor(part: Partial<Job> = {}) {
    this.conversation = new Conversation(jobOf(part));
    this.#listen();
  }

  tell(message: object): this {
    this.events.push(...this.conversation.stdout(JSON.stringify({ jsonrpc: '2.0', ...message })));
    this.#listen();
    return this;
  }

  /** The answer to our last request. */
  answer(result: unknown): this {
    return this.tell({ id: this.said.at(-1)?.id, result });
  }

  fail(error: object): this {
    return this.tell({ id: this.said.at(-1)?.id, error });
  }

  update(update: object): this {
    return this.tell({ method: 'session/update', params: { sessionId: 's1', update } });
  }

  /** Up to the prompt, with an agent that offers these. */
  begin(opened: object = {}, agentCapabilities: object = {}): this {
    return this.answer({ protocolVersion: 1, agentCapabilities }).answer({
      sessionId: 's1',
      ...opened,
    });
  }

  get meant(): readonly AgentEvent[] {
    return this.events.filter(({ type }) => type !== 'activity');
  }

  get methods(): readonly unknown[] {
    return this.said.map(({ method }) => method);
  }

  #listen(): void {
    this.said.push(...this.conversation.replies().map((line) => JSON.parse(line) as Message));
  }
}

/** The choices that an agent gives when it asks for leave. */
export const CHOICES = [
  { optionId: 'always', kind: 'allow_always' },
  { optionId: 'yes', kind: 'allow_once' },
  { optionId: 'never', kind: 'reject_always' },
  { optionId: 'no', kind: 'reject_once' },
];

/** The agent asks for leave to use a tool. */
export function permission(toolCall: object, options: unknown): object {
  const params = { sessionId: 's1', toolCall: { toolCallId: 't', ...toolCall }, options };
  return { id: 'p1', method: 'session/request_permission', params };
}

/** The failure it ended with. */
export function endOf({ events }: Talk): Failure | null {
  const result = events.at(-1);
  return result?.type === 'result' ? (result.failure ?? null) : null;
}
