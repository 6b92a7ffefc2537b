/**
 * dial: a connection to a target, or the reason why there is none. The addresses that are checked
 * are those connected to: the connection itself does the one lookup.
 */

import { lookup } from 'node:dns';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { messageOf } from '../../base/errors.ts';
import { isPrivate, type Target } from './allow.ts';

/** The name leads into the machine or its network. */
export class PrivateError extends Error {
  override readonly name = 'PrivateError';
}

const CONNECT_MS = 30_000;
/** How long one of several addresses is tried before the next. */
const ADDRESS_MS = 2_000;
const KEEP_ALIVE_MS = 60_000;

/** Begins to connect; `open` settles once. Only with `anywhere` private addresses are taken. */
export function dial(
  target: Target,
  where: 'public' | 'anywhere',
): { readonly socket: Socket; readonly open: Promise<void> } {
  const socket = connect({
    ...target,
    allowHalfOpen: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_MS,
    ...(where === 'public' ? { lookup: lookupPublic } : {}),
  });
  const { promise: open, resolve, reject } = Promise.withResolvers<void>();
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('it does not answer')));
  socket.on('error', reject);
  socket.once('close', () => reject(new Error('the connection was given up')));
  socket.once('connect', () => {
    socket.setTimeout(0);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    resolve();
  });
  return { socket, open };
}

/** The text of a failed connection; several addresses fail with a code and no message. */
export function whyNot(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : messageOf(error);
}

const lookupPublic: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    if (error !== null) return done(error, '', 0);
    const open = found.filter(({ address }) => !isPrivate(address));
    const [first] = open;
    if (first === undefined) return done(new PrivateError(), '', 0);
    return options.all === true ? done(null, open) : done(null, first.address, first.family);
  });
};
