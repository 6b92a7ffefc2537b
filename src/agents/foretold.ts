/** What an agent is told of what the radar has seen, when it begins again. */

import type { ClashingName, Foreseen } from '../model/radar.ts';
import { code, codeList } from './markdown.ts';

/** One paragraph for each kind of thing there is to say. */
export function foretold({ collisions, clashes, strayed }: Foreseen): readonly string[] {
  const met = collisions.map(({ with: other, files }) => {
    const whose = other === null ? 'What is about to land' : `The work of ${code(other)}`;
    return `- ${whose} changes the same lines in ${codeList(files)}.`;
  });
  const broken = clashes.flatMap(({ with: other, names }) =>
    names.map(
      (name) => `- ${code(other)} ${changeText(name)}; you use it in ${codeList(name.usedBy)}.`,
    ),
  );
  return [
    ...(met.length === 0 ? [] : [[COLLIDES, ...met].join('\n')]),
    ...(broken.length === 0 ? [] : [[CLASHES, ...broken].join('\n')]),
    ...(strayed.length === 0 ? [] : [`${ASTRAY} ${codeList(strayed)}.`]),
  ];
}

const ASTRAY = "These files are not this task's; leave them as they were before you changed them:";

const COLLIDES =
  'Others work at the same time, and as it is your work will not merge with theirs. ' +
  'Keep your changes in these places as small as the task allows:';

const CLASHES =
  'Others change names that you have begun to use. ' +
  'Where the task allows, do without them or be ready for both:';

function changeText({ name, file, change, to }: ClashingName): string {
  const what = `${code(name)} of ${code(file)}`;
  if (change === 'signature') return `changes the parameters of ${what}`;
  if (change === 'renamed' && to !== undefined) return `renames ${what} to ${code(to)}`;
  return `removes ${what}`;
}
