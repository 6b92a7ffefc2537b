/**
 * Which prompt each task gets: `prompt_file`, else `prompts/<id>.txt`, else `prompts/task-NNN.txt`,
 * else one that is made from its task file. Without any of them the directory is refused.
 */

import { quote } from '../../problem.ts';
import type { PlanInput } from '../format.ts';
import { pathRefusal } from '../native/values.ts';
import type { Word } from './fields.ts';
import type { DirectoryLogs } from './logs.ts';
import type { Manifest } from './manifest.ts';
import type { Order } from './order.ts';
import { buildPrompt, type Contract, contractFiles, type PromptParts } from './prompt.ts';
import { readSkills } from './skills.ts';
import type { CpoTask } from './task.ts';

export interface TaskPrompt {
  readonly prompt: string;
  readonly title: string;
}

const MAX_CONTRACT = 64 * 1024;

/** The prompt and the title of each task, by id. */
export function readPrompts(
  tasks: readonly CpoTask[],
  around: { readonly input: PlanInput; readonly order: Order; readonly manifest: Manifest },
  logs: DirectoryLogs,
): ReadonlyMap<string, TaskPrompt> {
  const { input, order, manifest } = around;
  const context = input.read('context.md') ?? '';
  const skillsOf = readSkills(input);
  const prompts = tasks.map((task): [string, TaskPrompt] => {
    const agent = task.entry.agent ?? task.file?.agent?.text ?? '';
    const component = task.file?.component ?? task.entry.component;
    const title = task.file?.title ?? component ?? manifest.title ?? task.id;
    const given = task.file?.skills ?? [];
    const parts: PromptParts = {
      task,
      title,
      agent,
      deps: [...(order.get(task.id) ?? [])],
      skills: given.length > 0 ? given : skillsOf(agent),
      context,
      contracts: readContracts(task, input),
      directory: input.directory,
    };
    return [task.id, { title, prompt: promptOf(parts, input, logs) }];
  });
  return new Map(prompts);
}

function promptOf(parts: PromptParts, input: PlanInput, logs: DirectoryLogs): string {
  const { task } = parts;
  const log = logs.of('manifest.json');
  const named = task.entry.promptFile;
  const paths = named === null ? promptPaths(task.id) : [named.text];
  const refusal = named === null ? null : pathRefusal(named.text);
  const path = refusal === null ? paths.find((one) => input.read(one) !== null) : undefined;
  if (path !== undefined) {
    const text = input.read(path) ?? '';
    if (text.trim() === '') logs.of(path).error({ line: 1, column: 1 }, 'the prompt is empty');
    return `${text}${contractFiles(parts)}`;
  }
  if (named !== null) {
    const why = refusal?.message ?? `prompt_file ${quote(named.text)} cannot be read`;
    log.error(named.at, `${task.id}: ${why}`, 'name a file below the directory');
  } else if (task.file === null) {
    const message = `${task.id} has neither a prompt nor a task file`;
    log.error(task.entry.at, message, `write ${paths[0]}, or tasks/${task.id}.md to make it from`);
  }
  return buildPrompt(parts);
}

function promptPaths(id: string): readonly string[] {
  const [number] = /^task-\d+/i.exec(id) ?? [];
  const names = [id, ...(number === undefined ? [] : [number])];
  return [...new Set(names)].map((name) => `prompts/${name}.txt`);
}

function readContracts(task: CpoTask, input: PlanInput): readonly Contract[] {
  return (task.file?.contracts ?? []).flatMap((word) => {
    const contract = readContract(word, input);
    if (typeof contract !== 'string') return [contract];
    const remedy = 'name it relative to the directory: contracts/types.py';
    task.file?.log.warning(word.at, `contract ${quote(word.text)} ${contract}`, remedy);
    return [];
  });
}

/** A contract, named relative to the directory, tasks/ or the repository; else what is wrong. */
function readContract({ text: given }: Word, input: PlanInput): Contract | string {
  const path = given.replace(/^(?:\.\.?\/)+/, '');
  if (pathRefusal(path) !== null) return 'lies outside of the repository';
  const prefix = `${input.directory}/`;
  const own = path.startsWith(prefix) ? path.slice(prefix.length) : path;
  const text = input.read(own);
  if (text === null) return 'is missing';
  return { path: own, text: text.length > MAX_CONTRACT ? null : text };
}
