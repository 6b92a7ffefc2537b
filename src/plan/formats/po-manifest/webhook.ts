/**
 * `on_complete` and `on_failure`: checked in full, so that a manifest that passes here is one their
 * tool accepts, and never a way to make a machine call itself or its neighbours.
 */

import { type Place, type ProblemLog, quote } from '../../problem.ts';
import { describe, entryOf, type YamlMap } from '../../yaml-source.ts';

const MAX_URL_LENGTH = 2048;
const LOCAL_NAMES = new Set([
  'localhost',
  'localhost.localdomain',
  'localhost4',
  'localhost6',
  'ip6-localhost',
  'ip6-loopback',
]);

/** Checks one section, and says that this version sends nothing. */
export function readWebhook(root: YamlMap, section: string, log: ProblemLog): void {
  const entry = entryOf(root, section);
  if (entry === undefined) return;
  if (entry.value.kind !== 'map') {
    log.error(entry.value.at, `${section} must be a mapping, found ${describe(entry.value)}`);
    return;
  }
  for (const { key, keyAt } of entry.value.entries.values()) {
    if (key === 'webhook_url') continue;
    log.warning(keyAt, `${section}.${String(key)} is ignored`, 'only webhook_url is known there');
  }
  const url = entryOf(entry.value, 'webhook_url')?.value;
  if (url?.kind !== 'scalar' || typeof url.value !== 'string') {
    const found = url === undefined ? 'is missing' : `must be text, found ${describe(url)}`;
    log.error(url?.at ?? entry.value.at, `${section}.webhook_url ${found}`);
    return;
  }
  if (!checkUrl(url.value, url.at, section, log)) return;
  log.warning(entry.keyAt, `${section}: webhooks are not sent by this version`);
}

function checkUrl(url: string, at: Place, section: string, log: ProblemLog): boolean {
  const name = `${section}.webhook_url`;
  if (!url.startsWith('https://')) {
    const scheme = /^[^:/?#]*(?=:)/.exec(url)?.[0] ?? '';
    log.error(at, `${name} needs HTTPS (https://…), found the scheme ${quote(scheme)}`);
    return false;
  }
  if (url.length > MAX_URL_LENGTH) {
    log.error(at, `${name} is longer than ${MAX_URL_LENGTH} characters`);
    return false;
  }
  const host = hostOf(url);
  if (host === null || isLocal(host)) {
    const why = host === null ? 'is no address' : `must not point to ${quote(host)}`;
    log.error(at, `${name} ${why}`, 'name a public host');
    return false;
  }
  return true;
}

/** The host as it would be called: numbers are IPv4 addresses, a final dot means nothing. */
function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null;
  return new URL(url).hostname.toLowerCase().replace(/\.$/, '');
}

/** Loopback, link-local, private and unspecified addresses, and the usual names of this machine. */
function isLocal(host: string): boolean {
  if (LOCAL_NAMES.has(host)) return true;
  if (host.startsWith('[')) return isLocalV6(host.slice(1, -1));
  return /^\d+(?:\.\d+){3}$/.test(host) && isLocalV4(host.split('.').map(Number));
}

function isLocalV4([a = 0, b = 0, c = 0]: readonly number[]): boolean {
  if (a === 0 || a === 10 || a === 127 || a >= 240) return true;
  if (a === 172) return b >= 16 && b <= 31;
  if (a === 192) return b === 168 || (b === 0 && (c === 0 || c === 2));
  if (a === 198) return b === 18 || b === 19 || (b === 51 && c === 100);
  return (a === 169 && b === 254) || (a === 203 && b === 0 && c === 113);
}

/** The URL parser has already written the address in its shortest form. */
function isLocalV6(address: string): boolean {
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(address);
  if (mapped !== null) {
    const [high = 0, low = 0] = mapped.slice(1).map((part) => Number.parseInt(part, 16));
    return isLocalV4([high >> 8, high & 255, low >> 8, low & 255]);
  }
  return address === '::' || address === '::1' || /^(?:f[cd]|fe[89ab]|2001:db8:)/.test(address);
}
