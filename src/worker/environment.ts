/**
 * The part of the user's environment that an agent, a check or a gate gets. What is not named here,
 * by the agent's driver or by the plan does not pass, so a session started from inside another
 * agent's session inherits nothing of it. `LANDFAST_*` names the run, the task, the attempt and its
 * own block of ports.
 */

/** Names that may pass, `X*` and `*X` for a prefix and a suffix. */
const ALLOWED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TZ', 'LANG', 'LANGUAGE', 'LC_*'],
  ...['XDG_*', 'SSH_AUTH_SOCK', 'GIT_AUTHOR_*', 'GIT_COMMITTER_*', 'GIT_CONFIG_*'],
  ...['*_HOME', '*_ROOT', '*PATH', 'NVM_*', 'VOLTA_*', 'PNPM_*', 'CARGO_*', 'RUSTUP_*'],
  ...['GOPATH', 'GOROOT', 'GOBIN', 'GOCACHE', 'GOMODCACHE', 'GOFLAGS', 'GOPROXY', 'GOPRIVATE'],
  ...['VIRTUAL_ENV', 'CONDA_*', 'UV_*', 'PIP_*', 'SDKMAN_*', 'NODE_OPTIONS', 'CI'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];
/** They change which program or library runs, or belong to another program's session. */
const REFUSED = ['LD_*', 'DYLD_*', 'PYTHONPATH', 'CLAUDE*', 'ANTHROPIC_*', 'OPENAI_*', 'GEMINI_*'];

/** Names of secrets; git's keys are names of settings. */
const SECRET = /(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:$|_)/i;
const SETTING = /^GIT_CONFIG_KEY_\d+$/;

export type Environment = Readonly<Record<string, string>>;

/** The part of the user's environment that everything gets, and what a driver asks for besides. */
export function allowedEnv(
  from: Readonly<Record<string, string | undefined>>,
  inherit: readonly string[],
): Environment {
  const passes = (name: string): boolean =>
    matches(name, inherit) ||
    (matches(name, ALLOWED) && !matches(name, REFUSED) && !isSecretName(name));
  const entries = Object.entries(from).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && passes(entry[0]),
  );
  return { ...Object.fromEntries(entries), TERM: 'dumb' };
}

export function isSecretName(name: string): boolean {
  return SECRET.test(name) && !SETTING.test(name);
}

export function secretsOf(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env)
    .filter(([name]) => isSecretName(name))
    .map(([, value]) => value ?? '')
    .filter((value) => value !== '');
}

const FIRST_PORT = 20_000;
const PORTS_EACH = 10;
const BLOCKS = 2_000;

/** Identifies an attempt to the programs it runs. */
export function attemptEnv(who: {
  readonly run: string;
  readonly task: string;
  readonly attempt: number;
  /** The task's place in the plan: its block of ports. */
  readonly index: number;
}): Environment {
  return {
    LANDFAST_RUN: who.run,
    LANDFAST_TASK: who.task,
    LANDFAST_ATTEMPT: String(who.attempt),
    LANDFAST_NAME: `${who.run}-${who.task}`.toLowerCase(),
    LANDFAST_PORT: String(FIRST_PORT + ((seedOf(who.run) + who.index) % BLOCKS) * PORTS_EACH),
  };
}

/** Two runs at the same time begin at different blocks, most likely. */
function seedOf(run: string): number {
  return [...run].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % BLOCKS, 7);
}

function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1));
    if (pattern.startsWith('*')) return name.endsWith(pattern.slice(1));
    return name === pattern;
  });
}
