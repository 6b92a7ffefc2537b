/**
 * The command line of bubblewrap for given bounds. Pure: what must exist was made before.
 *
 * - The whole file system is mounted read-only, and writable places are mounted over it. A user
 *   namespace without capabilities keeps even root from mounting it otherwise.
 * - `/tmp` is the temp folder and `/run` is empty. Both are where sockets of others lie (a terminal
 *   multiplexer, a container engine, a key agent), through which a program could act outside; a
 *   socket works on a read-only file system as well. What is needed of them is shown again.
 * - Processes inside have process ids of their own and see no others. From outside they are
 *   ordinary descendants, with their environment, so that process-tree.ts finds and ends them.
 * - Where a proxy is the only way out there is no network either. Variables tell programs where the
 *   proxy is, and one that does not heed them reaches nothing. See bridge.ts.
 * - SIGINT reaches the program and leaves it time, as without a fence. See OUTER.
 */

import { dirname, isAbsolute } from 'node:path';
import type { Program } from '../spawn.ts';
import { type Bounds, isWithin, type NetworkRule } from './bounds.ts';
import { bridged, bridgeFlags, SOCKET } from './bridge.ts';

/** The namespaces of every fence. */
export const ISOLATION: readonly string[] = [
  ...['--unshare-user', '--unshare-ipc', '--unshare-pid'],
  ...['--cap-drop', 'ALL'],
];

const TMP = '/tmp';
const RUN = '/run';

/** Name resolution, and where some systems keep their programs. */
const NEEDED_OF_RUN = [
  ...['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager', '/run/connman'],
  ...['/run/current-system', '/run/booted-system', '/run/opengl-driver', '/run/wrappers'],
];

/** The base of every fence: a read-only file system. */
export const LANDMARKS: readonly string[] = [
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', RUN],
  ...NEEDED_OF_RUN.flatMap((path) => ['--ro-bind-try', path, path]),
];

/**
 * bubblewrap's outer process dies of SIGINT, which we send to the whole group, and would be taken
 * for the end of the program. So a shell waits instead, until the program is gone: INNER keeps
 * the pipe of `$()` open exactly as long. Signals that end the program end the shell as well;
 * those codes above 128 that programs choose themselves stay what they are.
 */
const OUTER = `trap : INT
exec 3>&1
held=$(exec "$@" 4>&1 >&3 3>&-)
code=$?
case $code in 13[2-79]|143) ulimit -c 0; kill -$((code - 128)) $$ ;; esac
exit $code`;

const INNER = 'trap : INT; (exec "$@" 4>&-); exit $?';

/** Where the tool is, and what holds for one attempt. */
export interface Wrapping {
  readonly tool: string;
  readonly bounds: Bounds;
  readonly temp: string;
  /** The program that runs a bridge. */
  readonly node: string;
}

export type CommandLine = Pick<Program, 'file' | 'args'>;

/** The program, started inside the fence. */
export function bubblewrapCommand(wrapping: Wrapping, program: CommandLine): CommandLine {
  const { tool, bounds, node } = wrapping;
  const { network } = bounds;
  const shell = typeof network === 'string' ? ['-c', INNER, 'fence'] : bridged(node);
  const inner = ['/bin/sh', ...shell, program.file, ...program.args];
  const flags = [
    ...ISOLATION,
    ...networkFlags(network),
    ...LANDMARKS,
    ...mounts(wrapping, program.file),
  ];
  return { file: '/bin/sh', args: ['-c', OUTER, 'fence', tool, ...flags, '--', ...inner] };
}

function networkFlags(network: NetworkRule): readonly string[] {
  if (network === 'on') return [];
  return network === 'off' ? ['--unshare-net'] : bridgeFlags();
}

/** Later mounts lie on top of earlier ones. */
function mounts({ bounds, temp, node }: Wrapping, file: string): readonly string[] {
  const { network } = bounds;
  const isBridged = typeof network !== 'string';
  const programs = (isBridged ? [file, node] : [file]).filter(isAbsolute).map(dirname);
  const hidden = [...new Set([bounds.checkout, ...programs])].filter(
    (path) => [TMP, RUN].some((place) => isWithin(path, place)) && ![TMP, RUN].includes(path),
  );
  const branch = bounds.branch === null ? [] : [dirname(bounds.branch.ref), bounds.branch.log];
  return [
    ...['--bind', temp, TMP],
    ...hidden.flatMap((path) => ['--ro-bind', path, path]),
    ...(isBridged ? ['--ro-bind', network.proxy, SOCKET] : []),
    ...[...bounds.writable, ...branch, temp].flatMap((path) => ['--bind', path, path]),
    ...bounds.kept.flatMap((path) => ['--ro-bind', path, path]),
  ];
}

const NAMESPACES =
  'Allow user namespaces for bwrap: an AppArmor profile for it (Ubuntu 24.04 and later: ' +
  '`apt-get install apparmor-profiles`, then enable `bwrap-userns-restrict`), or the setting ' +
  '`kernel.apparmor_restrict_unprivileged_userns=0` or `kernel.unprivileged_userns_clone=1`. ' +
  'Inside of a container, which is a fence already, use `sandbox: off`.';

const CONTAINER =
  'This looks like a container, which is a fence already: use `sandbox: off`, or start it with ' +
  'rights to make namespaces and to mount /proc.';

const OTHER = 'Run `bwrap --ro-bind / / true` to see more, or use `sandbox: off`.';

/** Why there is no fence although the tool is there. */
export function refusalOf(said: string): { readonly why: string; readonly remedy: string } {
  const why = `bubblewrap is installed, but the system refuses: ${said || 'it said nothing'}`;
  if (/mount proc|remount|pivot_root|make \/ slave/i.test(said)) return { why, remedy: CONTAINER };
  if (/namespace|uid map|RTM_NEWADDR|not permitted|denied/i.test(said)) {
    return { why, remedy: NAMESPACES };
  }
  return { why, remedy: OTHER };
}
