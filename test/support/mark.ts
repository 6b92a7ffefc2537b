/** Unique marks of attempts: ending the processes of a mark ends them on the whole machine. */

import { randomUUID } from 'node:crypto';

/** One for the tests of this file, which run one after the other. */
export const MARK = `test-${randomUUID()}`;

/** A run of these tests: the marks of its attempts and gates begin with it. */
export const RUN = `r-${randomUUID()}`;
