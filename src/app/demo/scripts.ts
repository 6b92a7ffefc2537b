/**
 * What the scripted agents of the demo do: one short `sh` script a task, which is its prompt. The
 * first line becomes the subject of the commit. Only `stock` looks at its attempt, and only
 * `receipt` at what has landed. Pauses stand for thinking: `cents` thinks shortest, so that it has
 * landed when `receipt` is done.
 */

export const SCRIPTS = {
  cents: `# Count money in whole cents
echo 'Reading src/cart.js and its callers.'
sleep 0.4
cat > src/cart.js <<'END'
import { priceOf } from './catalog.js';

/** What everything in the cart costs, in whole cents. */
export function total(cart) {
  return cart.reduce((sum, { id, count }) => sum + Math.round(priceOf(id) * 100) * count, 0);
}
END
cat > test/cart.test.js <<'END'
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/cart.js';

test('the total counts every piece, in cents', () => {
  assert.equal(total([{ id: 'tea', count: 2 }, { id: 'bread', count: 5 }]), 2100);
});

test('what we do not sell has no price', () => {
  assert.throws(() => total([{ id: 'gold', count: 1 }]), /do not sell gold/);
});
END
echo 'total() now returns whole cents.'
`,

  receipt: `# Print a receipt
if grep -q 'in whole cents' src/cart.js; then
  echo 'total() returns cents here.'
  euros='total(cart) / 100'
else
  echo 'total() returns euros here.'
  euros='total(cart)'
fi
sleep 1.2
cat > src/receipt.js <<END
import { total } from './cart.js';

/** The lines of a receipt. */
export function receipt(cart) {
  const lines = cart.map(({ id, count }) => count + ' x ' + id);
  return [...lines, 'Total in euros: ' + ($euros).toFixed(2)];
}
END
cat > test/receipt.test.js <<'END'
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receipt } from '../src/receipt.js';

test('a receipt ends with the total in euros', () => {
  assert.equal(receipt([{ id: 'tea', count: 2 }]).at(-1), 'Total in euros: 7.00');
});
END
`,

  stock: `# Keep track of the stock
echo 'Writing take() and its tests.'
sleep 0.6
if [ "$LANDFAST_ATTEMPT" = 1 ]; then
  echo 'The connection was lost in the middle of an answer.' >&2
  exit 1
fi
cat > src/stock.js <<'END'
/** What is left after a cart was sold; throws when there is not enough. */
export function take(stock, cart) {
  const left = { ...stock };
  for (const { id, count } of cart) {
    if ((left[id] ?? 0) < count) throw new Error('Not enough ' + id);
    left[id] -= count;
  }
  return left;
}
END
cat > test/stock.test.js <<'END'
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { take } from '../src/stock.js';

test('what was sold is gone', () => {
  assert.deepEqual(take({ tea: 5 }, [{ id: 'tea', count: 2 }]), { tea: 3 });
});

test('nobody can buy what is not there', () => {
  assert.throws(() => take({}, [{ id: 'tea', count: 1 }]), /Not enough tea/);
});
END
`,

  guide: `# Explain the shop to new colleagues
echo 'Reading src before writing about it.'
sleep 1.6
mkdir -p docs
cat > docs/guide.md <<'END'
# How the shop works

The catalog knows prices, the cart adds them up, the rules change what is to pay.
A new rule is a file in src/rules and a line in src/rules/index.js.
END
`,

  discount: `# Give 10 % off from 20 euros
echo 'Adding a rule to src/rules.'
sleep 1
echo "export { discount } from './discount.js';" >> src/rules/index.js
cat > src/rules/discount.js <<'END'
/** 10 % less from 20 euros; everything in cents. */
export function discount(cents) {
  return cents >= 2000 ? Math.round(cents * 0.9) : cents;
}
END
cat > test/discount.test.js <<'END'
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discount } from '../src/rules/index.js';

test('large orders are cheaper, small ones are not', () => {
  assert.deepEqual([1999, 2000].map(discount), [1999, 1800]);
});
END
`,

  shipping: `# Charge for shipping
echo 'Adding a rule to src/rules.'
sleep 0.6
echo "export { shipping } from './shipping.js';" >> src/rules/index.js
cat > src/rules/shipping.js <<'END'
/** 4.90 euros up to 30 euros, then nothing; everything in cents. */
export function shipping(cents) {
  return cents < 3000 ? cents + 490 : cents;
}
END
cat > test/shipping.test.js <<'END'
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shipping } from '../src/rules/index.js';

test('shipping is free from 30 euros', () => {
  assert.deepEqual([1000, 3000].map(shipping), [1490, 3000]);
});
END
`,

  checkout: `# Check out: stock, rules and receipt together
echo 'Putting the parts together.'
sleep 0.5
cat > src/checkout.js <<'END'
import { total } from './cart.js';
import { receipt } from './receipt.js';
import { discount, shipping } from './rules/index.js';
import { take } from './stock.js';

/** Sells a cart: what is to pay in cents, what is left, and the receipt. */
export function checkout(stock, cart) {
  const left = take(stock, cart);
  return { pay: shipping(discount(total(cart))), left, receipt: receipt(cart) };
}
END
cat > test/checkout.test.js <<'END'
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkout } from '../src/checkout.js';

test('a sale is paid, taken from the stock and receipted', () => {
  assert.deepEqual(checkout({ tea: 6 }, [{ id: 'tea', count: 6 }]), {
    pay: 2380,
    left: { tea: 0 },
    receipt: ['6 x tea', 'Total in euros: 21.00'],
  });
});
END
`,
} as const;
