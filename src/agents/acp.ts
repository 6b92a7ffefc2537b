/**
 * Any program that speaks the Agent Client Protocol, version 1: JSON-RPC on standard input and
 * output, one message a line. The plan gives its argument vector (acp/conversation.ts talks to it).
 *
 *   C1. The session id is the program's own. It is reported only where the program can load a
 *       session again; one that cannot starts a new one.
 *   C2. Requests for permission are answered by the task's permissions (acp/permission.ts). What the
 *       program does without asking is up to its own configuration. Hence no `plan` and no `auto`:
 *       only the program could keep those promises, and its mode of that name may run commands.
 *   C3. A model that the program does not offer, or a server that it cannot use, fails the attempt
 *       before anything is asked of the model.
 *   C4. A program that never spoke the protocol has failed, even with exit code 0.
 *
 * It inherits no account of the user's: `pass_env` names the variables that it needs. The protocol
 * has no roles, rules for single tools, budgets, turn limits or schemas.
 */

import { UserError } from '../base/errors.ts';
import { Conversation } from './acp/conversation.ts';
import { EDITS } from './acp/permission.ts';
import type { AgentEnd, AgentOutcome, CommandLine, Job } from './agent.ts';
import { type Agent, NO_ABILITIES } from './agent.ts';
import { allowing, type ToolNames } from './denial.ts';
import { describeEnd, streamOutcome, succeeded } from './outcome.ts';

export const acp: Agent = {
  name: 'acp',
  can: {
    ...NO_ABILITIES,
    resume: true,
    prose: true,
    model: true,
    permissions: ['default', 'acceptEdits', 'dontAsk', 'bypassPermissions'],
    mcp: true,
    anyCommand: true,
  },
  program: {
    file: null,
    versionArgs: [],
    install:
      'any program that speaks the Agent Client Protocol on standard input and output; ' +
      'the plan names it (`command: [program, argument, …]`)',
    login: null,
    sessions: null,
  },
  command,
  parser: (job) => new Conversation(job),
  allow: (job, call) => allowing(job, call, TOOLS),
  outcome,
};

const TOOLS: ToolNames = { shell: 'execute', edits: [...EDITS], rules: false };

function command({ options }: Job): CommandLine {
  if (options.promptAs === 'argument') {
    throw new UserError('Agent acp gets its prompt in the conversation: leave out `prompt_as`.');
  }
  const [file = '', ...args] = options.command;
  return { file, args, stdin: '', env: {}, inherit: [], dialogue: true };
}

function outcome(end: AgentEnd): AgentOutcome {
  const isSilent = end.result === null && !end.spoke;
  if (!isSilent || !succeeded(end.exit)) return streamOutcome(end, null);
  const message = `The program did not speak the Agent Client Protocol. ${describeEnd(end)}`;
  return { ok: false, failure: { kind: 'permanent', message } };
}
