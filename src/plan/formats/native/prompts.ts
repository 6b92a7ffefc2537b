/** Finds each task's prompt: in the task, in a file, or in a section of the body. */

import { withoutBom } from '../../front-matter.ts';
import { type Place, type ProblemLog, quote } from '../../problem.ts';
import { entryOf, type YamlNode } from '../../yaml-source.ts';
import type { PlanInput } from '../format.ts';
import type { Section } from './sections.ts';
import { taskNodes, textOf } from './tree.ts';
import { pathRefusal } from './values.ts';

/** The prompts in the order of the tasks; '' where there is none, which is then in the log. */
export function promptsOf(
  root: YamlNode,
  input: PlanInput,
  sections: readonly Section[],
  log: ProblemLog,
): readonly string[] {
  return new PromptReader(input, sections, log).read(root);
}

class PromptReader {
  readonly #input: PlanInput;
  readonly #log: ProblemLog;
  readonly #sections: ReadonlyMap<string, Section>;
  readonly #used = new Set<string>();

  constructor(input: PlanInput, sections: readonly Section[], log: ProblemLog) {
    this.#input = input;
    this.#log = log;
    this.#sections = new Map(sections.map((section) => [section.title, section]));
  }

  read(root: YamlNode): readonly string[] {
    const prompts = taskNodes(root).map((task) => this.#promptOf(task));
    for (const { title, line } of this.#sections.values()) {
      if (this.#used.has(title)) continue;
      const remedy = '## is for the ids of tasks without a prompt; inside a prompt use ###';
      const message = `section ${quote(title)} is the prompt of no task`;
      this.#log.warning({ line, column: 1 }, message, remedy);
    }
    return prompts;
  }

  #promptOf(task: YamlNode): string {
    if (task.kind !== 'map') return '';
    const given = entryOf(task, 'prompt');
    const file = entryOf(task, 'prompt_file');
    if (given !== undefined && file !== undefined) {
      this.#log.error(file.keyAt, 'a task has prompt or prompt_file, not both', 'remove one');
    }
    if (given !== undefined) return textOf(given.value) ?? '';
    if (file !== undefined) return this.#fileText(textOf(file.value), file.value.at);
    return this.#sectionText(textOf(entryOf(task, 'id')?.value), task.at);
  }

  #fileText(path: string | undefined, at: Place): string {
    if (path === undefined) return ''; // Not text: the schema has said so.
    const isAbsolute = /^(?:[\\/~]|[A-Za-z]:)/.test(path);
    const fromRoot = isAbsolute ? path : `${this.#input.directory || '.'}/${path}`;
    const wrong = pathRefusal(fromRoot) && pathRefusal(path); // Below the plan's folder is fine.
    if (wrong !== null) {
      const message = `prompt_file: ${wrong.message ?? `${quote(path)} is no path`}`;
      this.#log.error(at, message, "name a file in the repository, relative to the plan's folder");
      return '';
    }
    const content = this.#input.read(path);
    if (content === null || content.trim() === '' || content.includes('\0')) {
      const what = content === null ? 'cannot be read' : 'has no text in it';
      this.#log.error(
        at,
        `prompt_file: ${quote(path)} ${what}`,
        "it is relative to the plan's folder",
      );
      return '';
    }
    return withoutBom(content).replaceAll('\r\n', '\n').trim();
  }

  #sectionText(id: string | undefined, at: Place): string {
    const section = id === undefined ? undefined : this.#sections.get(id);
    if (section !== undefined) this.#used.add(section.title);
    if (section !== undefined && section.text !== '') return section.text;
    const below = this.#sections.size > 0 ? `, or text below a heading ## ${id}` : '';
    const remedy = `add prompt or prompt_file${below}`;
    this.#log.error(at, `task ${id === undefined ? '' : `${quote(id)} `}has no prompt`, remedy);
    return '';
  }
}
