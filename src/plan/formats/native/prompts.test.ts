/** Sections of a Markdown body. */

import { expect, test } from 'vitest';
import { sectionsOf } from './native.ts';

test('a section goes to the next heading of level one or two', () => {
  expect(
    sectionsOf('intro\n## a ##\n\none\n### deeper\ntwo\n## b\r\nthree\n# end\nmore', 10),
  ).toEqual([
    { title: 'a', text: 'one\n### deeper\ntwo', line: 11 },
    { title: 'b', text: 'three', line: 16 },
  ]);
});

test('headings inside fences are text, and a fence is closed by its like', () => {
  const body =
    '## a\n````md\n## x\n```\n## y\n````\n~~~\n## z\n~~~\n## b\n``` not ` a fence\n## c\n';
  expect(sectionsOf(body, 1).map(({ title }) => title)).toEqual(['a', 'b', 'c']);
});

test('without headings there is nothing', () => {
  expect(sectionsOf('', 1)).toEqual([]);
  expect(sectionsOf('##no blank\n    ## code?\n', 1)).toEqual([]);
});
