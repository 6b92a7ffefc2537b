import { expect, test } from 'vitest';
import { isPrivate, nameOf, targetOf, verdictOf } from './allow.ts';

const PATTERNS = [
  ...['api.example.com', '*.NPMjs.org.', 'git.example.com:8443', '10.0.0.7', '[0:0::1]:81'],
  ...['localhost:3000', '*.0.0.1', 'http://odd.example', '*', ''],
];

function verdict(text: string): string {
  const target = targetOf(text, 443);
  return target === null ? 'unreadable' : verdictOf(PATTERNS, target);
}

test.each([
  ['api.example.com', 'public'],
  ['API.Example.COM.:443', 'public'],
  ['api.example.com:80', 'public'],
  ['api.example.com:22', 'forbidden'],
  ['example.com', 'forbidden'],
  ['api.example.com.evil.org', 'forbidden'],
  ['xapi.example.com', 'forbidden'],
  ['registry.npmjs.org', 'public'],
  ['a.b.npmjs.org', 'public'],
  ['npmjs.org', 'forbidden'],
  ['evilnpmjs.org', 'forbidden'],
  ['git.example.com:8443', 'public'],
  ['git.example.com', 'forbidden'],
  ['10.0.0.7', 'anywhere'],
  ['0xa.7:80', 'anywhere'],
  ['10.0.0.7:22', 'forbidden'],
  ['[::1]:81', 'anywhere'],
  ['[::1]', 'forbidden'],
  ['localhost:3000', 'anywhere'],
  ['localhost', 'forbidden'],
  ['127.0.0.1', 'forbidden'],
  ['2130706433', 'forbidden'],
  ['odd.example', 'forbidden'],
  ['a@api.example.com', 'unreadable'],
  ['api.example.com:443:80', 'unreadable'],
  ['api.example.com:0', 'unreadable'],
  ['api.example.com:65536', 'unreadable'],
  ['api.example.com/x', 'unreadable'],
  ['api%2eexample.com', 'unreadable'],
  [`${'a.'.repeat(130)}npmjs.org`, 'unreadable'],
  ['', 'unreadable'],
])('%j is %s', (text, expected) => {
  expect(verdict(text)).toBe(expected);
});

test('localhost without a port may not be this machine', () => {
  expect(verdictOf(['localhost'], { host: 'localhost', port: 80 })).toBe('public');
});

test('a target is named as a pattern would', () => {
  const names = ['a.example:443', 'a.example:22', '[::1]:80', '[::1]:81'];
  expect(names.map((text) => nameOf(targetOf(text, 1) ?? { host: '', port: 0 }))).toEqual([
    'a.example',
    'a.example:22',
    '[::1]',
    '[::1]:81',
  ]);
});

test('addresses of the machine and its network are private, however written', () => {
  const inside = [
    ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '10.1.2.3', '172.31.0.1', '192.168.1.1'],
    ...['169.254.169.254', '100.64.0.1', '224.0.0.1', '255.255.255.255', '::', '::1'],
    ...['fe80::1', 'fd00::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:10.0.0.1'],
    ...['64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe'],
  ];
  const outside = ['1.1.1.1', '172.32.0.1', '2606:4700::1', '::ffff:1.1.1.1', '64:ff9b::101:101'];
  expect([...inside, ...outside].filter(isPrivate)).toEqual(inside);
});
