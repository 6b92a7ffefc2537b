/** Files as people write them, by format: each is read without a word that it does not deserve. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Plan } from '../../src/model/plan.ts';
import { parsePlan } from '../../src/plan/parse.ts';
import { formatProblem } from '../../src/plan/problem.ts';
import { landfast } from '../support/landfast.ts';
import { planInput } from '../support/plan-input.ts';
import { isWhole } from '../support/seeds.ts';
import { tempRepo } from '../support/temp-repo.ts';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'plans');

/** Of each file its tasks, with the numbers of those they need, and what is said about it. */
function outline(format: string): readonly string[] {
  return readdirSync(join(FOLDER, format)).flatMap((name) => {
    const text = readFileSync(join(FOLDER, format, name), 'utf8');
    // A todo list is never guessed: `--from-todo` names it.
    const wanted = format === 'todo' ? format : null;
    const parsed = parsePlan(planInput(name, text, { config: CONFIG }), wanted);
    expect(parsed.format, name).toBe(format);
    const said = parsed.problems.map((problem) => formatProblem(problem).split('\n', 1).join());
    return [`${name}: ${tasksOf(parsed.plan)}`, ...said];
  });
}

const CONFIG = { git: { base_branch: 'main' } };

function tasksOf(plan: Plan | null): string {
  const tasks = plan?.tasks ?? [];
  const numbers = new Map(tasks.map(({ id }, i) => [id, i + 1]));
  const words = tasks.map(({ id, needs }) => {
    const after = needs.map((need) => numbers.get(need)).join('+');
    return needs.length === 0 ? id : `${id}<${after}`;
  });
  return words.join(' ');
}

test('native', () => {
  expect(outline('native')).toMatchInlineSnapshot(`
    [
      "accounts.yaml: users login<1 format<2",
      "anchors.yaml: german french polish",
      "batch.yaml: lint-a lint-b lint-c lint-d",
      "chain.yaml: model service<1 http<2 docs<3",
      "fenced.yaml: parser",
      "mixed-agents.yaml: api page e2e<1+2",
      "one-task.yaml: readme",
      "overlap.yaml: cart price<1 search",
      "plan.json: bump notes<1",
      "review.md: secrets injection",
    ]
  `);
});

test('cast-dispatch', () => {
  expect(outline('cast-dispatch')).toMatchInlineSnapshot(`
    [
      "crlf.md: b1-code-writer",
      "depends.md: b1-code-writer b2-code-writer b3-test-writer<1+2",
      "fan-out.md: b1-code-writer b1-code-writer-2 b1-code-writer-3",
      "feature.md: b1-code-writer b2-code-writer<1 b3-code-reviewer<2",
      "legacy-agent.md: b1-debugger",
      "main-agent.md: b1-main",
      "parallel.md: b1-docs b1-docs-2 b2-commit<1+2",
      "parallel.md:12:46: warning: batch 2: commit has nothing to do",
      "six.md: b1-porter b2-porter<1 b3-porter<2 b4-porter<3 b5-porter<4 b6-porter<5",
      "verify.md: b1-docs b1-verify-files<1",
      "with-prose.md: b1-code-writer b2-test-writer<1",
    ]
  `);
});

test('task-config', () => {
  expect(outline('task-config')).toMatchInlineSnapshot(`
    [
      "bitbucket.yaml: tax",
      "commented.yaml: favicon footer",
      "generated.yaml: add-login add-logout",
      "home.yaml: a",
      "long-description.yaml: export",
      "many.yaml: page-1 page-2 page-3 page-4 page-5 page-6 page-7 page-8 page-9",
      "nulls.yaml: a",
      "one.yaml: fix-typo",
      "quoted.yaml: issue-42",
      "release.yaml: notes version",
    ]
  `);
});

test('todo', () => {
  expect(outline('todo')).toMatchInlineSnapshot(`
    [
      "agents.md: rewrite-the-parser translate-the-pages review-the-result<1+2",
      "by-name.md: set-up-the-database add-users<1 add-roles<2",
      "crlf.md: line-breaks-of-windows stay-as-they-are",
      "nested.md: import-of-contacts export-of-contacts",
      "numbers.md: first-things second-things<1 third-things<2",
      "prose.md: the-only-task-with-code-and-weight",
      "script.md: format-the-code add-a-test-for-the-formatter<1",
      "sections.md: rate-limits health-check dark-mode",
      "shop.md: add-a-cart add-a-checkout<1",
      "stars.md: use-stars use-a-plus",
    ]
  `);
});

test('the program itself shows them: one of each format, all in the slow tier', async () => {
  await using repo = await tempRepo();
  const formats = readdirSync(FOLDER);
  expect(formats).toHaveLength(6);
  for (const format of formats) {
    const more = format === 'todo' ? ['--format', 'todo'] : [];
    const names = readdirSync(join(FOLDER, format));
    for (const name of isWhole ? names : names.slice(0, 1)) {
      const args = ['plan', join(FOLDER, format, name), ...more];
      const { code, stdout } = await landfast(args, { cwd: repo.dir });
      expect({ name, code }).toEqual({ name, code: 0 });
      expect(stdout).toMatch(/\d+ tasks? in \d+ stages?|\d+ tasks?, \d+ stages?/);
    }
  }
});
