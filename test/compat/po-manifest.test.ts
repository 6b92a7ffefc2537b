/**
 * Manifests of parallel-orchestra, given to the built program: what it accepts, and what it refuses
 * with which words. Every rule of them is tested beside the parser, src/plan/formats/po-manifest.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, landfast } from '../support/landfast.ts';
import { type TempDir, tempDir } from '../support/temp-dir.ts';
import { manifest, timeless } from './po-project.ts';

let home: TempDir;
beforeAll(async () => {
  home = await tempDir();
  await home.write({ 'work/.keep': '' });
});
afterAll(() => home[Symbol.asyncDispose]());

/** A dry run of this text: the same checks as before a real one, and no agent. */
async function dryRun(text: string): Promise<Ended> {
  const cwd = join(home.path, 'work');
  await writeFile(join(cwd, 'plan.md'), text);
  return landfast(['run', 'plan.md', '--dry-run'], { cwd });
}

const task = (id: string, more = 'read_only: true') => `  - { id: ${id}, agent: dev, ${more} }\n`;
const version = (text: string) => manifest(task('a')).replace('"0.1"', text);

describe('what is refused, with 2 and a word about it', () => {
  const cases: readonly (readonly [id: string, text: string, ...words: string[]])[] = [
    ...['0.0', '0.2', '0.7', '1.0', 'v0.1', ''].map((given): [string, string, string] => [
      'PO-02',
      version(`"${given}"`),
      'po_plan_version',
    ]),
    ['PO-05', manifest(task('a')).replace('cwd: "."\n', ''), 'cwd is missing'],
    ['PO-05', manifest(task('a')).replace('"."', '123'), 'cwd must be text'],
    ['PO-07', manifest('  - { agent: dev, read_only: true }\n'), 'id is missing'],
    ['PO-07', manifest('  - { id: a, read_only: true }\n'), 'agent is missing'],
    ['PO-07', manifest('  - { id: a, agent: dev }\n'), 'read_only is missing'],
    ['PO-08', manifest(task('a', 'read_only: "yes"')), 'read_only'],
    ['PO-10', manifest(task('a')).replace('---\n', ''), 'front matter'],
    ['PO-10', manifest(task('a')).replace(/---\n\n.*/s, ''), 'front matter'],
    ...['../../etc/passwd', 'task/slash', 'task space', 'task@bad', ''].map(
      (id): [string, string, string] => ['PO-11', manifest(task(`"${id}"`)), 'is not allowed'],
    ),
    [
      'PO-13',
      manifest(['a', 'b'].map((id) => task(id, 'read_only: false, writes: [src/o.py]')).join('')),
      'conflict',
    ],
    [
      'PO-16',
      manifest(task('a', 'read_only: true, depends_on: [zoo, bar]')),
      'undefined',
      'bar',
      'zoo',
    ],
    [
      'PO-17',
      manifest(
        task('a', 'read_only: true, depends_on: [b]') +
          task('b', 'read_only: true, depends_on: [a]'),
      ),
      'cyclic',
    ],
    ['PO-17', manifest(task('a', 'read_only: true, depends_on: [a]')), 'cyclic', 'a -> a'],
    ['PO-19', manifest(task('a', 'read_only: true, max_retries: -1')), 'max_retries'],
    ['PO-19', manifest(task('a', 'read_only: true, max_retries: ')), 'max_retries'],
    ['PO-22', manifest(task('a', 'read_only: true, env: { LD_PRELOAD: x }')), 'LD_PRELOAD'],
    [
      'PO-22',
      manifest(task('a', 'read_only: true, env: { PO_WORKTREE_GUARD: "0" }')),
      'PO_WORKTREE_GUARD',
    ],
    ['PO-23', manifest(task('a', 'read_only: true, concurrency_group: g')), 'concurrency_limits'],
    ...['0', '257', '"x"'].map((limit): [string, string, string] => [
      'PO-23',
      manifest(
        task('a', 'read_only: true, concurrency_group: g'),
        `concurrency_limits: { g: ${limit} }\n`,
      ),
      'from 1 to 256',
    ]),
  ];
  const named = cases.map(([id, text, ...words]) => ({ id, text, words, about: words[0] }));

  test.each(named)('$id: a manifest is refused because of "$about"', async ({ text, words }) => {
    const ended = await dryRun(text);
    expect(ended.code).toBe(2);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toMatch(/^plan\.md:\d+:\d+: error: /m);
    for (const word of words) expect(ended.stderr).toContain(word);
  });
});

const line = (ended: Ended, id: string): string | undefined =>
  ended.stdout.split('\n').find((text) => new RegExp(`\\[stage \\d+\\] ${id} `).test(text));

describe('what is accepted', () => {
  test('PO-01: tasks with only the required keys have the known defaults', async () => {
    const ended = await dryRun(manifest(task('a') + task('b')));
    expect(ended.code).toBe(0);
    expect(line(ended, 'a')?.trim()).toBe('[stage 1] a agent=dev timeout=900s retries=1 read_only');
  });

  test('PO-04: a file of the predecessor runs, with a note', async () => {
    const text = manifest(task('a', 'read_only: true, timeout_sec: 60'))
      .replace('po_plan_version: "0.1"', 'clade_plan_version: "0.6"')
      .replace('cwd: "."\n', '');
    const ended = await dryRun(text);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain('plan.md:2:1: warning: clade_plan_version is the key of');
    expect(line(ended, 'a')?.trim()).toBe('[stage 1] a agent=dev timeout=60s read_only');
  });

  test('PO-08: yes without quotes is true', async () => {
    const ended = await dryRun(manifest(task('a', 'read_only: yes')));
    expect([ended.code, line(ended, 'a')?.includes('read_only')]).toEqual([0, true]);
  });

  test('PO-14: two tasks may write one file if one waits for the other', async () => {
    const ended = await dryRun(
      manifest(
        task('a', 'read_only: false, writes: [./src/x.py]') +
          task('b', 'read_only: false, writes: [src/../src/x.py], depends_on: [a]'),
      ),
    );
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(line(ended, 'b')).toContain(
      "[stage 2] b agent=dev timeout=900s retries=1 depends=['a']",
    );
  });

  test('PO-19, PO-20: retries of the task, of defaults, and as text', async () => {
    const tasks =
      task('a', 'read_only: true, max_retries: 5') +
      task('b') +
      task('c', 'read_only: true, max_retries: "3"');
    const ended = await dryRun(manifest(tasks, 'defaults: { max_retries: 2 }\n'));
    const retries = ['a', 'b', 'c'].map((id) => /retries=(\d+)/.exec(line(ended, id) ?? '')?.[1]);
    expect([ended.code, ...retries]).toEqual([0, '5', '2', '3']);
  });

  test('PO-20: defaults are for tasks that say nothing', async () => {
    const ended = await dryRun(manifest(task('a'), 'defaults: { max_retries: 0 }\n'));
    expect(line(ended, 'a')?.trim()).toBe('[stage 1] a agent=dev timeout=900s read_only');
  });

  test('PO-25: CRLF, blanks after the delimiters and an indented --- in a prompt', async () => {
    const prompt =
      '  - id: a\n    agent: dev\n    read_only: true\n    prompt: |\n      x\n      ---\n';
    const text = manifest(prompt).replaceAll('---\n', '---  \n').replaceAll('\n', '\r\n');
    expect(await dryRun(text)).toMatchObject({ code: 0, stderr: '' });
  });

  test('PO-26: a byte order mark', async () => {
    expect(await dryRun(`\ufeff${manifest(task('a'))}`)).toMatchObject({ code: 0, stderr: '' });
  });

  test('a dry run prints no summary line of a task', async () => {
    expect(timeless(await dryRun(manifest(task('a'))))).toEqual([]);
  });
});
