/** The cases of claude-orchestra. */

import type { CompatCase } from './case.ts';

const SESSIONS = 'sessions of agents are not looked at yet';
const WEB = 'there is no web dashboard yet';
const INIT =
  'init writes landfast.yaml; workspaces lie beside the repository, so nothing has to be ignored';

export const ORCHESTRA: readonly CompatCase[] = [
  { id: 'R1', what: 'init in an empty directory', verdict: 'declined', note: INIT },
  {
    id: 'R2',
    what: 'init where .gitignore has no newline at its end',
    verdict: 'declined',
    note: INIT,
  },
  {
    id: 'R4',
    what: 'a key of config.json that nobody knows',
    verdict: 'fixed',
    note: 'a warning, not the end of every command',
  },
  { id: 'R5', what: '~ in claude_projects_dir', verdict: 'fixed', note: 'it is the home' },
  {
    id: 'R7',
    what: "a project's own .orchestra/config.json",
    verdict: 'fixed',
    note: 'read, above the global one',
  },
  { id: 'R8', what: 'an old transcript', verdict: 'declined', note: SESSIONS },
  {
    id: 'R10',
    what: 'broken and blank lines in a transcript',
    verdict: 'declined',
    note: SESSIONS,
  },
  { id: 'R11', what: 'sessions by the time of their file', verdict: 'declined', note: SESSIONS },
  { id: 'R13', what: 'a long last prompt', verdict: 'declined', note: SESSIONS },
  { id: 'R14', what: 'no projects directory', verdict: 'declined', note: SESSIONS },
  { id: 'R16', what: 'search without hits', verdict: 'declined', note: SESSIONS },
  { id: 'R17', what: 'analytics as JSON', verdict: 'declined', note: SESSIONS },
  { id: 'R19', what: 'export of a session', verdict: 'declined', note: SESSIONS },
  { id: 'R20', what: 'export of none', verdict: 'declined', note: SESSIONS },
  {
    id: 'R22',
    what: 'spawn: worktree, branch and state of a task',
    verdict: 'kept',
    note: 'where branch_prefix is configured; otherwise work lands and is published',
  },
  { id: 'R23', what: 'the slug of a task', verdict: 'kept' },
  {
    id: 'R25',
    what: 'more tasks than may run at a time',
    verdict: 'fixed',
    note: 'those beyond wait, and all of them run',
  },
  {
    id: 'R26',
    what: 'a task with signs that no branch may have',
    verdict: 'fixed',
    note: 'the id leaves them out, and two tasks never have the same',
  },
  {
    id: 'R28',
    what: 'spawn --no-worktree',
    verdict: 'kept',
    note: 'one task at a time, because nothing else keeps two of them apart',
  },
  { id: 'R29', what: 'spawn without tasks: exit 2', verdict: 'kept' },
  {
    id: 'R31',
    what: 'an agent that was not heard for stale_threshold',
    verdict: 'fixed',
    note: 'stale only if it is really silent; whatever it prints is a sign of life',
  },
  {
    id: 'R32',
    what: 'collect from another process',
    verdict: 'fixed',
    note: 'status, time, place and last words of every task that is over, at any time',
  },
  {
    id: 'R34',
    what: 'cleanup of what is over',
    verdict: 'kept',
    note: 'what is in no commit stays; it shows first what goes and why',
  },
  {
    id: 'R35',
    what: 'cleanup --all beside a running agent',
    verdict: 'fixed',
    note: 'with --cancel the run is ended first, once confirmed; what goes is held by a backup ref',
  },
  { id: 'R37', what: 'spawn by HTTP', verdict: 'declined', note: WEB },
  { id: 'R38', what: 'spawn by HTTP without tasks', verdict: 'declined', note: WEB },
  {
    id: 'R40',
    what: 'resume after pause, with a worktree',
    verdict: 'fixed',
    note: 'the same agent goes on in the same worktree, on the command line',
  },
  {
    id: 'R41',
    what: 'resume of what is not there',
    verdict: 'kept',
    note: 'on the command line, with exit 2',
  },
  { id: 'R43', what: 'status by WebSocket', verdict: 'declined', note: WEB },
  { id: 'R44', what: 'requests from elsewhere', verdict: 'declined', note: WEB },
  { id: 'R46', what: 'markup in a task', verdict: 'declined', note: WEB },
  { id: 'R47', what: 'a spawn beside a running dashboard', verdict: 'declined', note: WEB },
];
