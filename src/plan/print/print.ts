/**
 * A Plan as the text of a native plan, for people: defaults are left out, and what all tasks share is
 * said once. Read again, without a configuration, the text gives the same Plan.
 */

import { Document, isMap, isScalar, isSeq, type Node, type Pair, type Scalar, visit } from 'yaml';
import type { Plan } from '../../model/plan.ts';
import { lower } from '../formats/native/lower.ts';
import { defaultsSchema } from '../formats/native/schema.ts';
import { sectionWords, taskWords, type Words } from './words.ts';

export interface Printing {
  /** Comments at the top. */
  readonly notes?: readonly string[];
  /** Comments above keys of the top level. */
  readonly comments?: Readonly<Record<string, string>>;
  /** Print defaults too, so that no configuration can change them. */
  readonly isFull?: boolean;
}

export function printPlan(plan: Plan, printing: Printing = {}): string {
  const usual = printing.isFull === true ? {} : sectionWords(BARE);
  const usualTask = printing.isFull === true ? {} : taskWords(BARE.tasks[0]!);
  const all = plan.tasks.map((task) => withoutUsual(taskWords(task), usualTask));
  const shared = sharedBy(all);
  const tasks = all.map((task) => without(task, Object.keys(shared)));
  const { base, target, ...sections } = withoutUsual(sectionWords(plan), usual);
  const words = {
    landfast: 1,
    name: plan.name,
    base,
    target,
    ...(Object.keys(shared).length === 0 ? {} : { defaults: shared }),
    ...sections,
    tasks,
  };
  return textOf(words, printing);
}

/** A plan of nothing but defaults. */
const BARE: Plan = lower({ landfast: 1, tasks: [{ id: '' }] }, [''], {
  name: '',
  config: {},
  home: '',
});

/** Compared key by key; any other mapping is one value. */
const SECTIONS = ['workspace', 'land', 'limits', 'fence', 'conventions', 'tools'];

function withoutUsual(words: Words, usual: Words): Words {
  const entries = Object.entries(words).flatMap(([key, value]) => {
    if (!SECTIONS.includes(key) || typeof value !== 'object') {
      return value === undefined || isSame(value, usual[key]) ? [] : [[key, value]];
    }
    const left = withoutUsual(value as Words, (usual[key] as Words | undefined) ?? {});
    return Object.keys(left).length === 0 ? [] : [[key, left]];
  });
  return Object.fromEntries(entries);
}

/** In `defaults` they do not apply to scripts, or to the task's own agent. */
const NOT_SHARED = ['fallbacks', 'estimate_usd'];

/** What all tasks have in common and `defaults` can say. */
function sharedBy(tasks: readonly Words[]): Words {
  const [first, ...others] = tasks;
  if (first === undefined || others.length === 0) return {};
  const entries = Object.entries(first).filter(
    ([key, value]) =>
      Object.hasOwn(defaultsSchema.shape, key) &&
      !NOT_SHARED.includes(key) &&
      others.every((task) => isSame(task[key], value)),
  );
  return Object.fromEntries(entries);
}

function without(words: Words, keys: readonly string[]): Words {
  return Object.fromEntries(Object.entries(words).filter(([key]) => !keys.includes(key)));
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function textOf(words: Words, { notes = [], comments = {} }: Printing): string {
  const document = new Document(words, { aliasDuplicateObjects: false });
  visit(document, {
    Seq: (_, seq) => {
      seq.flow = seq.items.every(isShort) && widthOf(seq.items) < 76;
    },
  });
  const { contents } = document;
  for (const pair of isMap(contents) ? contents.items : []) lookOf(pair, comments);
  if (notes.length > 0) document.commentBefore = notes.map(commentLine).join('\n');
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** A blank line above long sections, and their comments. */
function lookOf(pair: Pair, comments: Readonly<Record<string, string>>): void {
  const key = pair.key as Scalar<string>;
  key.spaceBefore = isMap(pair.value) || (isSeq(pair.value) && pair.value.flow !== true);
  const comment = comments[key.value];
  if (comment !== undefined) key.commentBefore = commentLine(comment);
  if (key.value !== 'tasks' || !isSeq(pair.value)) return;
  for (const [index, task] of pair.value.items.entries()) (task as Node).spaceBefore = index > 0;
}

function isShort(item: unknown): boolean {
  return isScalar(item) && !String(item.value).includes('\n');
}

function widthOf(items: readonly unknown[]): number {
  return items.reduce<number>(
    (sum, item) => sum + (isScalar(item) ? String(item.value).length + 2 : 0),
    0,
  );
}

function commentLine(text: string): string {
  return ` ${text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ')}`;
}
