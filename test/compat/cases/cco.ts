/** The cases of claude-code-orchestrator. */

import type { CompatCase } from './case.ts';

const MODEL = 'plans made by a model come with a later version';
const REVIEW = 'reviews of pull requests come with a later version';

export const CCO: readonly CompatCase[] = [
  {
    id: 'C1',
    what: 'without files: the defaults',
    verdict: 'fixed',
    note: 'the repository is looked at all the same',
  },
  { id: 'C2', what: 'global and project files are merged key by key', verdict: 'kept' },
  {
    id: 'C4',
    what: 'a broken project file',
    verdict: 'fixed',
    note: 'named with its line, exit 2',
  },
  { id: 'C5', what: 'a section that is null', verdict: 'fixed', note: 'an empty section' },
  {
    id: 'C7',
    what: 'a number that is none is refused, the file unchanged',
    verdict: 'kept',
    note: 'exit 2, as for all wrong input',
  },
  { id: 'C8', what: 'a flag that is neither true nor false', verdict: 'fixed', note: 'refused' },
  { id: 'C10', what: 'test instructions from a file', verdict: 'kept' },
  {
    id: 'C11',
    what: 'a global number, then a run',
    verdict: 'fixed',
    note: 'stored as a number; a text that the old command stored is read as one',
  },
  {
    id: 'C13',
    what: 'init --no-claude writes what the repository and its files tell',
    verdict: 'kept',
    note: 'as landfast.yaml; no model is asked without the flag either',
  },
  {
    id: 'C14',
    what: 'init twice: exit 1, the file unchanged; --force overwrites',
    verdict: 'kept',
    note: 'a .claude-orchestrator.yaml counts as one, because a new file would hide it',
  },
  { id: 'C16', what: 'provider, owner and repository from the address of origin', verdict: 'kept' },
  {
    id: 'C17',
    what: 'names with .git inside, and a slash at the end',
    verdict: 'fixed',
    note: 'only the ending is taken off',
  },
  { id: 'C19', what: 'generate: prose and a fenced block', verdict: 'declined', note: MODEL },
  { id: 'C20', what: 'generate: bare YAML', verdict: 'declined', note: MODEL },
  { id: 'C22', what: 'generate without its todo file', verdict: 'declined', note: MODEL },
  {
    id: 'C23',
    what: 'run -t todo.md writes a task file and stops',
    verdict: 'fixed',
    note: 'the plan is made without a model, shown and asked about; no file has to be written',
  },
  { id: 'C25', what: '--tasks: only that task’s workspace and agent', verdict: 'kept' },
  { id: 'C26', what: '--tasks that names none: a notice, exit 0', verdict: 'kept' },
  {
    id: 'C28',
    what: 'a dry run: every task skipped',
    verdict: 'fixed',
    note: 'the state of the last run is kept',
  },
  {
    id: 'C29',
    what: 'the order of the arguments, in the workspace',
    verdict: 'kept',
    note:
      'the prompt comes on standard input, not as an argument: no length limits it and no flag ' +
      'swallows it. Every attempt is watched, so the stream is asked for without -y as well, and ' +
      'a session id is ours; flags with several values are one word each',
  },
  { id: 'C31', what: '-y or skip_permissions instead of a permission mode', verdict: 'kept' },
  {
    id: 'C32',
    what: '.env in the project’s root',
    verdict: 'fixed',
    note: 'copied only where workspace.copy names it',
  },
  { id: 'C34', what: 'the project’s test command wins over the task’s', verdict: 'kept' },
  { id: 'C35', what: 'test instructions are the section on testing', verdict: 'kept' },
  {
    id: 'C37',
    what: 'the body of a pull request: 200 characters and an ellipsis',
    verdict: 'kept',
    note: 'as one quoted word of the command line; a shorter one has no ellipsis',
  },
  { id: 'C38', what: 'the lines of a log', verdict: 'kept' },
  {
    id: 'C40',
    what: 'a line that is a bare number',
    verdict: 'fixed',
    note: 'logged as text, the agent goes on',
  },
  {
    id: 'C41',
    what: 'a silent agent: two attempts, status timeout',
    verdict: 'fixed',
    note: 'exit 1, nothing of it is left, and the resumed session gets a prompt',
  },
  {
    id: 'C43',
    what: 'the log after a retry',
    verdict: 'fixed',
    note: 'both attempts with the marker between them',
  },
  { id: 'C44', what: 'no retries, exit 1: failed after one attempt', verdict: 'kept' },
  {
    id: 'C46',
    what: 'a base branch that origin does not have: git’s message, exit 1',
    verdict: 'kept',
    note: 'said before anything starts, so no task is listed as failed',
  },
  {
    id: 'C47',
    what: 'a local branch with unpushed commits',
    verdict: 'fixed',
    note: 'refused; the branch stays as it is',
  },
  { id: 'C49', what: 'ids or branches given twice', verdict: 'fixed', note: 'refused with lines' },
  { id: 'C50', what: 'status before any run, and after one', verdict: 'kept' },
  { id: 'C52', what: 'a review agent that exits with 3', verdict: 'declined', note: REVIEW },
  {
    id: 'C53',
    what: 'review --from-run',
    verdict: 'declined',
    note: `${REVIEW}; the state file has the number of the pull request`,
  },
  { id: 'C55', what: 'review without a login', verdict: 'declined', note: REVIEW },
  {
    id: 'C56',
    what: 'doctor with MCP servers',
    verdict: 'declined',
    note: 'doctor looks at agents and the repository; servers come with a later version',
  },
  {
    id: 'C58',
    what: 'cleanup of a kept workspace',
    verdict: 'fixed',
    note: 'it counts what it removes, keeps the branch, and touches nothing that no run has made',
  },
];
