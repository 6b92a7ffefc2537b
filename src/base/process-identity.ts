/**
 * Process identities that outlast a pid: host, pid and start. Owners of leases and of claimed
 * workspaces are recorded so.
 */

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isSystemError, trySystem } from './errors.ts';

/** Identifies a process: a pid alone may be reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** From `processStart`; null where the system does not say. */
  readonly start: string | null;
  readonly host: string;
}

/** This process. */
export function thisProcess(): ProcessIdentity {
  return { pid: process.pid, start: processStart(process.pid), host: thisHost() };
}

/** The name of the place whose pids mean something here: the host, or one container on it. */
export function thisHost(): string {
  const link = trySystem(() => readlinkSync('/proc/self/ns/pid'), null); // Null without /proc.
  const namespace = link?.replace(/\D/g, '') ?? INITIAL_PID_NAMESPACE;
  return namespace === INITIAL_PID_NAMESPACE ? hostname() : `${hostname()}#${namespace}`;
}

/** Fixed in the Linux kernel (PROC_PID_INIT_INO); every container has another one. */
const INITIAL_PID_NAMESPACE = '4026531836';

/** Whether this very process, not a later one with its pid, is alive on this host. */
export function isAlive(identity: ProcessIdentity): boolean {
  const start = processStart(identity.pid);
  if (start !== null && identity.start !== null) return start === identity.start;
  try {
    process.kill(identity.pid, 0);
    // It answers but has no start: a zombie, unless this system has no /proc at all.
    return identity.start === null || processStart(process.pid) === null;
  } catch (error) {
    return isSystemError(error, 'EPERM'); // It is alive, as another user.
  }
}

/**
 * When a process began: the boot and the clock ticks since, an opaque text to compare. Null where
 * it is dead (a zombie, too) or where there is no /proc.
 */
export function processStart(pid: number): string | null {
  // `pid (name) state ppid … start`: the name may hold spaces and parentheses.
  const stat = trySystem(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, ticks] = [fields[0], fields[19]];
  if (state === 'Z' || state === 'X' || ticks === undefined) return null;
  const boot = trySystem(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'), null);
  return boot === null ? null : `${boot.trim()}:${ticks}`;
}
