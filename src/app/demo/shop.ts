/**
 * The project of the demo as it is before the plan runs: a corner shop in plain JavaScript, with
 * tests and without dependencies.
 */

export const SHOP_FILES: Readonly<Record<string, string>> = {
  'package.json': `{
  "name": "corner-shop",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test" }
}
`,
  'README.md': `# Corner shop

What is in the cart, and what it costs. \`npm test\` runs the tests; \`plan.yaml\` says what comes
next.
`,
  'src/catalog.js': `const PRICES = { tea: 3.5, jam: 4.2, bread: 2.8 };

/** What one piece costs, in euros. */
export function priceOf(id) {
  const price = PRICES[id];
  if (price === undefined) throw new Error('We do not sell ' + id);
  return price;
}
`,
  'src/cart.js': `import { priceOf } from './catalog.js';

/** What everything in the cart costs, in euros. */
export function total(cart) {
  return cart.reduce((sum, { id, count }) => sum + priceOf(id) * count, 0);
}
`,
  'src/rules/index.js': `// What changes the amount to pay, one line a rule.
`,
  'test/cart.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.js';

test('the total counts every piece', () => {
  assert.equal(total([{ id: 'tea', count: 2 }, { id: 'bread', count: 5 }]), 21);
});

test('what we do not sell has no price', () => {
  assert.throws(() => total([{ id: 'gold', count: 1 }]), /do not sell gold/);
});
`,
};
