/**
 * Writes the JSON Schemas that are shipped: for editors, from the schemas that plans and configurations
 * are checked with, with the meanings that the tables of the documentation give; for programs, of
 * events, effects and messages, from their types.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { configSchema } from '../src/plan/config/schema.ts';
import { nativeSchema } from '../src/plan/formats/native/schema.ts';
import { type Json, typeSchemas } from './type-schema.ts';

const root = join(import.meta.dirname, '..');

/** The files and what belongs in them. */
export function schemaFiles(): Readonly<Record<string, string>> {
  const plan = meanings('docs/formats.md');
  const config = new Map([...plan, ...meanings('docs/configuration.md')]);
  const [event, effect, message] = typeSchemas([
    ['model/event.ts', 'Event'],
    ['model/effect.ts', 'Effect'],
    ['model/effect.ts', 'Message'],
  ]);
  return {
    'schemas/plan.schema.json': schemaText(nativeSchema, 'A plan of Landfast', plan),
    'schemas/config.schema.json': schemaText(configSchema, 'Configuration of Landfast', config),
    'schemas/event.schema.json': fileText('An event of a run of Landfast', event!),
    'schemas/effect.schema.json': fileText('An effect that a worker performs', effect!),
    'schemas/message.schema.json': fileText('A fact or chatter from a worker', message!),
  };
}

function fileText(title: string, schema: Json): string {
  const $schema = 'http://json-schema.org/draft-07/schema#';
  return `${JSON.stringify({ $schema, title, ...schema }, null, 2)}\n`;
}

interface JsonSchema {
  description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

function schemaText(schema: z.ZodType, title: string, known: ReadonlyMap<string, string>): string {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
  describe(json as JsonSchema, [], known);
  return fileText(title, json);
}

function describe(
  schema: JsonSchema,
  path: readonly string[],
  known: ReadonlyMap<string, string>,
): void {
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    const here = [...path, key];
    const meaning = namesOf(here).flatMap((name) => known.get(name) ?? [])[0];
    if (meaning !== undefined) inner.description = meaning;
    describe(inner, here, known);
  }
  if (schema.items !== undefined) describe(schema.items, path, known);
}

/** What the tables may call a key: a task's has no section, and `tools` may be in several. */
function namesOf(path: readonly string[]): readonly string[] {
  const [section = ''] = path;
  const isOfTask = ['tasks', 'defaults'].includes(section) && path.length === 2;
  const suffixes = path.map((_, i) => path.slice(i));
  const named = suffixes.filter((one) => one.length > 1 || path.length === 1 || isOfTask);
  return named.map((one) => one.join('.'));
}

/** By key: the last cell of each row whose first cell is a key; foreign formats have their own. */
function meanings(file: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let prefix = '';
  const [own = ''] = readFileSync(join(root, file), 'utf8').split('\n## parallel-orchestra ');
  for (const line of own.split('\n')) {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const [, first = ''] = cells;
    const [, section] = /^key of `(\w+)`$/.exec(first) ?? [];
    if (first.startsWith('key')) prefix = section === undefined ? '' : `${section}.`;
    if (!line.startsWith('| `')) continue;
    const meaning = plain(cells.at(-2) ?? '');
    for (const [, key = ''] of first.matchAll(/`([\w.[\]]+)`/g)) {
      const name = `${prefix}${key.replaceAll('[]', '')}`;
      if (!found.has(name)) found.set(name, meaning);
    }
  }
  return found;
}

function plain(markdown: string): string {
  return markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, text] of Object.entries(schemaFiles())) writeFileSync(join(root, path), text);
}
