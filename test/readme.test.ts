/** The plans and commands that the first pages show can be run as they are. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parsePlan } from '../src/plan/parse.ts';
import { planInput } from './support/plan-input.ts';

const ROOT = join(import.meta.dirname, '..');
const YAML = /```yaml\n(?<text>landfast: 1\n.*?)```/gs;

test.each(['README.md', 'docs/tour.md'])('the plan in %s has no problem', (page) => {
  const shown = [...readFileSync(join(ROOT, page), 'utf8').matchAll(YAML)];
  expect(shown.length).toBe(1);
  const [text = ''] = shown.map(({ groups }) => groups!.text!);
  const { plan, problems } = parsePlan(planInput('plan.yaml', text), null);
  expect({ problems, tasks: plan?.tasks.length }).toEqual({ problems: [], tasks: 3 });
});

test('the README names the two lines that do everything, and CI runs its test command', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  expect(readme).toMatch(/^npm ci && npm run demo /m);
  expect(readme).toMatch(/^npm ci && npm test /m);
  expect(readFileSync(join(ROOT, '.ci', 'run'), 'utf8')).toContain("step 'npm ci && npm test'");
});
