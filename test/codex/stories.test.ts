/** The stories that every agent must pass, with the real Codex CLI. */

import { expect } from 'vitest';
import { CODEX } from '../support/agents/real-agents.ts';
import { httpError } from '../support/agents/scripted-api.ts';
import {
  hangStory,
  landingStory,
  lostSessionStory,
  refusedLoginStory,
  sparseStory,
  stopStories,
} from '../support/agents/stories.ts';

landingStory(CODEX, {
  overload: [httpError(503)],
  variables: ['CODEX_HOME', 'OPENAI_API_KEY', 'RUST_LOG'],
});
refusedLoginStory(CODEX, {
  refusal: httpError(401),
  message: expect.stringMatching(/^unexpected status 401 Unauthorized/),
  mostRequests: 2, // Left alone, the CLI would ask six times.
});
// The file is written by a patch.
stopStories(CODEX, { half: '+half' });
hangStory(CODEX, { half: '+half' });
sparseStory(CODEX);
lostSessionStory(CODEX, { message: 'no rollout found' });
