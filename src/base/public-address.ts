/**
 * Which hosts are on the public internet: where a webhook may go. Pure.
 *
 * - Only what is known to be public is public. An unreadable address is not.
 * - A host is given as the URL parser writes it, which has already read `0x7f.1` and `2130706433`
 *   as addresses.
 * - A name is public unless it names this machine. Ask `isPublicAddress` about each address that it
 *   resolves to.
 */

const LOCAL_NAMES: ReadonlySet<string> = new Set([
  ...['localhost', 'localhost.localdomain', 'localhost4', 'localhost6'],
  ...['ip6-localhost', 'ip6-loopback'],
]);

/** Whether a URL's host, name or address, may be public. */
export function isPublicHost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  if (name.startsWith('[')) return isPublicAddress(name.slice(1, -1));
  if (V4.test(name)) return isPublicAddress(name);
  return name !== '' && !LOCAL_NAMES.has(name) && !name.endsWith('.localhost');
}

/** Whether an address, as a lookup gives it, is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  if (V4.test(address)) return isPublicV4(address.split('.').map(Number));
  const groups = groupsOf(address);
  return groups !== null && isPublicV6(groups);
}

const V4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** The first bytes of networks that are private, local, shared, reserved, for tests or for many. */
const CLOSED_V4: readonly (readonly [network: number, bits: number])[] = [
  [v4(0), 8],
  [v4(10), 8],
  [v4(100, 64), 10],
  [v4(127), 8],
  [v4(169, 254), 16],
  [v4(172, 16), 12],
  [v4(192, 0, 0), 24],
  [v4(192, 0, 2), 24],
  [v4(192, 88, 99), 24],
  [v4(192, 168), 16],
  [v4(198, 18), 15],
  [v4(198, 51, 100), 24],
  [v4(203, 0, 113), 24],
  [v4(224), 3],
];

function isPublicV4(bytes: readonly number[]): boolean {
  if (bytes.some((byte) => byte > 255)) return false;
  const address = v4(...bytes);
  return !CLOSED_V4.some(([network, bits]) => address >>> (32 - bits) === network >>> (32 - bits));
}

function v4(...[a = 0, b = 0, c = 0, d = 0]: readonly number[]): number {
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

/** Global unicast without tunnels and examples, or a translated address that is public itself. */
function isPublicV6(groups: readonly number[]): boolean {
  const [a = 0, b = 0] = groups;
  if (a === 0x64 && b === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) {
    return isPublicV4(groups.slice(6).flatMap((group) => [group >> 8, group & 255]));
  }
  if (a >> 13 !== 1 || a === 0x2002) return false;
  return !(a === 0x2001 && (b < 0x200 || b === 0xdb8)) && !(a === 0x3fff && b < 0x1000);
}

/** The eight groups of an IPv6 address; null for anything else, such as one with a zone. */
function groupsOf(address: string): readonly number[] | null {
  const url = URL.parse(`http://[${address}]/`);
  if (url === null) return null;
  const [head = '', tail] = url.hostname.slice(1, -1).split('::');
  const numbers = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [first, last] = [numbers(head), numbers(tail ?? '')];
  const gap = new Array<number>(8 - first.length - last.length).fill(0);
  return [...first, ...gap, ...last];
}
