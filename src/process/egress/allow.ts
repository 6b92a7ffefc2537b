/**
 * Which hosts and addresses may be reached. Pure.
 *
 * A pattern is a host (`api.example.com`), all hosts below one (`*.example.com`, which is not
 * `example.com` itself) or an address, each with a port if it is neither 80 nor 443. Hosts are
 * compared in lower case, without a final dot, and addresses as they are written shortest. A name
 * must not lead into the machine or its network, whatever it resolves to: only an address, or
 * `localhost` with its port, opens that.
 */

import { BlockList, isIP } from 'node:net';

/** `host` is normalised; IPv6 has no brackets. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Whether a target may be reached, and then whether its addresses may be private ones. */
export type Verdict = 'forbidden' | 'public' | 'anywhere';

const TARGET = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\%]+)(?::(\d{1,5}))?$/i;
/** One above the highest port. */
const NO_PORT = 65_536;
/** The longest DNS name. */
const NAME_LENGTH = 253;
const PLAIN_PORTS: readonly number[] = [80, 443];

/** Parses `host:port`; the default port is `usual`. Null where it is malformed. */
export function targetOf(text: string, usual: number): Target | null {
  const [, name = '', digits] = TARGET.exec(text) ?? [];
  const host = hostOf(name);
  const port = digits === undefined ? usual : Number(digits);
  return host === null || port < 1 || port >= NO_PORT ? null : { host, port };
}

/** In the form of a pattern. */
export function nameOf({ host, port }: Target): string {
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  return PLAIN_PORTS.includes(port) ? shown : `${shown}:${port}`;
}

/** A malformed pattern matches nothing. */
export function verdictOf(patterns: readonly string[], target: Target): Verdict {
  const matching = patterns.filter((pattern) => matches(pattern, target));
  if (matching.length === 0) return 'forbidden';
  if (isIP(target.host) !== 0) return 'anywhere';
  const isLocal = target.host === 'localhost' && matching.some((one) => one.includes(':'));
  return isLocal ? 'anywhere' : 'public';
}

/** Whether an address is of this machine or its network, or reserved. */
export function isPrivate(address: string): boolean {
  return PRIVATE.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function matches(pattern: string, { host, port }: Target): boolean {
  const isBelow = pattern.startsWith('*.');
  const isPlain = PLAIN_PORTS.includes(port);
  const allowed = targetOf(isBelow ? pattern.slice(2) : pattern, isPlain ? port : NO_PORT);
  if (allowed?.port !== port) return false;
  return isBelow ? isIP(host) === 0 && host.endsWith(`.${allowed.host}`) : host === allowed.host;
}

/** The URL parser knows all the ways to write an address, such as 0x7f.1. */
function hostOf(text: string): string | null {
  const url = URL.parse(`http://${text}`);
  const host = url?.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '') ?? '';
  return host === '' || host.length > NAME_LENGTH ? null : host;
}

const PRIVATE_V4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 ' +
  '192.168.0.0/16 224.0.0.0/4 240.0.0.0/4';
const PRIVATE_V6 = '::/127 fc00::/7 fe80::/10 fec0::/10 ff00::/8 64:ff9b:1::/48';
const PRIVATE = privateAddresses();

function privateAddresses(): BlockList {
  const list = new BlockList();
  const networks = (text: string) => text.split(' ').map((each) => each.split('/'));
  for (const [address = '', bits] of networks(PRIVATE_V4)) {
    list.addSubnet(address, Number(bits), 'ipv4');
    list.addSubnet(`64:ff9b::${address}`, 96 + Number(bits), 'ipv6'); // Through NAT64.
  }
  for (const [address = '', bits] of networks(PRIVATE_V6)) {
    list.addSubnet(address, Number(bits), 'ipv6');
  }
  return list;
}
