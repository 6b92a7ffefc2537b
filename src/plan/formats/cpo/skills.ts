/**
 * agent-skills-mapping.yaml: which skills an agent has, for task files that do not list them.
 *
 *     agents:
 *       python-experts:django-expert:
 *         skills: [django-api, git-workflow:commit]     without a prefix: of the agent's plugin
 */

import { ProblemLog } from '../../problem.ts';
import { entryOf, readYaml, type YamlNode } from '../../yaml-source.ts';
import type { PlanInput } from '../format.ts';

const FILE = 'agent-skills-mapping.yaml';
/** Below the repository's root, where the mapping is installed. */
const PLACES = [
  `.claude/skills/parallel-agents/${FILE}`,
  `.claude/product-design/skills/parallel-agents/${FILE}`,
  `plugins/product-design/skills/parallel-agents/${FILE}`,
];

/** Answers for any agent with its skills, as `plugin:skill`; none where no mapping knows it. */
export function readSkills(input: PlanInput): (agent: string) => readonly string[] {
  const root = readMapping(input);
  return (agent) => {
    const skills = entryOf(entryOf(entryOf(root, 'agents')?.value, agent)?.value, 'skills')?.value;
    const plugin = agent.split(':', 1)[0] ?? '';
    const names = skills?.kind === 'list' ? skills.items : [];
    return names
      .flatMap((node) => (node.kind === 'scalar' && node.value !== null ? [`${node.value}`] : []))
      .map((skill) => (skill.includes(':') ? skill : `${plugin}:${skill}`));
  };
}

/** The nearest one. It belongs to somebody else: what is wrong with it is not the plan's problem. */
function readMapping(input: PlanInput): YamlNode | undefined {
  const near = [FILE, `../${FILE}`].map((path) => input.read(path));
  const installed = PLACES.map((path) => input.repository.read(path));
  const text = [...near, ...installed].find((found) => found !== null) ?? null;
  if (text === null) return undefined;
  return readYaml({ text, firstLine: 1, version: '1.2' }, new ProblemLog(FILE)) ?? undefined;
}
