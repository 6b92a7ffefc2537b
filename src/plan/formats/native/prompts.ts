/** Finds each task's prompt: in the task, in a file, or in a section of the body. */

import { type Place, type ProblemLog, quote } from '../../problem.ts';
import { LINE_BREAK, withoutBom } from '../../syntax/front-matter.ts';
import { entryOf, textOf, type YamlNode } from '../../syntax/yaml.ts';
import type { PlanInput } from '../format.ts';
import { taskNodes } from './checks.ts';
import { pathRefusal } from './values.ts';

/** In the order of the tasks; '' for a missing one, which is then in the log. */
export function promptsOf(
  root: YamlNode,
  input: Pick<PlanInput, 'directory' | 'read'>,
  sections: readonly Section[],
  log: ProblemLog,
): readonly string[] {
  return new PromptReader(input, sections, log).read(root);
}

class PromptReader {
  readonly #input: Pick<PlanInput, 'directory' | 'read'>;
  readonly #log: ProblemLog;
  readonly #sections: ReadonlyMap<string, Section>;
  readonly #used = new Set<string>();

  constructor(
    input: Pick<PlanInput, 'directory' | 'read'>,
    sections: readonly Section[],
    log: ProblemLog,
  ) {
    this.#input = input;
    this.#log = log;
    this.#sections = new Map(sections.map((section) => [section.title, section]));
  }

  read(root: YamlNode): readonly string[] {
    const prompts = taskNodes(root).map((task) => this.#promptOf(task));
    for (const { title, line } of this.#sections.values()) {
      if (this.#used.has(title)) continue;
      const remedy = '## is for the ids of tasks without a prompt; inside a prompt use ###';
      const message = `section ${quote(title)} belongs to no task without a prompt`;
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
      const message = `prompt_file: ${wrong.message ?? `${quote(path)} is not a path`}`;
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

/** A heading `## <task id>` in the body of a Markdown plan, and what follows it. */
export interface Section {
  readonly title: string;
  readonly text: string;
  /** The line of its heading in the file. */
  readonly line: number;
}

/** A section ends at the next heading of level one or two; headings in code fences do not count. */
export function sectionsOf(body: string, firstLine: number): readonly Section[] {
  const sections: { title: string; lines: string[]; line: number }[] = [];
  let isOpen = false;
  let fence: string | null = null;
  for (const [index, line] of body.split(LINE_BREAK).entries()) {
    fence = fenceAfter(line, fence);
    const heading = fence === null ? /^(#{1,2})[ \t]+(.*?)[ \t]*#*[ \t]*$/.exec(line) : null;
    if (heading === null) {
      if (isOpen) sections.at(-1)!.lines.push(line);
      continue;
    }
    isOpen = heading[1] === '##';
    if (!isOpen) continue;
    const title = heading[2]!.replace(/^`(.*)`$/, '$1');
    sections.push({ title, lines: [], line: firstLine + index });
  }
  return sections.map(({ title, lines, line }) => ({ title, text: lines.join('\n').trim(), line }));
}

/** The fence that is open after the line. */
function fenceAfter(line: string, open: string | null): string | null {
  const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
  if (mark === null) return open;
  const [, fence = '', info = ''] = mark;
  if (open === null) return fence.startsWith('`') && info.includes('`') ? null : fence;
  return fence.startsWith(open) && info.trim() === '' ? null : open;
}
