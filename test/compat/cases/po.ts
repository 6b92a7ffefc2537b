/** What became of the compatibility cases of parallel-orchestra. */

import type { CompatCase } from './case.ts';

export const PO: readonly CompatCase[] = [
  kept('PO-01', 'only the required keys: the documented defaults'),
  kept('PO-02', 'unsupported versions are refused'),
  fixed(
    'PO-04',
    'the version key of the predecessor',
    'its files are accepted with a note, and their times, pauses and folders are honoured',
  ),
  kept('PO-05', '`cwd` is required and must be text'),
  kept('PO-07', '`id`, `agent` and `read_only` are required'),
  kept('PO-08', '`read_only` takes the booleans of YAML 1.1, not text'),
  kept('PO-10', 'both delimiters are required'),
  kept('PO-11', 'ids that could be paths or options are refused'),
  kept('PO-13', 'two unordered tasks that write one file are refused'),
  fixed('PO-14', 'two ordered tasks that write one file', 'they run one after the other'),
  kept('PO-16', 'unknown dependencies are refused, all of them named'),
  kept('PO-17', 'cycles are refused, with the way round'),
  kept('PO-19', '`max_retries` as Python converts it'),
  kept('PO-20', '`defaults.max_retries`, which a task overrides'),
  kept('PO-22', 'blocked environment variables'),
  kept('PO-23', 'groups need a limit from 1 to 256'),
  kept('PO-25', 'CRLF, trailing blanks, an indented delimiter in a prompt'),
  fixed('PO-26', 'a byte order mark', 'it is accepted'),
  kept('PO-28', 'the text of a dry run; nothing is created'),
  kept('PO-29', 'no arguments, help and version'),
  kept('PO-31', 'a failed task: exit code 1 and a fail line'),
  kept('PO-32', '`--quiet` hides the lines of what went well'),
  kept(
    'PO-34',
    'a write task: own worktree, unattended, guarded, on a known branch',
    'the worktree is beside the repository; `PO_KEEP_WORKTREE` says where it stays',
  ),
  kept('PO-35', 'read-only tasks need no repository'),
  kept('PO-37', 'a detached HEAD is refused with exit code 3'),
  kept(
    'PO-38',
    'what needs a failed task is skipped, the rest runs',
    'a skipped task has a line of its own, `[skip] … skipped: needs a`',
  ),
  kept('PO-40', 'independent tasks run at the same time'),
  fixed('PO-41', 'a task that depends on another', "it sees that one's files"),
  kept('PO-43', "an agent's own commits land with the rest"),
  kept('PO-44', 'a task that changes nothing succeeds'),
  fixed(
    'PO-46',
    'a conflict',
    'it stops nobody else, the report is written; exit code 3 as before',
  ),
  fixed('PO-47', 'resuming after a conflict', 'the run is done only when everything has landed'),
  kept('PO-49', 'an unrelated edit in the checkout stays'),
  kept('PO-50', 'what went well lands though another task failed'),
  fixed('PO-52', 'a hook rejects the commit', 'the task fails and its work is kept'),
  kept('PO-53', 'words about limits on standard error are a rate limit'),
  kept('PO-55', 'exit code 1 without a word is transient'),
  kept('PO-56', 'retries after 1, 2, 4 … seconds', 'a waiting retry holds no worker'),
  kept('PO-58', 'a last line that says FAILED fails the task'),
  kept('PO-59', 'the status of the last line is told'),
  kept('PO-61', 'a time-out: its label, its last 20 lines, no retry'),
  fixed('PO-62', 'a grandchild that holds the output', 'it is ended with the task'),
  kept(
    'PO-64',
    'a state file that cannot be read: all tasks run',
    'one that can be read is not used either: it does not say what was merged; a note names its tasks',
  ),
  kept(
    'PO-65',
    'resuming skips what was done',
    'the state is in the journal, not beside the manifest',
  ),
  kept('PO-67', 'two manifests in one folder are resumed each for itself'),
  kept('PO-68', 'the JSON report', 'with many more keys; `duration_sec` covers all attempts'),
  fixed('PO-70', 'a report that cannot be written', 'it is refused before any agent starts'),
  kept(
    'PO-71',
    'keys are masked in logs, which only the user can read',
    'all variables with secret names, in reports and the journal too; logs grow as the agent speaks',
  ),
  kept('PO-73', 'a group of one is serial', 'waiting tasks hold no worker'),
  fixed('PO-74', 'duplicate ids', 'they are refused'),
  fixed(
    'PO-76',
    'a manifest in a sub-project',
    'its settings reach agents, and are never committed',
  ),
  fixed('PO-77', 'an untracked `.claude` folder', 'it reaches agents, and is in nobody’s way'),
  fixed(
    'PO-79',
    'Ctrl-C',
    'what runs may finish and land, nothing else starts, and it can be resumed',
  ),
  kept('PO-80', 'webhooks: `complete`, then `failure`', 'sent after conflicts, too'),
];

function kept(id: string, what: string, note?: string): CompatCase {
  return { id, what, verdict: 'kept', ...(note === undefined ? {} : { note }) };
}

function fixed(id: string, what: string, note: string): CompatCase {
  return { id, what, verdict: 'fixed', note };
}
