/** Sizes of what lies on a disk: `10GB`, `512MiB`, or a number of bytes. */

import { bytesIn } from '../../sizes.ts';
import { type Shape, value } from './value.ts';

const SHAPE: Shape = { type: ['string', 'number'], pattern: '^\\d', minimum: 0 };

/** A size in bytes; 0 for none. */
export const size = value(SHAPE, (given, refuse) => {
  const bytes = typeof given === 'string' ? bytesIn(given) : given;
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0) {
    return refuse({ expected: 'a size such as 10GB, 512MiB or a number of bytes' });
  }
  return bytes;
});

/** A size above zero. */
export const room = value(SHAPE, (given, refuse) => {
  const read = size.safeParse(given);
  if (read.success && read.data > 0) return read.data;
  return refuse({ expected: 'a size above zero, such as 10GB' });
});
