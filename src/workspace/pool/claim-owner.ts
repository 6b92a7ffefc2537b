/** The name under which a process claims an idle worktree or a seed. */

import { parseJson } from '../../base/parse-json.ts';
import {
  isAlive,
  type ProcessIdentity,
  thisHost,
  thisProcess,
} from '../../base/process-identity.ts';

/** The process that claims what several may want, and whether another claim's process lives. */
export interface ClaimOwner {
  /** Part of a file name, without a dot. */
  readonly name: string;
  /** For a process of another host only `touchedAt`, its last activity, tells. */
  isAlive(name: string, touchedAt: () => number): boolean;
}

/** A claim lasts for seconds; where the repository is huge, for minutes. */
const LEFT_BEHIND_MS = 60 * 60_000;

/** This process, by pid and start: a later one with the same pid is not mistaken for it. */
export function thisClaimOwner(): ClaimOwner {
  return {
    name: Buffer.from(JSON.stringify(thisProcess())).toString('base64url'),
    isAlive: (name, touchedAt) => {
      const owner = parseJson<ProcessIdentity>(Buffer.from(name, 'base64url').toString());
      if (owner === null) return false; // Not written by Landfast.
      if (owner.host === thisHost()) return isAlive(owner);
      // A time in the future says no more than one long past.
      return Math.abs(Date.now() - touchedAt()) < LEFT_BEHIND_MS;
    },
  };
}
