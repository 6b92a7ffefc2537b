/** What the model does, with the tools that OpenCode gives it. */

import { type Step, tool } from '../support/messages-api.ts';

/** The model writes a file, named relative to the CLI's working directory. */
export function write(filePath: string, content: string): Step {
  return tool('write', { filePath, content });
}

/** The model runs a command. */
export function bash(command: string): Step {
  return tool('bash', { command, description: 'scripted' });
}

/** The model runs a command that rings a bell and then does not end by itself. */
export function bashForever(bell: string): Step {
  return bash(`node -e "fetch('{{api}}/ring/${bell}'); setTimeout(() => {}, 600000)"`);
}
