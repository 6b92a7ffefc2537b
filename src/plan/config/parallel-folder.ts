/** The first files of a folder for parallel work, and of one specification in it. */

import { UserError } from '../../base/errors.ts';

const WORD = /^[A-Za-z0-9][\w.-]*$/;

/** Refuses what cannot be the name of a specification. */
export function requireWord(word: string): void {
  if (!WORD.test(word)) throw new UserError(`${word} is not a name: use letters, digits and -.`);
}

/** The files of one specification, before it has any tasks. */
export function specificationFiles(
  techSpec: string,
  name: string,
): Readonly<Record<string, string>> {
  const manifest = { tech_spec_id: techSpec, name, waves: [{ number: 1, tasks: [] }] };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  return { 'manifest.json': text, 'context.md': CONTEXT };
}

/** Prompts and scripts are made again from the task files; reports are of one run. */
const IGNORE = '*/prompts/\n*/scripts/\n*/integration-report.md\n';

const CONTEXT = `# Context

What every agent should know of this project: what it is, its stack, its conventions.
`;

/** For the file that agents read first. */
export const FOR_AGENTS = `## Parallel work

Large changes are decomposed into tasks below \`parallel/\`, one folder for each specification; see
\`parallel/README.md\`. Contracts there are designs: follow them, and never import from \`parallel/\`.
`;

const README = `# Parallel work

One folder for each specification, such as \`TS-0042-shop/\`:

- \`manifest.json\`: the waves, and which agent does which task
- \`tasks/task-001-users.md\`: what a task creates, modifies, must not touch; its checklist
- \`contracts/\`: shared types and interfaces, to be followed, never imported
- \`context.md\`: what every agent should know of the project
- \`task-graph.md\`: the order as a picture

\`\`\`
landfast init -t TS-0042 -n shop
landfast validate parallel/TS-0042-shop
landfast run parallel/TS-0042-shop
landfast status parallel/TS-0042-shop
\`\`\`
`;

/** The files of the folder that holds all specifications. */
export const PARALLEL_FILES: Readonly<Record<string, string>> = {
  'README.md': README,
  '.gitignore': IGNORE,
};
