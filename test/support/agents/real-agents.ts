/**
 * The real agent CLIs that tests drive, one description each.
 *
 *   R1. An environment cannot reach an account: it is built from nothing, with a home and a
 *       configuration of its own, a dummy key and an API on 127.0.0.1. No key, token or session of
 *       the user who runs the tests reaches a CLI.
 *   R2. The variables that another agent's session would set are added on purpose
 *       (`otherSession`): none of them may reach the CLI.
 */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Agent } from '../../../src/agents/agent.ts';
import { claude } from '../../../src/agents/claude.ts';
import { codex } from '../../../src/agents/codex.ts';
import { gemini } from '../../../src/agents/gemini.ts';
import { opencode } from '../../../src/agents/opencode.ts';
import { isSystemError } from '../../../src/base/errors.ts';
import { executable, type PinnedCli } from './cli-cache.ts';
import { GENERATE, MESSAGES, RESPONSES } from './dialects.ts';
import { type Dialect, type Step, toolCall } from './scripted-api.ts';

export interface RealAgent {
  readonly cli: PinnedCli;
  readonly dialect: Dialect;
  /** Our driver of it. */
  readonly driver: Agent;
  /** The `defaults` of a plan for it, given the path of its program. */
  defaults(program: string): Readonly<Record<string, unknown>>;
  /** The whole environment of a CLI that talks to `url` and keeps its sessions below `home`. */
  env(home: string, url: string): Promise<Record<string, string>>;
  /** What another session leaves in the environment of the programs it starts. */
  readonly otherSession: Readonly<Record<string, string>>;
  /** The model writes a file, named relative to the CLI's working directory. */
  write(path: string, content: string): Step;
  /** The model runs a command. */
  shell(command: string): Step;
}

const KEY = 'sk-test-not-a-key';

function bareEnv(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TZ: 'UTC',
    HOME: home,
  };
}

/** The versions are those of the recorded transcripts. */
export const CLAUDE: RealAgent = {
  cli: {
    name: 'claude',
    version: '2.1.325',
    packages: ['@anthropic-ai/claude-code@2.1.325'],
    // The package's `bin` is a stub until its install script has run; the native one needs none.
    find: (modules) =>
      firstExecutable(join(modules, '@anthropic-ai'), /^claude-code-/, (dir) => [
        join(dir, 'claude'),
      ]),
  },
  dialect: MESSAGES,
  driver: claude,
  defaults: () => ({ agent: 'claude', permissions: 'bypassPermissions' }),
  env: async (home, url) => ({
    ...bareEnv(home),
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: KEY,
    IS_SANDBOX: '1', // Lets root skip permissions, as in a container.
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  otherSession: {
    CLAUDECODE: '1',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
    CLAUDE_CODE_SESSION_ID: '00000000-0000-4000-8000-000000000000',
    CLAUDE_CODE_SSE_PORT: '9',
    CLAUDE_AGENT_SDK_VERSION: '0.0.0',
    ANTHROPIC_LOG: 'debug',
  },
  write: (path, content) => {
    const file = path.startsWith('/') ? path : `{{cwd}}/${path}`;
    return toolCall('Write', { file_path: file, content });
  },
  shell: (command) => toolCall('Bash', { command, description: 'scripted' }),
};

export const CODEX: RealAgent = {
  cli: {
    name: 'codex',
    version: '0.166.0',
    packages: ['@openai/codex@0.166.0'],
    // The package's `bin` is a launcher that needs Node; the program itself is beside it.
    find: (modules) =>
      firstExecutable(join(modules, '@openai'), /^codex-/, async (dir) => {
        const targets = await entriesOf(join(dir, 'vendor'));
        return targets.map((target) => join(dir, 'vendor', target, 'bin', 'codex'));
      }),
  },
  dialect: RESPONSES,
  driver: codex,
  defaults: () => ({ agent: 'codex', permissions: 'bypassPermissions' }),
  env: async (home, url) => {
    const codexHome = join(home, '.codex');
    await mkdir(codexHome, { recursive: true });
    await writeFile(join(codexHome, 'config.toml'), codexConfig(url));
    return { ...bareEnv(home), CODEX_HOME: codexHome, OPENAI_API_KEY: KEY };
  },
  otherSession: {
    CODEX_THREAD_ID: '00000000-0000-4000-8000-000000000000',
    CODEX_CI: '1',
    CODEX_SANDBOX: 'seatbelt',
    OPENAI_LOG: 'debug',
    ANTHROPIC_API_KEY: 'sk-other',
    CLAUDECODE: '1',
  },
  write: (path, content) => {
    const lines = content.replace(/\n$/, '').split('\n');
    const patch = ['*** Begin Patch', `*** Add File: ${path}`, ...lines.map((line) => `+${line}`)];
    return CODEX.shell(`apply_patch <<'PATCH'\n${patch.join('\n')}\n*** End Patch\nPATCH`);
  },
  shell: (cmd) => toolCall('exec_command', { cmd, yield_time_ms: 30_000 }),
};

/** By itself the CLI's sandbox lets /tmp be written, where the folders of tests are. */
function codexConfig(url: string): string {
  return `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[sandbox_workspace_write]
exclude_slash_tmp = true
[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;
}

export const GEMINI: RealAgent = {
  cli: {
    name: 'gemini',
    version: '0.61.0',
    packages: ['@google/gemini-cli@0.61.0'],
    find: (modules) => executable(join(modules, '.bin', 'gemini')),
  },
  dialect: GENERATE,
  driver: gemini,
  defaults: () => ({ agent: 'gemini', permissions: 'bypassPermissions' }),
  env: async (home, url) => {
    await mkdir(join(home, '.gemini'), { recursive: true });
    await writeFile(join(home, '.gemini', 'settings.json'), JSON.stringify(GEMINI_SETTINGS));
    return {
      ...bareEnv(home),
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: KEY,
      GEMINI_MODEL: 'gemini-2.5-pro', // Otherwise the CLI asks another model which one to use.
    };
  },
  otherSession: {
    GEMINI_CLI: '1',
    GEMINI_CLI_IDE_SERVER_PORT: '9',
    GEMINI_SANDBOX: 'docker',
    ANTHROPIC_API_KEY: 'sk-other',
    CLAUDECODE: '1',
  },
  write: (path, content) => toolCall('write_file', { file_path: path, content }),
  shell: (command) => toolCall('run_shell_command', { command, description: 'scripted' }),
};

/** With another base URL the CLI does not take the key for a login unless its settings say so. */
const GEMINI_SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};

const OPENCODE_VERSION = '1.18.33';

/**
 * On its first start this CLI would fetch packages for plugins into its configuration folder, and a
 * list of models. Neither is needed: the folder looks as if the packages were there, the only model
 * is scripted, and if it asks for a package after all, the registry is a closed port.
 */
export const OPENCODE: RealAgent = {
  cli: {
    name: 'opencode',
    version: OPENCODE_VERSION,
    packages: [`opencode-ai@${OPENCODE_VERSION}`],
    // The package's `bin` is a stub until its install script has run; the native one needs none.
    find: (modules) =>
      firstExecutable(modules, /^opencode-(?!ai$)/, (dir) => [join(dir, 'bin', 'opencode')]),
  },
  dialect: MESSAGES,
  driver: opencode,
  defaults: () => ({ agent: 'opencode', permissions: 'bypassPermissions' }),
  env: (home, url) => opencodeEnv(home, url),
  otherSession: {
    OPENCODE: '1',
    OPENCODE_PID: '1',
    OPENCODE_SERVER_PASSWORD: 'secret',
    OPENCODE_CONFIG_CONTENT: '{"model":"other/model"}',
    ANTHROPIC_LOG: 'debug',
    CLAUDECODE: '1',
  },
  write: (filePath, content) => toolCall('write', { filePath, content }),
  shell: (command) => toolCall('bash', { command, description: 'scripted' }),
};

/** OpenCode's environment, with more in its configuration. */
export async function opencodeEnv(
  home: string,
  url: string,
  more: object = {},
): Promise<Record<string, string>> {
  const dir = join(home, '.config', 'opencode');
  const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': OPENCODE_VERSION } } } };
  await mkdir(join(dir, 'node_modules'), { recursive: true });
  await writeFile(join(dir, 'package-lock.json'), JSON.stringify(lock));
  await writeFile(join(dir, 'opencode.json'), JSON.stringify({ ...opencodeConfig(url), ...more }));
  await writeFile(join(home, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retries=0\n');
  return {
    ...bareEnv(home),
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
}

/** A provider of one model, which costs 3 and 15 dollars per million tokens in and out. */
function opencodeConfig(url: string): object {
  const model = {
    name: 'Scripted',
    cost: { input: 3, output: 15 },
    limit: { context: 200_000, output: 8_000 },
  };
  const options = { baseURL: `${url}/v1`, apiKey: KEY };
  return {
    model: 'scripted/model',
    provider: {
      scripted: { npm: '@ai-sdk/anthropic', name: 'Scripted', options, models: { model } },
    },
  };
}

/** Gemini CLI as an agent of the Agent Client Protocol. */
export const ACP_GEMINI: RealAgent = {
  ...GEMINI,
  defaults: (program) => ({
    agent: 'acp',
    command: [program, '--acp'],
    permissions: 'bypassPermissions',
    pass_env: ['GEMINI_API_KEY', 'GOOGLE_GEMINI_BASE_URL', 'GEMINI_MODEL'],
    env: { GEMINI_CLI_NO_RELAUNCH: 'true', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  }),
};

/** OpenCode as an agent of the Agent Client Protocol. */
export const ACP_OPENCODE: RealAgent = {
  ...OPENCODE,
  defaults: (program) => ({
    agent: 'acp',
    command: [program, 'acp'],
    permissions: 'bypassPermissions',
    pass_env: ['OPENCODE_DISABLE_MODELS_FETCH', 'OPENCODE_DISABLE_LSP_DOWNLOAD'],
  }),
};

/**
 * The first program among the platform packages that npm has installed. Reverse order tries a
 * `baseline` build first, which runs on older processors, too; `musl` is for Alpine.
 */
async function firstExecutable(
  scope: string,
  packages: RegExp,
  filesOf: (dir: string) => readonly string[] | Promise<readonly string[]>,
): Promise<string | null> {
  const isPlatform = (name: string) => packages.test(name) && !name.includes('musl');
  for (const name of (await entriesOf(scope)).filter(isPlatform).sort().reverse()) {
    for (const file of await filesOf(join(scope, name))) {
      if ((await executable(file)) !== null) return file;
    }
  }
  return null;
}

async function entriesOf(dir: string): Promise<readonly string[]> {
  return readdir(dir).catch((error: unknown) => {
    if (isSystemError(error, 'ENOENT')) return [];
    throw error;
  });
}
