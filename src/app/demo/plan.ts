/** The demo's plan as a file in the native format: the same text a user would write. */

import { SCRIPTS } from './scripts.ts';
import { DEMO_TASKS, type DemoTask } from './tasks.ts';

export interface PlanChoices {
  /** Who does the tasks. */
  readonly agent: string;
  /** Whether that agent reads prose rather than scripts. */
  readonly prose: boolean;
  /** A shell command that runs the project's tests. */
  readonly tests: string;
}

/** How many tasks may run at the same time. */
export const WORKERS = 4;

/** The text of plan.yaml. */
export function demoPlan(choices: PlanChoices): string {
  return `# What landfast demo runs. To look at it without running it: landfast plan plan.yaml
landfast: 1
name: corner shop
target: main
defaults: { agent: ${choices.agent}, retries: 1, timeout: 10m }
gates:
  - name: tests
    run: ${JSON.stringify(choices.tests)}
    timeout: 1m
limits: { workers: ${WORKERS} }
tasks:
${DEMO_TASKS.map((task) => taskText(task, choices)).join('\n')}`;
}

function taskText(task: DemoTask, { prose, tests }: PlanChoices): string {
  const lines = [
    `  - id: ${task.id}`,
    ...(task.needs.length === 0 ? [] : [`    needs: [${task.needs.join(', ')}]`]),
    `    writes: [${task.writes.join(', ')}]`,
    ...(task.checked ? [`    checks: [${JSON.stringify(tests)}]`] : []),
    '    prompt: |',
    ...indented(prose ? task.prose : SCRIPTS[task.id]),
  ];
  return `${lines.join('\n')}\n`;
}

function indented(text: string): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `      ${line}`));
}
