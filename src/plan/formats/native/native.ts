/**
 * Landfast's own plan: a YAML file, or Markdown whose front matter is that YAML. In Markdown a
 * section `## <task id>` of the body is the prompt of a task that has no other.
 */

import type { Plan } from '../../../model/plan.ts';
import { type Place, ProblemLog, quote, START } from '../../problem.ts';
import {
  type FrontMatter,
  LINE_BREAK,
  markerIn,
  splitFrontMatter,
  withoutBom,
} from '../../syntax/markdown.ts';
import { readObject } from '../../syntax/object.ts';
import { entryOf, plainValue, readYaml, textOf, type YamlNode } from '../../syntax/yaml.ts';
import { reportIssues } from '../../syntax/zod-problems.ts';
import {
  type ParsedPlan,
  type PlanFormat,
  type PlanInput,
  type SourceFile,
  stemOf,
} from '../format.ts';
import { checkPlan, taskNodes } from './checks.ts';
import { lower } from './lower.ts';
import { nativeSchema } from './schema.ts';
import { pathRefusal } from './values.ts';

export const native: PlanFormat = {
  name: 'native',
  isWhole: true,
  marker: 'a key landfast at the top of the YAML, or of the front matter',
  detect,
  parse,
};

const MARKER = /^(?:\{\s*)?(["']?)landfast\1\s*:/m;

function detect(file: SourceFile): Place | null {
  const text = withoutBom(file.text);
  return markerIn(splitFrontMatter(text), text, MARKER);
}

function parse(input: PlanInput): ParsedPlan {
  const { path } = input.file;
  const log = new ProblemLog(path);
  const text = withoutBom(input.file.text);
  const front = splitFrontMatter(text);
  const root = readRoot(path, text, front, log);
  const sections = front.kind === 'closed' ? sectionsOf(front.body, front.bodyLine) : [];
  return result(root && planOf({ root, sections, name: stemOf(path) || 'plan' }, input, log), log);
}

/** Reads a plan that is an object. `name` stands for it in problems, and for a name it lacks. */
export function parseObject(plan: unknown, name: string, input: Surroundings): ParsedPlan {
  const log = new ProblemLog(name);
  const root = readObject(plan, log);
  if (root !== null && root.kind !== 'map')
    log.error(root.at, NO_MAPPING, 'begin with landfast: 1');
  return result(root && planOf({ root, sections: [], name }, input, log), log);
}

type Surroundings = Omit<PlanInput, 'file'>;

interface Read {
  readonly root: YamlNode;
  readonly sections: readonly Section[];
  readonly name: string;
}

function planOf({ root, sections, name }: Read, input: Surroundings, log: ProblemLog): Plan | null {
  if (root.kind !== 'map') return null;
  const parsed = nativeSchema.safeParse(plainValue(root));
  if (!parsed.success) reportIssues(parsed.error.issues, nativeSchema, root, log);
  const prompts = promptsOf(root, input, sections, log);
  checkPlan(root, input.config, log);
  if (!parsed.success) return null;
  const { config, home } = input;
  return lower(parsed.data, prompts, { name, config, home });
}

function result(plan: Plan | null, log: ProblemLog): ParsedPlan {
  return { plan: log.failed ? null : plan, format: native.name, problems: log.sorted() };
}

const NO_MAPPING = 'a plan must be a mapping';

function readRoot(
  path: string,
  text: string,
  front: FrontMatter,
  log: ProblemLog,
): YamlNode | null {
  if (front.kind === 'open' && /\.(?:md|markdown)$/i.test(path)) {
    log.error(START, 'the front matter is not closed', 'end it with a line that is exactly ---');
    return null;
  }
  const yaml =
    front.kind === 'closed' ? { text: front.yaml, firstLine: 2 } : { text, firstLine: 1 };
  const root = readYaml({ ...yaml, version: '1.2' }, log);
  if (root === null || root.kind === 'map') return root;
  log.error(root.at, NO_MAPPING, 'begin it with landfast: 1');
  return null;
}

/** The prompt of each task: in the task, in a file, or in a section; '' if missing, which is logged. */
function promptsOf(
  root: YamlNode,
  input: Surroundings,
  sections: readonly Section[],
  log: ProblemLog,
): readonly string[] {
  const byTitle = new Map(sections.map((section) => [section.title, section]));
  const unused = new Map(byTitle);
  const prompts = taskNodes(root).map((task) => {
    if (task.kind !== 'map') return '';
    const given = entryOf(task, 'prompt');
    const file = entryOf(task, 'prompt_file');
    if (given !== undefined && file !== undefined) {
      log.error(file.keyAt, 'a task has prompt or prompt_file, not both', 'remove one');
    }
    if (given !== undefined) return textOf(given.value) ?? '';
    if (file !== undefined) return fileText(textOf(file.value), file.value.at, input, log);
    const id = textOf(entryOf(task, 'id')?.value);
    const section = id === undefined ? undefined : byTitle.get(id);
    if (section !== undefined) unused.delete(section.title);
    if (section !== undefined && section.text !== '') return section.text;
    const below = byTitle.size > 0 ? `, or text below a heading ## ${id}` : '';
    const remedy = `add prompt or prompt_file${below}`;
    log.error(task.at, `task ${id === undefined ? '' : `${quote(id)} `}has no prompt`, remedy);
    return '';
  });
  for (const { title, line } of unused.values()) {
    const remedy = '## is for the ids of tasks without a prompt; inside a prompt use ###';
    const message = `section ${quote(title)} belongs to no task without a prompt`;
    log.warning({ line, column: 1 }, message, remedy);
  }
  return prompts;
}

function fileText(
  path: string | undefined,
  at: Place,
  { directory, read }: Surroundings,
  log: ProblemLog,
): string {
  if (path === undefined) return ''; // Not text: the schema has said so.
  const isAbsolute = /^(?:[\\/~]|[A-Za-z]:)/.test(path);
  const fromRoot = isAbsolute ? path : `${directory || '.'}/${path}`;
  const wrong = pathRefusal(fromRoot) && pathRefusal(path); // Below the plan's folder is fine.
  if (wrong !== null) {
    const message = `prompt_file: ${wrong.message ?? `${quote(path)} is not a path`}`;
    log.error(at, message, "name a file in the repository, relative to the plan's folder");
    return '';
  }
  const content = read(path);
  if (content !== null && content.trim() !== '' && !content.includes('\0')) {
    return withoutBom(content).replaceAll('\r\n', '\n').trim();
  }
  const what = content === null ? 'cannot be read' : 'has no text in it';
  const remedy = "it is relative to the plan's folder";
  log.error(at, `prompt_file: ${quote(path)} ${what}`, remedy);
  return '';
}

/** A heading `## <task id>` in the body of a Markdown plan, and what follows it. */
interface Section {
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
