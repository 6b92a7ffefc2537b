/** The cases of cast-parallel and its manifests. */

import type { CompatCase } from './case.ts';

export const CAST: readonly CompatCase[] = [
  { id: 'CP-01', what: '--help prints the usage, exit 0', verdict: 'kept' },
  {
    id: 'CP-02',
    what: 'no plan, no such file, a folder or an unknown flag: exit 2',
    verdict: 'kept',
  },
  {
    id: 'CP-04',
    what: 'a plan without a block: exit 1 and a message that begins with No',
    verdict: 'kept',
    note:
      'with --split, --streams, --format cast-dispatch, or under the heading Agent Dispatch Manifest; ' +
      'a text with no marker at all is of no known format, exit 2',
  },
  {
    id: 'CP-05',
    what: 'a dry run shows the cut in the middle and needs no git',
    verdict: 'kept',
    note: 'with --streams 2; without it the batches are shown as tasks in their order',
  },
  { id: 'CP-07', what: '--split 2 of six batches: the exact lines', verdict: 'kept' },
  { id: 'CP-08', what: '--split abc, -1, 1.5 or nothing: exit 2', verdict: 'kept' },
  {
    id: 'CP-10',
    what: 'CAST_SUBPROCESS=1: exit 0, no output',
    verdict: 'kept',
    note: 'for dispatch plans, --split and --streams; other plans do not know the variable',
  },
  {
    id: 'CP-11',
    what: 'invalid JSON, a list at the root, comments: exit 1',
    verdict: 'kept',
    note: 'the message names line and column',
  },
  {
    id: 'CP-13',
    what: 'no plan_id',
    verdict: 'kept',
    note: 'the name of the file stands in; the dry run shows an empty id, as before',
  },
  {
    id: 'CP-14',
    what: 'two json dispatch blocks',
    verdict: 'fixed',
    note: 'the one of the section Agent Dispatch Manifest counts; otherwise an error names both lines',
  },
  {
    id: 'CP-16',
    what: 'a last fence that is not closed works',
    verdict: 'kept',
    note: 'with a warning',
  },
  {
    id: 'CP-17',
    what: 'a batch without id',
    verdict: 'fixed',
    note: 'exit 1; it emptied the list of its stream, which ran all the same',
  },
  {
    id: 'CP-19',
    what: 'a ~ in quotes is the home',
    verdict: 'kept',
    note: 'unless such a file exists; ~user stays as it is',
  },
  {
    id: 'CP-20',
    what: 'what both streams commit is on the branch; branches and worktrees are gone',
    verdict: 'kept',
    note: 'logs stay with the run (landfast logs stream-a), readable for their owner only',
  },
  {
    id: 'CP-22',
    what: 'streams leave uncommitted files',
    verdict: 'fixed',
    note: 'they are committed and land; they were destroyed',
  },
  {
    id: 'CP-23',
    what: 'one stream fails, the other has committed',
    verdict: 'fixed',
    note: 'the good one lands, the branch of the other is kept; exit 1 and the last lines as before',
  },
  {
    id: 'CP-25',
    what: 'the branch moved on in conflict',
    verdict: 'fixed',
    note: 'nothing is left half merged, and what landed waits on its branch; exit 1 as before',
  },
  {
    id: 'CP-26',
    what: 'an edited file is in the way',
    verdict: 'kept',
    note: 'the work is kept on its branch and the message says the command to run',
  },
  {
    id: 'CP-28',
    what: 'no claude on PATH: exit 1',
    verdict: 'kept',
    note: 'found before anything is made',
  },
  {
    id: 'CP-29',
    what: 'TERM while running',
    verdict: 'fixed',
    note: 'agents are ended with all they started, exit 143, and landfast resume goes on',
  },
  {
    id: 'CP-31',
    what: 'events for a logger beside the script',
    verdict: 'declined',
    note:
      'the real logger reads no arguments and blocks a terminal; the journal (--events) has all of it: ' +
      'run.started, merge.landed, merge.rejected, run.finished',
  },
  {
    id: 'CP-32',
    what: 'type, owns_files, depends_on, target_branch, verify_files, unknown keys',
    verdict: 'fixed',
    note: 'honoured; an unknown key is a warning. They were ignored',
  },
];
