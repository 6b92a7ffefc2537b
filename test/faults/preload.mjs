/**
 * Loaded into an engine before it starts: it then lives at another time of day (`clockMs`, or what a
 * file says from the moment it is there) or on another host. The program itself knows nothing of it.
 */

import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

const { clockMs = 0, clockFile, host } = JSON.parse(process.env.FAULTS_ELSEWHERE ?? '{}');

const now = Date.now.bind(Date);
Date.now = () => now() + clockMs + fromFile();

if (host !== undefined) {
  os.hostname = () => host;
  syncBuiltinESMExports();
}

function fromFile() {
  if (clockFile === undefined) return 0;
  try {
    return Number(readFileSync(clockFile, 'utf8'));
  } catch {
    return 0;
  }
}
