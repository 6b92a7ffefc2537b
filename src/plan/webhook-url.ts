/** The address of a webhook: HTTPS, not endless, and never this machine or its neighbours. */

import { isPublicHost } from '../base/public-address.ts';
import { quote } from './problem.ts';

const MAX_LENGTH = 2048;

/** What is wrong with an address, and the way out; null where nothing is. */
export function webhookRefusal(
  url: string,
): { readonly message: string; readonly remedy: string } | null {
  if (!url.startsWith('https://')) {
    const scheme = /^[^:/?#]*(?=:)/.exec(url)?.[0] ?? '';
    const message = `needs HTTPS (https://…), found the scheme ${quote(scheme)}`;
    return { message, remedy: 'use the https address of the receiver' };
  }
  if (url.length > MAX_LENGTH) {
    return { message: `is longer than ${MAX_LENGTH} characters`, remedy: 'use a shorter one' };
  }
  const host = URL.parse(url)?.hostname ?? null;
  if (host === null) return { message: 'is no address', remedy: 'name a public host' };
  if (isPublicHost(host)) return null;
  return { message: `must not point to ${quote(host)}`, remedy: 'name a public host' };
}
