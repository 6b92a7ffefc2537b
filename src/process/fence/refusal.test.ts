import { expect, test } from 'vitest';
import { refusalOf } from './bubblewrap.ts';

test.each([
  ['bwrap: setting up uid map: Permission denied', /apparmor/],
  ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', /apparmor/],
  ['bwrap: No permissions to create a new namespace, likely because …', /userns_clone/],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /looks like a container/],
  ['bwrap: Unknown option --cap-drop', /to see more/],
  ['', /to see more/],
])('%j leads to a way out', (said, remedy) => {
  const refusal = refusalOf(said);
  expect(refusal.remedy).toMatch(remedy);
  expect(refusal.why).toContain(said || 'it said nothing');
});
