/** The real OpenCode CLI where only some folders are checked out: it is told, and its shell gets more. */

import { expect, test } from 'vitest';
import { say } from '../support/messages-api.ts';
import { expectMoreFolders, MORE_FOLDERS, TOLD } from '../support/more-folders.ts';
import { opencodeTask, setScene, untold } from './scene.ts';
import { bash } from './steps.ts';

const STEPS = [bash(MORE_FOLDERS), say('Done.')];

test('the agent gets a folder that is not checked out, by the command it is told', async () => {
  await using scene = await setScene({ sparse: STEPS });
  await expectMoreFolders(scene, opencodeTask('sparse'), 'opencode');
  expect(untold(scene.requests('sparse')[0], ...TOLD)).toEqual([]);
});
