/**
 * What became of the compatibility cases of the tools that Landfast replaces: the source of
 * docs/compatibility.md. Each case that is not declined has a test named by its id.
 *
 * A case is a line, `ID verdict: the case in a few words`. Indented lines below it say what is
 * better, or why the case is declined.
 */

import { assert } from '../../src/base/assert.ts';

export interface CompatCase {
  /** Such as `PO-01`, `CP-04`, `C29`, `R22` or `P19`. */
  readonly id: string;
  readonly what: string;
  /** `kept`: the same outcome. `fixed`: a better one. `declined`: neither, for the reason given. */
  readonly verdict: 'kept' | 'fixed' | 'declined';
  readonly note?: string;
}

/** All cases, by the name of their tool. */
export const CASES: ReadonlyMap<string, readonly CompatCase[]> = new Map([
  [
    'parallel-orchestra',
    casesIn(`
PO-01 kept: only the required keys: the documented defaults
  \`writes\` and \`depends_on\` without a value are empty
PO-02 kept: unsupported versions are refused
PO-04 fixed: the version key of the predecessor
  its files run, with a note; their time limits, pauses and folders apply
PO-05 kept: \`cwd\` is required and must be text
PO-07 kept: \`id\`, \`agent\` and \`read_only\` are required
PO-08 kept: \`read_only\` takes the booleans of YAML 1.1, not text
PO-10 kept: both delimiters are required
PO-11 kept: ids that could be paths or options are refused
PO-13 kept: two unordered tasks that write one file are refused
  also a folder and a file in it, or a glob that matches it
PO-14 fixed: two ordered tasks that write one file
  they run one after the other
PO-16 kept: unknown dependencies are refused, all of them named
PO-17 kept: cycles are refused, with their path
PO-19 kept: \`max_retries\` as Python converts it
PO-20 kept: \`defaults.max_retries\`, which a task overrides
PO-22 kept: blocked environment variables
PO-23 kept: groups need a limit from 1 to 256
PO-25 kept: CRLF, trailing blanks, an indented delimiter in a prompt
PO-26 fixed: a byte order mark
  it is accepted
PO-28 kept: the text of a dry run; nothing is created
PO-29 kept: no arguments, help and version
PO-31 kept: a failed task: exit code 1 and a fail line
  \`landfast cleanup\` removes its branch if that holds nothing
PO-32 kept: \`--quiet\` hides the lines of succeeded tasks
PO-34 kept: a write task: own worktree, unattended, guarded, on a known branch
  the worktree is beside the repository; \`PO_KEEP_WORKTREE\` says where it stays
PO-35 kept: read-only tasks need no repository
  they run in the checkout itself, and their changes there are reported; one that depends on write
  tasks has a workspace with their work
PO-37 kept: a detached HEAD is refused with exit code 3
PO-38 kept: dependants of a failed task are skipped, the rest runs
  a skipped task has its own line, \`[skip] … skipped: needs a\`
PO-40 kept: independent tasks run at the same time
PO-41 fixed: a task that depends on another
  it sees the other's files
PO-43 kept: an agent's own commits land with the rest
PO-44 kept: a task that changes nothing succeeds
PO-46 fixed: a conflict
  the other tasks continue and the report is written; merged in the manifest’s order, exit code 3,
  as before
PO-47 fixed: resuming after a conflict
  the run is done only when everything has landed
PO-49 kept: an unrelated edit in the checkout stays
  one in the \`writes\` of a task is found before any agent starts: exit code 3
PO-50 kept: succeeded tasks land although another failed
PO-52 fixed: a hook rejects the commit
  the task fails and its work is kept; its files in \`.claude/reports\` reach the checkout
PO-53 kept: words about limits on standard error are a rate limit
PO-55 kept: exit code 1 without a word is transient
PO-56 kept: retries after 1, 2, 4 … seconds
  a waiting retry holds no worker
PO-58 kept: a last line that says FAILED fails the task
PO-59 kept: the status of the last line is reported
PO-61 kept: a time-out: its label, its last 20 lines, no retry
PO-62 fixed: a grandchild that holds the output
  it is ended with the task
PO-64 kept: an unreadable state file: all tasks run
  a readable one is not used either: it does not say what was merged; a note names its tasks
PO-65 kept: resuming skips finished tasks
  the state is in the journal, not beside the manifest
PO-67 kept: two manifests in one folder resume separately
  by path, even with the same bytes
PO-68 kept: the JSON report
  with many more keys; \`duration_sec\` covers all attempts
PO-70 fixed: a report that cannot be written
  it is refused before any agent starts
PO-71 kept: keys are masked in logs, which only the user can read
  all variables with secret names, in reports and the journal too; logs grow as the agent speaks
PO-73 kept: a group of one is serial
  waiting tasks hold no worker
PO-74 fixed: duplicate ids
  they are refused
PO-76 fixed: a manifest in a sub-project
  its settings reach agents, and are never committed
PO-77 fixed: an untracked \`.claude\` folder
  it reaches agents and does not block the landing
PO-79 fixed: Ctrl-C
  running tasks may finish and land, nothing else starts, and the run can be resumed
PO-80 kept: webhooks: \`complete\`, then \`failure\`
  also sent after conflicts
`),
  ],
  [
    'cast-parallel',
    casesIn(`
CP-01 kept: --help prints the usage, exit 0
CP-02 kept: no plan, no such file, a folder or an unknown flag: exit 2
CP-04 kept: a plan without a block: exit 1 and a message that begins with No
  with --split, --streams, --format cast-dispatch, or under the heading Agent Dispatch Manifest; a
  text without any marker has no known format, exit 2
CP-05 kept: a dry run shows the cut in the middle and needs no git
  with --streams 2; without it the dry run shows the batches as tasks in their order
CP-07 kept: --split 2 of six batches: the exact lines
CP-08 kept: --split abc, -1, 1.5 or nothing: exit 2
CP-10 kept: CAST_SUBPROCESS=1: exit 0, no output
  for dispatch plans, --split and --streams; other plans ignore the variable
CP-11 kept: invalid JSON, a list at the root, comments: exit 1
  the message names line and column
CP-13 kept: no plan_id
  the file's name is used; the dry run shows an empty id, as before
CP-14 fixed: two json dispatch blocks
  the one of the section Agent Dispatch Manifest counts; otherwise an error names both lines
CP-16 kept: a last fence that is not closed works
  with a warning
CP-17 fixed: a batch without id
  exit 1; there it emptied the list of its stream, which still ran. Batches of the same id keep
  their order, with a warning
CP-19 kept: a ~ in quotes is the home
  unless such a file exists; ~user stays as it is
CP-20 kept: commits of both streams are on the branch; branches and worktrees are gone
  logs stay with the run (landfast logs stream-a), readable by their owner only
CP-22 fixed: streams leave uncommitted files
  they are committed and land; there they were destroyed
CP-23 fixed: one stream fails, the other has committed
  the good one lands, the other's branch is kept; exit 1 and the last lines as before
CP-25 fixed: the streams conflict with each other or with the moved branch
  nothing is half merged and the branch stays as it is, with exit 1 as before; both worktrees stay
  if the streams conflict, otherwise what landed waits on its branch
CP-26 kept: an edited file is in the way
  the work stays on its branch, and the message names the command to run
CP-28 kept: no claude on PATH: exit 1
  found before anything is created
CP-29 fixed: TERM while running
  agents are ended with everything they started, exit 143; landfast resume continues
CP-31 declined: events for a logger beside the script
  the real logger reads no arguments and blocks a terminal; the journal (--events) has all of it:
  run.started, merge.landed, merge.rejected, run.finished
CP-32 fixed: type, owns_files, depends_on, target_branch, verify_files, unknown keys
  they apply; an unknown key is a warning. There they were ignored
`),
  ],
  [
    'claude-code-orchestrator',
    casesIn(`
C1 fixed: without files: the defaults
  values are still detected from the repository
C2 kept: global and project files are merged key by key
C4 fixed: a broken project file
  named with its line, exit 2
C5 fixed: a section that is null
  an empty section
C7 kept: a malformed number is refused, the file unchanged
  exit 2, as for any wrong input
C8 fixed: a flag that is neither true nor false
  refused
C10 kept: test instructions from a file
C11 fixed: a global number, then a run
  stored as a number; text that the old command stored is read as one
C13 kept: init --no-claude writes what it detects in the repository
  as landfast.yaml; without the flag it asks no model either
C14 kept: init twice: exit 1, the file unchanged; --force overwrites
  a .claude-orchestrator.yaml counts as one, because a new file would hide it
C16 kept: provider, owner and repository from the address of origin
C17 fixed: names with .git inside, and a slash at the end
  only the suffix is removed
C19 declined: generate: prose and a fenced block
  plans made by a model come with a later version
C20 declined: generate: bare YAML
  plans made by a model come with a later version
C22 declined: generate without its todo file
  plans made by a model come with a later version
C23 fixed: run -t todo.md writes a task file and stops
  the plan is made without a model, shown and confirmed; no file is needed.
  workflow.stop_after_generate: false starts it at once
C25 kept: --tasks: only that task’s workspace and agent
C26 kept: --tasks that matches none, or an empty list: a notice, exit 0
  a missing task file, or one without tasks, is exit 1 with that reason, as before
C28 fixed: a dry run: every task skipped
  the state of the last run is kept
C29 kept: the order of the arguments, in the workspace
  the prompt comes on standard input, not as an argument: no length limits it and no flag swallows
  it. Every attempt is watched, so it always requests the stream, also without -y, and chooses the
  session id; flags with several values are one word each; add_dirs may be anywhere
C31 kept: -y or skip_permissions instead of a permission mode
C32 fixed: .env in the project’s root
  copied only if workspace.copy names it
C34 kept: the project’s test command wins over the task’s
C35 kept: test instructions are the section on testing
C37 kept: the body of a pull request: 200 characters and an ellipsis
  as one quoted word of the command line; a shorter one has no ellipsis
C38 kept: the lines of a log
C40 fixed: a line that is a bare number
  logged as text, the agent continues
C41 fixed: a silent agent: two attempts, status timeout
  exit 1, none of its processes is left, and the resumed session gets a prompt
C43 fixed: the log after a retry
  both attempts with the marker between them
C44 kept: no retries, exit 1: failed after one attempt
C46 kept: a base branch that origin does not have: git’s message, exit 1
  reported before anything starts, so no task is listed as failed
C47 fixed: a local branch with unpushed commits
  refused; the branch stays as it is
C49 fixed: ids or branches given twice
  refused with lines
C50 kept: status before any run, and after one
C52 declined: a review agent that exits with 3
  reviews of pull requests come with a later version
C53 declined: review --from-run
  reviews of pull requests come with a later version; the state file has the number of the pull
  request
C55 declined: review without a login
  reviews of pull requests come with a later version
C56 declined: doctor with MCP servers
  doctor checks agents and the repository; servers come with a later version
C58 fixed: cleanup of a kept workspace
  it counts what it removes, keeps the branch, and touches nothing that no run created
`),
  ],
  [
    'claude-orchestra',
    casesIn(`
R1 kept: init in an empty directory
  with \`--format orchestra\`; the dashboard’s host is 127.0.0.1. Without it, landfast.yaml is
  written
R2 kept: init where .gitignore has no newline at its end
R4 fixed: an unknown key of config.json
  a warning, not the end of every command
R5 fixed: ~ in claude_projects_dir
  it is the home
R7 fixed: a project's own .orchestra/config.json
  read, above the global one
R8 declined: an old transcript
  Landfast does not read sessions of agents yet
R10 declined: broken and blank lines in a transcript
  Landfast does not read sessions of agents yet
R11 declined: sessions by the time of their file
  Landfast does not read sessions of agents yet
R13 declined: a long last prompt
  Landfast does not read sessions of agents yet
R14 declined: no projects directory
  Landfast does not read sessions of agents yet
R16 declined: search without hits
  Landfast does not read sessions of agents yet
R17 declined: analytics as JSON
  Landfast does not read sessions of agents yet
R19 declined: export of a session
  Landfast does not read sessions of agents yet
R20 declined: export of none
  Landfast does not read sessions of agents yet
R22 kept: spawn: worktree, branch and state of a task
  if branch_prefix is configured; otherwise work lands and is published
R23 kept: the slug of a task
R25 fixed: more tasks than may run at a time
  the rest waits, and all of them run
R26 fixed: a task with characters that no branch may have
  the id leaves them out, and ids are unique
R28 kept: spawn --no-worktree
  one task at a time, because nothing else separates two of them
R29 kept: spawn without tasks: exit 2
R31 fixed: an agent that is silent for stale_threshold
  any output is a sign of life
R32 fixed: collect from another process
  status, time, place and last words of every finished task, at any time
R34 kept: cleanup of finished tasks
  uncommitted work stays; it first shows what goes and why
R35 fixed: cleanup --all beside a running agent
  with --cancel the run is ended first, once confirmed; a backup ref keeps what goes
R37 declined: spawn by HTTP
  there is no web dashboard yet
R38 declined: spawn by HTTP without tasks
  there is no web dashboard yet
R40 fixed: resume after pause, with a worktree
  the same agent continues in the same worktree, on the command line
R41 kept: resume of an unknown run
  on the command line, with exit 2
R43 declined: status by WebSocket
  there is no web dashboard yet
R44 declined: requests from elsewhere
  there is no web dashboard yet
R46 declined: markup in a task
  there is no web dashboard yet
R47 declined: a spawn beside a running dashboard
  there is no web dashboard yet
`),
  ],
  [
    'cpo',
    casesIn(`
P1 kept: set up an empty project
  \`landfast init --parallel\`
P2 kept: set up again with an edited README
  an existing CLAUDE.md gets its section once
P4 kept: init makes a directory with a manifest
P5 kept: the example manifest with its prompts is valid
P7 kept: broken JSON
  with line and column
P8 kept: a task without a prompt file
  refused unless there is a task file, which then becomes the prompt
P10 kept: a prompt found by the id of its task
P11 kept: ids with and without a component
P13 kept: a wave-1 task with deps
P14 kept: a task depends on its own or a later wave
P16 kept: a duplicate task id
P17 fixed: blocks within one wave
  a warning names both tasks
P19 kept: two tasks of a wave modify one file
P20 kept: two tasks of a wave modify different parts of one file
  allowed; they run one after the other
P22 kept: parts whose names begin alike
P23 kept: a whole file and a part of it
P25 kept: a task modifies what its own BOUNDARY names
P26 fixed: the same through a glob
  found
P28 fixed: a file created by a glob and by name
  found
P29 fixed: braces with a comma in a list
  two files and a glob, as intended
P31 kept: a block list with remarks
P32 kept: bold directives with quoted paths
P34 kept: a task file that is not in the manifest
P35 kept: a contract that is missing
P37 kept: skills from the mapping of agents
P38 kept: prompts with all sections
  \`--fix\` regenerates the others from their task files and keeps the old ones as \`.backup\`
P40 kept: no prompts to check
P41 fixed: newly generated prompts
  they pass
P43 kept: packages to add
  each needs a version, and python_version is checked against the project
P44 kept: no packages
P46 kept: packages of Node
P47 fixed: a package that is an option
  refused before the run
P49 kept: the second wave waits for the first
  \`--no-barriers\` lets \`deps\` alone decide
P50 kept: an agent of the first wave fails
P52 kept: a validation in Python
P53 kept: a validation in shell
P55 kept: work on different files
  rebased; linear history
P56 fixed: an untracked file of the user's is in the way
  the work lands on the branch of the run; only publishing waits. Uncommitted changes to tracked
  files are refused before the start
P58 kept: an answer with prose behind it
P59 fixed: an answer whose validation did not pass
  the task fails; so does one that asks for a marker and leaves neither that nor an answer
P61 kept: logs and reports in the directory
P62 kept: status before, during and after a run
P64 declined: integrate finds its directory
  a step for a model; it comes with plans made by a model
P65 declined: integrate lists changes inside a BOUNDARY
  nothing is left to list: such a change fails its task before it lands
P67 declined: integrate writes its report
  a step for a model; it comes with plans made by a model
P68 kept: nodes of a Mermaid graph
P70 declined: the number of a new Tech Spec
  a step for a model; it comes with plans made by a model
P71 declined: the status of a Tech Spec
  a step for a model; it comes with plans made by a model
P73 declined: decompose without input
  a step for a model; it comes with plans made by a model
`),
  ],
]);

function casesIn(text: string): readonly CompatCase[] {
  return text
    .trim()
    .split(/\n(?! )/)
    .map((lines) => {
      const [first = '', ...notes] = lines.split('\n').map((line) => line.trim());
      const [, id = '', verdict, what = ''] =
        /^(\S+) (kept|fixed|declined): (.+)$/.exec(first) ?? [];
      assert(verdict !== undefined, `a compatibility case is not in the form: ${first}`);
      const note = notes.length === 0 ? {} : { note: notes.join(' ') };
      return { id, what, verdict: verdict as CompatCase['verdict'], ...note };
    });
}
