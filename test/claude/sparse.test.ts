/** The real Claude Code CLI where only some folders are checked out: it is told, and its shell gets more. */

import { expect, test } from 'vitest';
import { bash, say } from '../support/messages-api.ts';
import { expectMoreFolders, MORE_FOLDERS, TOLD } from '../support/more-folders.ts';
import { claudeTask, setScene, untold } from './scene.ts';

const STEPS = [bash(MORE_FOLDERS), say('Done.')];

test('the agent gets a folder that is not checked out, by the command it is told', async () => {
  await using scene = await setScene({ scenarios: { sparse: STEPS } });
  await expectMoreFolders(scene, claudeTask('sparse'), 'claude');
  expect(untold(scene.requests('sparse')[0], ...TOLD)).toEqual([]);
});
