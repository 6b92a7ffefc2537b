import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

test('the public API is the one that docs/api/landfast.api.md reports', async () => {
  const checked = await promisify(execFile)(
    process.execPath,
    [join(ROOT, 'scripts', 'types.ts'), '--check'],
    { cwd: ROOT },
  ).catch((error: { readonly stdout: string; readonly stderr: string }) => error);
  expect({ stdout: checked.stdout, stderr: checked.stderr }).toEqual({ stdout: '', stderr: '' });
});
