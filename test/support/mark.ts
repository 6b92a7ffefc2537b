/** Marks of attempts that nobody else has: whoever ends what bears one ends it in the whole machine. */

import { randomUUID } from 'node:crypto';

/** One for the tests of this file, which run one after the other. */
export const MARK = `test-${randomUUID()}`;
