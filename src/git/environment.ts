/**
 * The environment in which git runs. Nothing waits for input: no pager, editor, prompt or dialogue.
 * The directory alone selects the repository, even when a git hook starts Landfast. Messages are
 * English, because some are parsed; the character encoding stays, because hooks inherit it.
 */

/** Set by git for its hooks and meant for one repository; `git rev-parse --local-env-vars`. */
const OF_ANOTHER_REPOSITORY = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NAMESPACE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
];

/** Would make a passphrase dialogue find a person, or change how arguments are read. */
const UNWANTED = [
  'DISPLAY',
  'GPG_TTY',
  'GIT_GLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
  'GIT_LITERAL_PATHSPECS',
  'GIT_NOGLOB_PATHSPECS',
  'LC_ALL',
  'SSH_ASKPASS',
  'WAYLAND_DISPLAY',
];

const FIXED = {
  GCM_INTERACTIVE: 'never',
  GIT_ASKPASS: '', // Empty, not absent: then neither core.askPass nor SSH_ASKPASS is tried.
  GIT_EDITOR: 'true',
  GIT_MERGE_AUTOEDIT: 'no',
  GIT_OPTIONAL_LOCKS: '0', // A status must not take the lock that an agent's commit needs.
  GIT_PAGER: 'cat',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  LANGUAGE: '',
  LC_MESSAGES: 'C',
  PAGER: 'cat',
  SSH_ASKPASS_REQUIRE: 'never',
  TERM: 'dumb',
};

/** Git flushes loose objects, too: what the journal calls landed survives a power cut. */
export const DURABLE = 'core.fsync=committed,reference';

/** For worktrees in which only some folders are checked out (sparse.ts). */
export const SPARSE_SETTINGS = ['core.sparseCheckout', 'core.sparseCheckoutCone', 'index.sparse'];

/** In the form of `GIT_CONFIG_PARAMETERS`, as `git -c` writes it. */
export const SPARSE_PARAMETERS = SPARSE_SETTINGS.map((name) => `'${name}=true'`).join(' ');

/** Settings for an agent's workspace (sparse.ts) do not apply to a Landfast that it starts. */
function withoutSparse(settings: string): string {
  return settings.replace(SPARSE_PARAMETERS, '').trim();
}

/** The inherited environment made fit for git, with additions. */
export function gitEnvironment(
  inherited: NodeJS.ProcessEnv,
  additions: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { ...inherited, ...FIXED };
  if (inherited.LC_ALL) environment.LC_CTYPE = inherited.LC_ALL;
  for (const name of OF_ANOTHER_REPOSITORY) delete environment[name];
  for (const name of UNWANTED) delete environment[name];
  const settings = withoutSparse(inherited.GIT_CONFIG_PARAMETERS ?? '');
  if (settings === '') delete environment.GIT_CONFIG_PARAMETERS;
  else environment.GIT_CONFIG_PARAMETERS = settings;
  return Object.assign(environment, additions);
}

/** Whether the user has chosen an ssh program, which must not be replaced. */
export function choosesSsh(environment: NodeJS.ProcessEnv): boolean {
  return environment.GIT_SSH_COMMAND !== undefined || environment.GIT_SSH !== undefined;
}

/** An ssh that fails instead of prompting. */
export const BATCH_SSH = { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes' };
