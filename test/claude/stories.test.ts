/** The stories that every agent must pass, with the real Claude Code CLI. */

import { CLAUDE } from '../support/agents/real-agents.ts';
import { httpError } from '../support/agents/scripted-api.ts';
import {
  hangStory,
  lostSessionStory,
  refusedLoginStory,
  sparseStory,
  stopStories,
} from '../support/agents/stories.ts';

refusedLoginStory(CLAUDE, {
  refusal: httpError(401),
  message: 'The service answered 401 (authentication_failed).',
});
stopStories(CLAUDE);
hangStory(CLAUDE);
sparseStory(CLAUDE);
lostSessionStory(CLAUDE, { message: 'No conversation found with session ID' });
