import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { InvariantError, isSystemError, otherwise, UserError } from './errors.ts';

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

test('a tolerated failure gives a value, a bug is thrown again', async () => {
  expect(await readFile('/does/not/exist').catch(otherwise('none'))).toBe('none');
  const bug = Promise.reject(new InvariantError('two heads'));
  await expect(bug.catch(otherwise('none'))).rejects.toThrow('two heads');
});

test('a refusal of the system is told by its code', () => {
  const missing = thrownBy(() => readFileSync('/does/not/exist'));
  expect(isSystemError(missing)).toBe(true);
  expect(isSystemError(missing, 'ENOENT', 'ENOTDIR')).toBe(true);
  expect(isSystemError(missing, 'EACCES')).toBe(false);
  expect(isSystemError(new UserError('ENOENT'))).toBe(false);
});
