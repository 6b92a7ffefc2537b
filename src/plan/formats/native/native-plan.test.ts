/** The native plan as an object: its type has the keys of the schema, and it is read like its YAML. */

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { planInput } from '../../../../test/support/plan-input.ts';
import { parsePlan, parsePlanObject } from '../../parse.ts';
import { formatProblem, ProblemLog } from '../../problem.ts';
import { splitFrontMatter } from '../../syntax/markdown.ts';
import { plainValue, readYaml } from '../../syntax/yaml.ts';
import { type AgentName, definePlan, type KnownAgent, type NativePlan } from './native-plan.ts';
import type { CheckedPlan } from './schema.ts';
import { AGENTS } from './values.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const PLANS = globSync(['examples/native/*.yaml', 'test/fixtures/plans/native/*'], { cwd: ROOT });

describe('an object gives the same plan as its YAML', () => {
  test.each(PLANS)('%s', (path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    const name = path.replace(/^.*\/|\.\w+$/g, '');
    const around = { directory: dirname(path), files: { 'prompts/login.md': 'Log in.' } };
    const input = planInput(path, text, around);
    const ofText = parsePlan(input, null);
    expect(ofText.plan?.tasks.length).toBeGreaterThan(0);

    const ofObject = parsePlanObject(objectOf(text) as NativePlan, name, input);

    expect(ofObject.plan).toEqual(ofText.plan);
    const messages = ofText.problems.map(({ message, remedy }) => [message, remedy]);
    expect(ofObject.problems.map(({ message, remedy }) => [message, remedy])).toEqual(messages);
  });

  test('there are such plans', () => {
    expect(PLANS.length).toBeGreaterThan(5);
  });
});

function objectOf(text: string): unknown {
  const front = splitFrontMatter(text);
  const yaml = front.kind === 'closed' ? front.yaml : text;
  return plainValue(
    readYaml({ text: yaml, firstLine: 1, version: '1.2' }, new ProblemLog('plan'))!,
  );
}

function read(plan: unknown) {
  return parsePlanObject(plan as NativePlan, 'plan', planInput('', ''));
}

test('a problem says where in the object it is', () => {
  const { plan, problems } = read({
    landfast: 1,
    land: { verify: 'always' },
    tasks: [
      { id: 'users', prompt: 'Add users.', timeout: '5 minutes' },
      { id: 'users', prompt: 'Again.', needs: ['user'], env: { LD_PRELOAD: 'x' } },
      { id: 'login' },
    ],
  });
  expect(plan).toBeNull();
  expect(problems.map(formatProblem)).toEqual([
    'plan: land.verify: error: land.verify: expected one of each, batch, off, found "always"',
    'plan: tasks[0].timeout: error: tasks[0].timeout: expected a duration such as 90s, 7m or 1h30m, found "5 minutes"',
    'plan: tasks[1].id: error: duplicate task id "users"\n  the task at tasks[0].id has it too: rename one',
    'plan: tasks[1].needs[0]: error: task "users": needs names undefined task ids: "user"\n  did you mean "users"?',
    'plan: tasks[1].env.LD_PRELOAD: error: tasks[1].env.LD_PRELOAD: LD_PRELOAD must not be set: it changes how programs are loaded\n  remove it, or set it in a script that the task runs',
    'plan: tasks[2]: error: task "login" has no prompt\n  add prompt or prompt_file',
  ]);
  expect(problems[0]).toMatchObject({ line: 0, column: 0, path: 'land.verify' });
});

test('a key that is undefined counts as absent', () => {
  const tasks = [{ id: 'a', prompt: 'x', model: undefined }];
  expect(read({ landfast: 1, name: undefined, tasks }).plan).toEqual(
    read({ landfast: 1, tasks: [{ id: 'a', prompt: 'x' }] }).plan,
  );
});

test('what no YAML can say is refused', () => {
  const loop: Record<string, unknown> = { landfast: 1 };
  loop.tasks = [loop];
  const problemsOf = (plan: unknown) => read(plan).problems.map(formatProblem);
  const way = '\n  use texts, numbers, booleans, lists and objects';
  expect(problemsOf(loop)).toEqual([`plan: tasks[0]: error: the object contains itself${way}`]);
  expect(problemsOf({ landfast: 1, tasks: new Set() })).toEqual([
    `plan: tasks: error: expected plain data, found an instance of Set${way}`,
  ]);
  expect(problemsOf({ landfast: 1, tasks: [{ id: 'a', prompt: () => 'x' }] })).toEqual([
    `plan: tasks[0].prompt: error: expected plain data, found a function${way}`,
  ]);
  expect(problemsOf(['landfast'])).toEqual([
    'plan: error: a plan must be a mapping\n  begin with landfast: 1',
  ]);
});

/** Without modifiers and undefined; what may be a number is one, because texts become numbers. */
type Plain<T> = number extends T
  ? number
  : [AgentName] extends [T]
    ? string
    : T extends readonly (infer Item)[]
      ? readonly Plain<Item>[]
      : T extends object
        ? { -readonly [K in keyof T]-?: Plain<Exclude<T[K], undefined>> }
        : T;

/** Of these the type says which keys exclude each other, and the schema does not. */
type Alternatives = 'notify' | 'mcp';

type KeysOf<T> = T extends unknown ? keyof T : never;

test('the type has the keys and words of the schema', () => {
  type Typed = Plain<NativePlan>;
  type Checked = Plain<CheckedPlan>;
  type Sections = Exclude<keyof Checked, Alternatives | 'defaults' | 'tasks'>;
  expectTypeOf<keyof Typed>().toEqualTypeOf<keyof Checked>();
  expectTypeOf<Pick<Typed, Sections>>().toEqualTypeOf<Pick<Checked, Sections>>();
  expectTypeOf<Omit<Typed['defaults'], Alternatives>>().toEqualTypeOf<
    Omit<Checked['defaults'], Alternatives>
  >();
  expectTypeOf<Omit<Typed['tasks'][number], Alternatives>>().toEqualTypeOf<
    Omit<Checked['tasks'][number], Alternatives>
  >();
  expectTypeOf<KeysOf<Typed['notify'][number]>>().toEqualTypeOf<
    KeysOf<Checked['notify'][number]>
  >();
  expectTypeOf<KeysOf<Typed['defaults']['mcp'][string]>>().toEqualTypeOf<
    KeysOf<Checked['defaults']['mcp'][string]>
  >();
});

test('the type has the agents of the schema', () => {
  const names: Readonly<Record<KnownAgent, true>> = {
    claude: true,
    codex: true,
    gemini: true,
    opencode: true,
    acp: true,
    command: true,
    shell: true,
  };
  expect(AGENTS).toEqual(Object.keys(names));
});

test('the type refuses what the schema refuses', () => {
  const a = { id: 'a', prompt: 'x' };
  const plans = [
    definePlan({ landfast: 1, tasks: [{ ...a, timeout: '5m', needs: [], agent: 'codex' }] }),
    // @ts-expect-error A plan has tasks.
    definePlan({ landfast: 1 }),
    // @ts-expect-error A task has an id.
    definePlan({ landfast: 1, tasks: [{ prompt: 'x' }] }),
    // @ts-expect-error There is no key of this name.
    definePlan({ landfast: 1, nam: 'x', tasks: [a] }),
    // @ts-expect-error A list, not a text.
    definePlan({ landfast: 1, tasks: [{ ...a, needs: 'b' }] }),
    // @ts-expect-error No such agent.
    definePlan({ landfast: 1, tasks: [{ ...a, agent: 'clod' }] }),
    // @ts-expect-error No such word.
    definePlan({ landfast: 1, land: { verify: 'always' }, tasks: [a] }),
    // @ts-expect-error One way to notify, not none.
    definePlan({ landfast: 1, notify: [{ on: ['failed'] }], tasks: [a] }),
  ];
  expect(plans.map((plan) => read(plan).plan !== null)).toEqual(plans.map((_, i) => i === 0));
});
