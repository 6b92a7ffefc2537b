/** The radar's warnings in the prompt of an agent that starts again. */

import type { ClashingName, Foe, Foreseen } from '../model/radar.ts';
import { code, codeList } from './markdown.ts';

/** One paragraph for each kind of thing there is to say. */
export function radarWarnings(foreseen: Foreseen): readonly string[] {
  const { collisions, clashes, missed = [], strayed } = foreseen;
  const met = collisions.map(({ with: other, files }) => {
    const whose = other === null ? 'What is about to land' : `The work of ${code(other)}`;
    return `- ${whose} changes the same lines in ${codeList(files)}.`;
  });
  const usedHere = ({ with: other, names }: Foe) =>
    names.map(
      (name) => `- ${code(other)} ${changeText(name)}; you use it in ${codeList(name.usedBy)}.`,
    );
  const broken = clashes.filter(({ landed }) => landed !== true).flatMap(usedHere);
  const gone = clashes.filter(({ landed }) => landed === true).flatMap(usedHere);
  const wanted = missed.flatMap(({ with: other, names }) =>
    names.map((name) => {
      const where = codeList(name.usedBy);
      return `- ${code(other)} uses ${code(name.name)} of ${code(name.file)} in ${where}.`;
    }),
  );
  return [
    ...(met.length === 0 ? [] : [[COLLIDES, ...met].join('\n')]),
    ...(broken.length === 0 ? [] : [[CLASHES, ...broken].join('\n')]),
    ...(gone.length === 0 ? [] : [[GONE, ...gone].join('\n')]),
    ...(wanted.length === 0 ? [] : [[WANTED, ...wanted].join('\n')]),
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

const GONE =
  'Work that has landed since you began changes names that you have begun to use. ' +
  'Use what is on the branch now, whether your workspace shows it yet or not:';

const WANTED =
  'Work that has landed since you began uses names that you take away or change. ' +
  'Keep them as they were where the task allows, or change these uses, too:';

function changeText({ name, file, change, to }: ClashingName): string {
  const what = `${code(name)} of ${code(file)}`;
  if (change === 'signature') return `changes the parameters of ${what}`;
  if (change === 'renamed' && to !== undefined) return `renames ${what} to ${code(to)}`;
  return `removes ${what}`;
}
