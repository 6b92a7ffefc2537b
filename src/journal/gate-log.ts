/**
 * Gate logs: all that gates print, while they print it, in files beside the transcripts.
 *
 *   <run>/gates/<tree>.<gate>.log   a gate on one candidate's tree; looks at it follow each other
 *
 * - As transcripts: they may be lost without losing the run, and hold no secrets.
 */

import { join } from 'node:path';
import { masker } from './mask.ts';
import { Sink } from './sink.ts';
import { fileName, runDir } from './transcript.ts';

export interface GateLogOptions {
  readonly stateDir: string;
  readonly run: string;
  readonly secrets: readonly string[];
  readonly onWarning: (text: string) => void;
}

/** A gate on a tree. */
export interface GateOfTree {
  readonly tree: string;
  readonly gate: string;
}

const CLOSE_LIMIT_MS = 10_000;

/** The gate logs of a run, for its engine to write. */
export function openGateLogs({ stateDir, run, secrets, onWarning }: GateLogOptions) {
  const mask = masker(secrets);
  return {
    open(of: GateOfTree): { write(line: string): void; close(): Promise<void> } {
      const sink = new Sink(gateLogFile(stateDir, run, of), 'kept', onWarning);
      return {
        write: (line) => sink.write(`${mask(line)}\n`),
        close: () => sink.close(AbortSignal.timeout(CLOSE_LIMIT_MS)),
      };
    },
  };
}

/** Where a gate's output on a tree is; it may be missing. */
export function gateLogFile(stateDir: string, run: string, { tree, gate }: GateOfTree): string {
  return join(runDir(stateDir, run), 'gates', `${fileName(tree)}.${fileName(gate)}.log`);
}
