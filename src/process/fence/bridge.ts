/**
 * bridge: what leads from a fence without network to the proxy outside (egress.ts). Pure text.
 *
 *     program ──► 127.0.0.1:PORT ──► bridge ──► SOCKET, mounted from outside
 *
 * - Loopback inside is the fence's own, so that the port is always free.
 * - The program starts once the bridge listens, or not at all.
 * - The bridge lives as long as the program, also while that says goodbye after SIGINT, and ends
 *   with it. Neither the program's input nor its output is open in it.
 * - The bridge keeps its standard descriptors as it got them. To close one and open it again is not
 *   safe: a thread of Node's (one loads certificates) may take the number in between, and once it
 *   lets go of it, a connection gets it and is taken for a standard stream.
 */

/** Where the proxy's socket is seen inside; `/run` is the fence's own. */
export const SOCKET = '/run/landfast/proxy';

/** Above the ports that the system assigns by itself. */
const PORT = 61_128;

const START_MS = 10_000;

/** The descriptor for the bridge's word; AROUND waits until it is closed. */
const WORD = 3;

/** Its process id is its word that it listens, on a descriptor that it needs for nothing else. */
const BRIDGE = `
const fs = require('node:fs');
const net = require('node:net');
const [socket, port] = process.argv.slice(1);
for (const name of ['SIGINT', 'SIGHUP']) process.on(name, () => {});
const late = setTimeout(() => process.exit(1), ${START_MS});
const server = net.createServer({ allowHalfOpen: true }, (near) => {
  const far = net.connect({ path: socket, allowHalfOpen: true });
  near.on('error', () => far.destroy());
  far.on('error', () => near.destroy());
  near.pipe(far).pipe(near);
});
server.listen(Number(port), '127.0.0.1', () => {
  clearTimeout(late);
  server.on('error', () => {});
  fs.writeSync(${WORD}, String(process.pid));
  fs.closeSync(${WORD});
});`;

const FAILED = 'landfast: the way to the hosts of fence.network could not be opened';

/**
 * The shell around the program: begins the bridge, waits for its word, and ends it. The bridge does
 * not use itself as a proxy, which would have Node load all that it needs for that.
 */
const AROUND = `trap : INT
node=$1 code=$2 socket=$3 port=$4
shift 4
bridge=$(exec ${WORD}>&1 >/dev/null </dev/null 4>&-
  NODE_OPTIONS= NODE_NO_WARNINGS=1 NODE_USE_ENV_PROXY= "$node" -e "$code" "$socket" "$port" &)
if [ -z "$bridge" ]; then echo '${FAILED}' >&2; exit 126; fi
(exec "$@" 4>&-)
ended=$?
kill -9 "$bridge" 2>/dev/null
exit $ended`;

/** The arguments of `sh` that start a program, after them, beside a bridge. */
export function bridged(node: string): readonly string[] {
  return ['-c', AROUND, 'fence', node, BRIDGE, SOCKET, String(PORT)];
}

/** The flags for bubblewrap: no network, and where programs find the proxy. */
export function bridgeFlags(): readonly string[] {
  const url = `http://127.0.0.1:${PORT}`;
  const local = 'localhost,127.0.0.1,::1';
  const set = [
    ...['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name) => [name, url]),
    ...['NO_PROXY', 'no_proxy'].map((name) => [name, local]),
    ['NODE_USE_ENV_PROXY', '1'],
  ];
  return [
    '--unshare-net',
    ...set.flatMap((pair) => ['--setenv', ...pair]),
    ...['ALL_PROXY', 'all_proxy'].flatMap((name) => ['--unsetenv', name]),
  ];
}
