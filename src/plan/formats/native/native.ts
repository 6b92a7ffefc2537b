/**
 * Landfast's own plan: a YAML file, or Markdown whose front matter is that YAML. In Markdown a
 * section `## <task id>` of the body is the prompt of a task that has no other.
 */

import type { Plan } from '../../../model/plan.ts';
import { type Place, ProblemLog, START } from '../../problem.ts';
import {
  type FrontMatter,
  markerIn,
  splitFrontMatter,
  withoutBom,
} from '../../syntax/front-matter.ts';
import { readObject } from '../../syntax/object.ts';
import { plainValue, readYaml, type YamlNode } from '../../syntax/yaml.ts';
import { reportIssues } from '../../syntax/zod-problems.ts';
import {
  type ParsedPlan,
  type PlanFormat,
  type PlanInput,
  type SourceFile,
  stemOf,
} from '../format.ts';
import { checkPlan } from './checks.ts';
import { lower } from './lower.ts';
import { promptsOf, type Section, sectionsOf } from './prompts.ts';
import { nativeSchema } from './schema.ts';

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
