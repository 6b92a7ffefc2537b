/** The stories that every agent must pass, with the real OpenCode CLI. */

import { OPENCODE } from '../support/agents/real-agents.ts';
import { httpError } from '../support/agents/scripted-api.ts';
import {
  hangStory,
  landingStory,
  lostSessionStory,
  refusedLoginStory,
  sparseStory,
  stopStories,
} from '../support/agents/stories.ts';

landingStory(OPENCODE, {
  overload: [httpError(529)],
  variables: [
    'OPENCODE_CONFIG_CONTENT',
    'OPENCODE_DISABLE_AUTOUPDATE',
    'OPENCODE_DISABLE_LSP_DOWNLOAD',
    'OPENCODE_DISABLE_MODELS_FETCH',
  ],
});
refusedLoginStory(OPENCODE, { refusal: httpError(401), message: 'scripted 401' });
stopStories(OPENCODE);
hangStory(OPENCODE);
sparseStory(OPENCODE);
lostSessionStory(OPENCODE, {
  session: 'ses_doesnotexist0000000000000',
  message: 'Session not found',
});
