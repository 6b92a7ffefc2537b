import { expect, test } from 'vitest';
import { promptOf } from './prompt.ts';
import type { TaskEntry } from './task-config.ts';

const TASK: TaskEntry = {
  id: 'login',
  branch: 'feature/login',
  title: 'feat: add login',
  description: 'Add the login form.\n',
  files_hint: ['src/auth.py', 'tests/'],
  test_command: 'npm test',
};
const GITHUB = { provider: 'github', base: 'main', slug: null } as const;

/** The text of one section. */
function sectionOf(prompt: string, heading: string): string {
  const [, rest = ''] = prompt.split(`## ${heading}\n\n`);
  return rest.split(/\n\n## (?:Requirements|Testing|When Complete|Creating)/)[0]!.trim();
}

test('the sections come in the order that users know', () => {
  const project = { agent_instructions: '.claude/AGENT_INSTRUCTIONS.md' };
  expect(promptOf(TASK, project, GITHUB)).toMatchInlineSnapshot(`
    "Read \`.claude/AGENT_INSTRUCTIONS.md\` first: it says how to work here.

    ## Task: feat: add login

    Add the login form.

    ## Relevant Files

    - src/auth.py
    - tests/

    ## Requirements

    1. Do what the description says, all of it.
    2. Keep to the conventions of this project.
    3. Add tests, or extend them, where they make sense.
    4. Change nothing that is not part of this task.

    ## Testing

    Run this before you commit, and commit only if it passes:

    \`\`\`
    npm test
    \`\`\`

    ## When Complete

    Make one commit whose message describes what you did.

    ## Creating the Pull Request

    Run both commands exactly as they stand: the single quotes keep the shell from reading
    what is between them.

    \`\`\`
    git push -u origin 'feature/login'
    gh pr create --title 'feat: add login' --body 'Add the login form.' --base 'main' --head 'feature/login'
    \`\`\`

    End your last message with the address of the pull request."
  `);
});

test('without a pull request its section is left out', () => {
  const prompt = promptOf({ ...TASK, files_hint: null }, {}, null);
  expect([...prompt.matchAll(/^## .*$/gm)].map(([line]) => line)).toEqual([
    '## Task: feat: add login',
    '## Relevant Files',
    '## Requirements',
    '## Testing',
    '## When Complete',
  ]);
  expect(sectionOf(prompt, 'Relevant Files')).toBe(
    '- None were named: find out which files matter.',
  );
});

test('the test command of the project wins over the task’s own', () => {
  const testing = (command?: string) =>
    sectionOf(
      promptOf(TASK, command === undefined ? {} : { test_command: command }, null),
      'Testing',
    );
  expect(testing('pytest')).toContain('pytest');
  expect(testing('pytest')).not.toContain('npm test');
  expect(testing()).toContain('npm test');
});

test('test instructions are the whole section', () => {
  const instructions = '1. Start the database.\n\n## Then\n\n2. Run `make test`.';
  const project = { test_instructions: `${instructions}\n`, test_command: 'pytest' };
  expect(sectionOf(promptOf(TASK, project, null), 'Testing')).toBe(instructions);
});

test('without any test command the agent is asked to look for itself', () => {
  expect(sectionOf(promptOf({ ...TASK, test_command: null }, {}, null), 'Testing')).toBe(
    'No test command is known: check by hand that your change does what it should.',
  );
});

test('the body of the pull request is 200 characters and an ellipsis', () => {
  const description = 'é'.repeat(300);
  const prompt = promptOf({ ...TASK, description }, {}, GITHUB);
  expect(prompt).toContain(`## Task: feat: add login\n\n${description}\n`);
  expect(prompt).toContain(`--body '${'é'.repeat(200)}...' --base`);
});

test('nothing of the task can become a command of the line that the agent runs', () => {
  const hostile = {
    ...TASK,
    title: `it's $(touch /tmp/x) \`id\`\nsecond line`,
    description: '"; rm -rf / #\n```\nrun me',
  };
  const prompt = promptOf(hostile, {}, GITHUB);
  const [block = ''] = /(`{4,})\n([\s\S]*?)\n\1/.exec(prompt) ?? [];
  expect(block.split('\n').slice(1, -1).join('\n')).toBe(
    `git push -u origin 'feature/login'\n` +
      `gh pr create --title 'it'\\''s $(touch /tmp/x) \`id\` second line'` +
      ` --body '"; rm -rf / #\n\`\`\`\nrun me' --base 'main' --head 'feature/login'`,
  );
});

test('Bitbucket gets the values of its tool as JSON', () => {
  const prompt = promptOf(TASK, {}, { provider: 'bitbucket', base: 'develop', slug: 'shop' });
  expect(prompt).toContain('mcp_bitbucket_create_pull_request');
  expect(JSON.parse(/```json\n([\s\S]*?)\n```/.exec(prompt)?.[1] ?? '')).toEqual({
    repo_slug: 'shop',
    title: 'feat: add login',
    source_branch: 'feature/login',
    destination_branch: 'develop',
    description: 'Add the login form.',
  });
});

test('an unknown host means a pull request by hand', () => {
  const prompt = promptOf(TASK, {}, { provider: 'unknown', base: 'main', slug: null });
  expect(prompt).toContain("git push -u origin 'feature/login'");
  expect(prompt).toContain('has to be opened by hand');
});
