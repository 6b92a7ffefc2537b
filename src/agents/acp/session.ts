/**
 * How a session is opened and set up for a job: where it works, its servers, model and mode.
 *
 *   S1. What the agent does not offer is refused by name, never left out.
 *   S2. The mode is one in which the agent asks before it acts, where it has one of such a name: the
 *       user's own setting may ask less than the task allows. Our answers do the rest (permission.ts).
 *   S3. Newer agents have their choices in `configOptions`, older ones in `modes` and `models`.
 */

import type { Job } from '../agent.ts';
import { clip, type Fields, fieldsOf, listOf, textOf } from '../json-fields.ts';

export interface Request {
  readonly method: string;
  readonly params: Fields;
}

/** Why a job cannot be done by this agent, as a sentence. */
export interface Refusal {
  readonly refusal: string;
}

/** The parameters by which a session is opened, new or not. */
export function sessionParams(
  { cwd, options }: Job,
  mcpCan: Fields,
): { readonly params: Fields } | Refusal {
  const mcpServers = [];
  for (const [name, server] of Object.entries(options.mcp)) {
    if ('url' in server) {
      if (mcpCan.http !== true) return { refusal: `It cannot use MCP server ${name} by its url.` };
      mcpServers.push({ type: 'http', name, url: server.url, headers: [] });
    } else {
      const [command, ...args] = server.command;
      const env = Object.entries(server.env).map(([key, value]) => ({ name: key, value }));
      mcpServers.push({ name, command, args, env });
    }
  }
  return { params: { cwd, mcpServers } };
}

/** What to set before the prompt, by what the agent said when it opened the session. */
export function settingsFor(
  job: Job,
  opened: Fields,
): { readonly requests: readonly Request[] } | Refusal {
  const requests: Request[] = [];
  const models = selector(opened, 'model');
  if (job.model !== null && job.model !== models?.current) {
    if (models === null) return { refusal: 'It does not let its model be chosen.' };
    if (!models.values.includes(job.model)) {
      const offer = clip(models.values.join(', '), 500);
      return { refusal: `It does not offer the model ${job.model}, but: ${offer}.` };
    }
    requests.push(models.choose(job.model));
  }
  const modes = selector(opened, 'mode');
  const mode = modeNames(job).find((name) => modes?.values.includes(name));
  if (modes !== null && mode !== undefined && mode !== modes.current) {
    requests.push(modes.choose(mode));
  }
  return { requests };
}

/** The model that the session has by itself, where the agent tells. */
export function currentModel(opened: Fields): string {
  return selector(opened, 'model')?.current ?? '';
}

/** The best first. A read task would rather plan than be in a mode that writes without asking. */
function modeNames({ permissions, readOnly }: Job): readonly string[] {
  return readOnly ? ['dontAsk', 'default', 'plan'] : [permissions, 'default'];
}

interface Selector {
  readonly current: string;
  readonly values: readonly string[];
  choose(value: string): Request;
}

function selector(opened: Fields, category: 'mode' | 'model'): Selector | null {
  const option = listOf(opened.configOptions)
    .map(fieldsOf)
    .find((candidate) => candidate.category === category && candidate.type === 'select');
  if (option !== undefined) {
    const method = 'session/set_config_option';
    const values = choices(option.options).map(({ value }) => textOf(value));
    const choose = (value: string) => ({ method, params: { configId: option.id, value } });
    return { current: textOf(option.currentValue), values, choose };
  }
  return category === 'mode' ? modesOf(opened) : modelsOf(opened);
}

/** They may stand in groups. */
function choices(options: unknown): readonly Fields[] {
  return listOf(options)
    .map(fieldsOf)
    .flatMap((option) => ('options' in option ? listOf(option.options).map(fieldsOf) : [option]));
}

function modesOf({ modes }: Fields): Selector | null {
  const { availableModes, currentModeId } = fieldsOf(modes);
  const values = listOf(availableModes).map((mode) => textOf(fieldsOf(mode).id));
  if (values.length === 0) return null;
  const choose = (modeId: string) => ({ method: 'session/set_mode', params: { modeId } });
  return { current: textOf(currentModeId), values, choose };
}

function modelsOf({ models }: Fields): Selector | null {
  const { availableModels, currentModelId } = fieldsOf(models);
  const values = listOf(availableModels).map((model) => textOf(fieldsOf(model).modelId));
  if (values.length === 0) return null;
  const choose = (modelId: string) => ({ method: 'session/set_model', params: { modelId } });
  return { current: textOf(currentModelId), values, choose };
}
