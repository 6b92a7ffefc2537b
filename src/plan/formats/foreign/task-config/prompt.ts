/**
 * The prompt for an entry of a `task_config.yaml`, in the sections that its users know. Title,
 * description and branch are data: in a command line each is one quoted word.
 */

import { quoted } from '../../../../base/shell-word.ts';
import type { Config } from '../../../config/schema.ts';
import { fenced } from '../../../syntax/markdown.ts';
import type { TaskEntry } from './task-config.ts';

export interface PullRequest {
  readonly provider: 'github' | 'bitbucket' | 'unknown';
  readonly base: string;
  readonly slug: string | null;
}

/** Without `pr` the agent opens no pull request. */
export function promptOf(
  task: TaskEntry,
  project: NonNullable<Config['project']>,
  pr: PullRequest | null,
): string {
  const { agent_instructions: guide } = project;
  return [
    ...(guide === undefined ? [] : [`Read \`${guide}\` first: it says how to work here.`]),
    section(`Task: ${oneLine(task.title)}`, task.description.trim()),
    section('Relevant Files', filesText(task.files_hint ?? [])),
    section('Requirements', REQUIREMENTS),
    section('Testing', testingText(task, project)),
    section('When Complete', COMPLETE),
    ...(pr === null ? [] : [section('Creating the Pull Request', pullRequestText(task, pr))]),
  ].join('\n\n');
}

function section(heading: string, text: string): string {
  return `## ${heading}\n\n${text}`;
}

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

function filesText(hints: readonly string[]): string {
  if (hints.length === 0) return '- None were named: find out which files matter.';
  return hints.map((hint) => `- ${oneLine(hint)}`).join('\n');
}

const REQUIREMENTS = [
  '1. Do what the description says, all of it.',
  '2. Keep to the conventions of this project.',
  '3. Add tests, or extend them, where they make sense.',
  '4. Change nothing that is not part of this task.',
].join('\n');

const COMPLETE = 'Make one commit whose message describes what you did.';

function testingText(task: TaskEntry, project: NonNullable<Config['project']>): string {
  if (project.test_instructions !== undefined) return project.test_instructions.trim();
  const command = project.test_command ?? task.test_command ?? null;
  if (command !== null) {
    return `Run this before you commit, and commit only if it passes:\n\n${fenced(command)}`;
  }
  return 'No test command is known: check by hand that your change does what it should.';
}

const MOST_BODY = 200;

function pullRequestText(task: TaskEntry, { provider, base, slug }: PullRequest): string {
  const push = `git push -u origin ${quoted(task.branch)}`;
  const title = oneLine(task.title);
  const body = shortened(task.description.trim());
  const pushFirst = ['Push the branch:', '', fenced(push), ''];
  const end = ['', 'End your last message with the address of the pull request.'];
  switch (provider) {
    case 'github': {
      const words = ['--title', title, '--body', body, '--base', base, '--head', task.branch];
      const args = words.map((word) => (word.startsWith('--') ? word : quoted(word)));
      return [
        'Run both commands exactly as they stand: the single quotes keep the shell from reading',
        'what is between them.',
        '',
        fenced(`${push}\ngh pr create ${args.join(' ')}`),
        ...end,
      ].join('\n');
    }
    case 'bitbucket': {
      const values = {
        repo_slug: slug ?? '',
        title,
        source_branch: task.branch,
        destination_branch: base,
        description: body,
      };
      return [
        ...pushFirst,
        'Then call the MCP tool `mcp_bitbucket_create_pull_request` with exactly these values:',
        '',
        fenced(JSON.stringify(values, null, 2), 'json'),
        ...end,
      ].join('\n');
    }
    case 'unknown':
      return [
        ...pushFirst,
        `There is no known way to open a pull request here: say in your last message that one from`,
        `\`${task.branch}\` to \`${base}\` has to be opened by hand.`,
      ].join('\n');
  }
}

function shortened(text: string): string {
  const characters = [...text];
  if (characters.length <= MOST_BODY) return text;
  return `${characters.slice(0, MOST_BODY).join('')}...`;
}
