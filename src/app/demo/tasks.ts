/**
 * The tasks of the demo (who needs whom, what each may change, what a coding agent is told), and
 * its plan. They are chosen so that one run shows what matters: `stock` fails once and is tried
 * again (if scripted). `discount` and `shipping` may both write `src/rules`: they take turns.
 * `cents` changes what `total` returns while `receipt` uses it as it was: git merges them, each is
 * green alone, and together they are red.
 */

import { SCRIPTS } from './scripts.ts';

export type DemoTaskId = keyof typeof SCRIPTS;

export interface DemoTask {
  readonly id: DemoTaskId;
  readonly needs: readonly DemoTaskId[];
  readonly writes: readonly string[];
  /** Whether it must pass the project's tests in its own workspace first. */
  readonly checked: boolean;
  /** For an agent that reads prose. */
  readonly prose: string;
}

/** Which tasks show what, in the words above. */
export const ROLES = {
  retried: 'stock',
  apart: ['discount', 'shipping'],
  together: { first: 'cents', second: 'receipt' },
} as const satisfies Readonly<Record<string, unknown>>;

export const DEMO_TASKS: readonly DemoTask[] = [
  {
    id: 'cents',
    needs: [],
    writes: ['src/cart.js', 'test/cart.test.js'],
    checked: false,
    prose: `Count money in whole cents

Change total() in src/cart.js so that it returns whole cents, as an integer, instead of euros. Say
so in its comment and bring test/cart.test.js in line. The catalog keeps its prices in euros.
`,
  },
  {
    id: 'receipt',
    needs: [],
    writes: ['src/receipt.js', 'test/receipt.test.js'],
    checked: true,
    prose: `Print a receipt

Add src/receipt.js: receipt(cart) returns an array of lines, first one such as '2 x tea' for each
entry of the cart, last 'Total in euros: 7.00' with two decimals, using total() of src/cart.js. Test
the whole result for a cart of two teas in test/receipt.test.js.
`,
  },
  {
    id: 'stock',
    needs: [],
    writes: ['src/stock.js', 'test/stock.test.js'],
    checked: false,
    prose: `Keep track of the stock

Add src/stock.js: take(stock, cart) returns a new object with what is left, for example { tea: 3 }
for { tea: 5 } and a cart of two teas, and throws an Error 'Not enough tea' where there is too
little. Test both in test/stock.test.js.
`,
  },
  {
    id: 'guide',
    needs: [],
    writes: ['docs/**'],
    checked: false,
    prose: `Explain the shop to new colleagues

Write docs/guide.md, at most ten lines: what the catalog, the cart and the rules are for, and that a
new rule is a file in src/rules and a line in src/rules/index.js.
`,
  },
  {
    id: 'discount',
    needs: ['cents'],
    writes: ['src/rules/**', 'test/discount.test.js'],
    checked: false,
    prose: `Give 10 % off from 20 euros

Add src/rules/discount.js: discount(cents) takes 10 % off an amount of 2000 cents or more, rounded,
and leaves smaller ones alone. Export it from src/rules/index.js too and test it from there in
test/discount.test.js.
`,
  },
  {
    id: 'shipping',
    needs: ['cents'],
    writes: ['src/rules/*.js', 'test/shipping.test.js'],
    checked: false,
    prose: `Charge for shipping

Add src/rules/shipping.js: shipping(cents) adds 490 cents to an amount below 3000 cents and leaves
others alone. Export it from src/rules/index.js too and test it from there in test/shipping.test.js.
`,
  },
  {
    id: 'checkout',
    needs: ['discount', 'shipping', 'stock', 'receipt'],
    writes: ['src/checkout.js', 'test/checkout.test.js'],
    checked: false,
    prose: `Check out: stock, rules and receipt together

Add src/checkout.js: checkout(stock, cart) returns { pay, left, receipt } where pay is the total in
cents after discount and then shipping, left is what take() leaves of the stock, and receipt is the
receipt's lines. Test it in test/checkout.test.js.
`,
  },
];

export interface PlanChoices {
  readonly agent: string;
  /** Whether that agent reads prose rather than scripts. */
  readonly prose: boolean;
  /** A shell command that runs the project's tests. */
  readonly tests: string;
}

export const WORKERS = 4;

/** The text of plan.yaml. */
export function demoPlan(choices: PlanChoices): string {
  return `# What landfast demo runs. To look at it without running it: landfast plan plan.yaml
landfast: 1
name: corner shop
target: main
defaults: { agent: ${choices.agent}, retries: 1, timeout: 10m }
gates:
  - name: tests
    run: ${JSON.stringify(choices.tests)}
    timeout: 1m
limits: { workers: ${WORKERS} }
tasks:
${DEMO_TASKS.map((task) => taskText(task, choices)).join('\n')}`;
}

function taskText(task: DemoTask, { prose, tests }: PlanChoices): string {
  const lines = [
    `  - id: ${task.id}`,
    ...(task.needs.length === 0 ? [] : [`    needs: [${task.needs.join(', ')}]`]),
    `    writes: [${task.writes.join(', ')}]`,
    ...(task.checked ? [`    checks: [${JSON.stringify(tests)}]`] : []),
    '    prompt: |',
    ...indented(prose ? task.prose : SCRIPTS[task.id]),
  ];
  return `${lines.join('\n')}\n`;
}

function indented(text: string): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `      ${line}`));
}
