/** `landfast convert`, as a user would use it. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { landfast } from '../support/landfast.ts';
import { tempRepo } from '../support/temp-repo.ts';

const PLAN = 'landfast: 1\ntasks: [{ id: a, agent: shell, prompt: touch a, env: { TOKEN: s } }]\n';

test('a plan is converted, not overwritten by accident, and runs', async () => {
  await using repo = await tempRepo();
  await repo.write({ 'plan.yaml': PLAN });
  const convert = (...args: readonly string[]) =>
    landfast(['convert', 'plan.yaml', ...args], { cwd: repo.dir, env: { HOME: repo.outside } });
  const out = join(repo.outside, 'native.yaml');

  const printed = await convert();
  expect(printed).toMatchObject({ code: 0, stderr: '' });
  expect(printed.stdout).toContain('TOKEN: s');
  expect(await convert('-o', out)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(readFileSync(out, 'utf8')).toBe(printed.stdout);
  expect(await convert('-o', out)).toMatchObject({
    code: 2,
    stderr: `landfast: ${out} already exists.\n  Use --force to overwrite it.\n`,
  });
  expect((await convert('-o', out, '--force')).code).toBe(0);

  const options = { cwd: repo.dir, env: { HOME: repo.outside } };
  expect((await landfast(['run', out], options)).code).toBe(0);
});

test('a text that is no plan is not converted', async () => {
  await using repo = await tempRepo();
  await repo.write({ 'plan.yaml': 'landfast: 1\ntasks: []\n' });
  const options = { cwd: repo.dir, env: { HOME: repo.outside } };
  const { code, stdout } = await landfast(['convert', 'plan.yaml'], options);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
});
