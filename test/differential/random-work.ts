/**
 * Random tasks, as shell scripts that both sides run. They often change the same files of the base,
 * so that tasks conflict.
 *
 * File contents come from the folder `$DATA`. A step whose file is gone does nothing.
 */

import type { Random } from '../sim/random.ts';
import { type BaseFiles, randomContent, randomPath, write } from './random-repository.ts';

/** Writes a task's script and data, and returns the script's path. */
export function writeWork(
  data: string,
  task: string,
  { files, random }: { readonly files: BaseFiles; readonly random: Random },
): string {
  const contents: string[] = [];
  const put = (content: string): string => `"$DATA/${task}.${contents.push(content) - 1}"`;
  const steps = Array.from({ length: random.between(1, 6) }, () => step(random, files, put));
  if (random.chance(0.2)) steps.splice(random.between(0, steps.length), 0, ownCommit(random));
  const script = [...steps, `echo ${task} > only-${task}`].join('\n');
  write(data, `${task}.sh`, `${script}\nexit 0\n`);
  for (const [nth, content] of contents.entries()) write(data, `${task}.${nth}`, content);
  return `${data}/${task}.sh`;
}

type Put = (content: string) => string;

function step(random: Random, files: BaseFiles, put: Put): string {
  const paths = [...files.keys()];
  const known = random.pick(random.chance(0.5) ? paths.slice(0, 2) : paths); // So that tasks meet.
  const content = files.get(known) ?? null;
  const path = quoted(known);
  const other = quoted(randomPath(random));
  return random.weighted<() => string>([
    [() => (content === null ? ':' : `cp ${put(edited(content, random))} ${path}`), 8],
    [() => (content === null ? ':' : `cp ${put(`${content}Last ${random.next()}\n`)} ${path}`), 4],
    [() => `${folderOf(other)} && cp ${put(randomContent(random))} ${other}`, 5],
    [() => `rm -f ${path}`, 2],
    [() => `${folderOf(other)} && test ! -e ${other} && mv ${path} ${other}`, 3],
    [() => `test ! -f ${path} || chmod ${random.pick(['+x', '-x'])} ${path}`, 2],
    [() => `rm -f ${path} && ln -s ${random.pick(['a', 'nowhere'])} ${path}`, 1],
    [() => `rm -f ${path} && mkdir ${path} && echo in > ${path}/in`, 1],
    [() => `rm -rf ${random.pick(['dir', './-dir', "'a b'"])}`, 1],
    [() => 'mkdir -p ignored empty; echo x > ignored/x; echo x > x.ign; echo x >> tracked.ign', 1],
    [() => `echo '*.txt merge=union' >> ${random.pick(['.gitattributes', 'a.b'])}`, 1],
  ])();
}

/** What an agent may do with git itself. */
function ownCommit(random: Random): string {
  return [
    'git add -A && git commit -q --allow-empty -m own',
    ...(random.chance(0.3) ? ['git commit -q --amend -m better'] : []),
    ...(random.chance(0.3) ? ['git repack -a -d -q'] : []),
  ].join(' && ');
}

/** One or two lines changed. */
function edited(content: string, random: Random): string {
  const lines = content.split('\n');
  for (let nth = random.between(1, 2); nth > 0; nth -= 1) {
    lines[random.between(0, lines.length - 1)] = `Changed ${random.between(1, 9)}`;
  }
  return lines.join('\n');
}

function quoted(path: string): string {
  return `'./${path.replaceAll("'", "'\\''")}'`;
}

function folderOf(path: string): string {
  return `mkdir -p ${path.replace(/\/[^/]*'$/, "'")}`;
}
