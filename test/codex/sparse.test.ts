/** The real Codex CLI where only some folders are checked out: it is told, and its shell gets more. */

import { expect, test } from 'vitest';
import { expectMoreFolders, MORE_FOLDERS, TOLD } from '../support/more-folders.ts';
import { say, shell } from '../support/responses-api.ts';
import { codexTask, setScene, untold } from './scene.ts';

const STEPS = [shell(MORE_FOLDERS), say('Done.')];

test('the agent gets a folder that is not checked out, by the command it is told', async () => {
  await using scene = await setScene({ sparse: STEPS });
  await expectMoreFolders(scene, codexTask('sparse'), 'codex');
  expect(untold(scene.requests('sparse')[0], ...TOLD)).toEqual([]);
});
