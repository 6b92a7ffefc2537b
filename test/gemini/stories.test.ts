/** The stories that every agent must pass, with the real Gemini CLI. */

import { GEMINI } from '../support/agents/real-agents.ts';
import { httpError } from '../support/agents/scripted-api.ts';
import {
  hangStory,
  landingStory,
  lostSessionStory,
  refusedLoginStory,
  sparseStory,
  stopStories,
} from '../support/agents/stories.ts';

const WRONG_KEY = 'API key not valid. Please pass a valid API key.';

landingStory(GEMINI, {
  overload: [httpError(503)],
  variables: [
    'GEMINI_API_KEY',
    'GEMINI_CLI_NO_RELAUNCH',
    'GEMINI_CLI_TRUST_WORKSPACE',
    'GEMINI_MODEL',
    'GOOGLE_GEMINI_BASE_URL',
  ],
});
refusedLoginStory(GEMINI, {
  refusal: httpError(400, { message: WRONG_KEY }),
  message: `The service answered 400: ${WRONG_KEY}`,
});
stopStories(GEMINI);
hangStory(GEMINI, { countedReplies: 2 }); // It tells its usage only when it ends by itself.
sparseStory(GEMINI);
lostSessionStory(GEMINI, { message: 'No previous sessions found' });
