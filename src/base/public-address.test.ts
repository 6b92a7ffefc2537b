import { expect, test } from 'vitest';
import { isPublicAddress, isPublicHost } from './public-address.ts';

const CLOSED = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.127.255.255', '127.0.0.1', '127.9.9.9'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.1', '192.0.2.1', '192.168.1.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1', '239.1.1.1'],
  ...['240.0.0.1', '255.255.255.255', '256.1.1.1', '1.2.3', 'example.com', '', 'fe80::1%eth0'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '::8.8.8.8', 'fc00::1'],
  ...['fdff::1', 'fe80::1', 'febf::1', 'fec0::1', 'ff02::1', '2001:db8::1', '2002:7f00:1::'],
  ...['2001::1', '2001:1ff::1', '3fff:fff::1', '64:ff9b::7f00:1', '64:ff9b:1::808:808', '1::1'],
];
const OPEN = [
  ...['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1'],
  ...['192.167.1.1', '198.17.0.1', '198.20.0.1', '223.255.255.255', '2606:4700::1111'],
  ...['2001:200::1', '2a00:1450:4001::200e', '64:ff9b::808:808'],
];

test('only addresses of the public internet are public', () => {
  expect([...CLOSED, ...OPEN].filter(isPublicAddress)).toEqual(OPEN);
});

test.each([
  ['https://example.com/', true],
  ['https://localhost.example.com/', true],
  ['https://localhost/', false],
  ['https://LOCALHOST./', false],
  ['https://app.localhost/', false],
  ['https://ip6-loopback/', false],
  ['https://2130706433/', false],
  ['https://0x7f000001/', false],
  ['https://0177.0.0.1/', false],
  ['https://127.1/', false],
  ['https://[::1]/', false],
  ['https://[::ffff:7f00:1]/', false],
  ['https://[2606:4700::1111]/', true],
  ['https://134744072/', true],
])('%s as a target: %s', (url, expected) => {
  expect(isPublicHost(new URL(url).hostname)).toBe(expected);
});
