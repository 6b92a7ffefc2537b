/** This process as the host of use cases. */

import { homedir } from 'node:os';
import type { Host } from '../../app/place.ts';
import { findPlace, type Place } from '../../app/place.ts';

export function terminalHost(): Host {
  return {
    env: process.env,
    home: homedir(),
    platform: process.platform,
    cwd: process.cwd(),
    agents: [],
    gates: new Map(),
    attended: process.stdin.isTTY === true && process.stderr.isTTY === true,
    warn: (text) => console.error(`landfast: ${text}`),
    problem: (text) => console.error(text),
  };
}

/** For what only ends with the process. */
export const NEVER = new AbortController().signal;

/** The repository of `-C DIR`. */
export function placeAt(projectDir: string, signal: AbortSignal): Promise<Place> {
  return findPlace(projectDir, terminalHost(), signal);
}
