/** Installs the CLIs of a tier before its tests: that may take longer than a test may. */

import type { TestProject } from 'vitest/node';
import { cachedCli } from './cli-cache.ts';
import { CLAUDE, CODEX, GEMINI, OPENCODE } from './real-agents.ts';

const CLIS: Readonly<Record<string, readonly { readonly cli: Parameters<typeof cachedCli>[0] }[]>> =
  {
    claude: [CLAUDE],
    codex: [CODEX],
    gemini: [GEMINI],
    opencode: [OPENCODE],
    acp: [GEMINI, OPENCODE],
  };

export async function setup({ name }: TestProject): Promise<void> {
  for (const { cli } of CLIS[name] ?? []) {
    await cachedCli(cli);
    console.info(`Tests ${name} with ${cli.name} ${cli.version} against a scripted API.`);
  }
}
