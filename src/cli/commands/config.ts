/** `landfast config`: what is configured, where it comes from, and changing it. */

import { findGitFacts, loadConfiguration } from '../../app/config-files.ts';
import { valueFor, writeSetting } from '../../app/config-write.ts';
import type { Place } from '../../app/place.ts';
import { withoutSecretValue } from '../../app/secrets.ts';
import { UserError } from '../../base/errors.ts';
import { isSection, keyNamed, type Listed, listing, shownValue } from '../../plan/config/keys.ts';
import { jsonText } from '../../report/json.ts';
import { EXIT } from '../exit.ts';
import type { Program, Wrap } from '../options.ts';
import { placeAt } from '../terminal/host.ts';

/** Describes the command for the command line and its help. */
export function describe(program: Program, wrap: Wrap): void {
  program
    .command('config')
    .argument('[key]', 'a key such as agent.max_retries, or a section such as land')
    .argument('[value]', 'the new value; separate list items with commas')
    .description('show or change the configuration')
    .option('-l, --list', 'all keys with a value (the default without a key)')
    .option('--origin', 'also show the source of each value')
    .option('-g, --global', "use your global file instead of this repository's")
    .option('--unset', 'remove the key from the file')
    .option('--json', 'print JSON')
    .action(
      wrap((key, value, _, command: Program) => config(key, value, command.optsWithGlobals())),
    );
}

export interface ConfigFlags {
  readonly projectDir: string;
  readonly list?: boolean;
  readonly origin?: boolean;
  readonly global?: boolean;
  readonly unset?: boolean;
  readonly json?: boolean;
}

/** Shows one value or all of them, or changes one. */
export async function config(
  name: string | undefined,
  text: string | undefined,
  flags: ConfigFlags,
): Promise<number> {
  checkUse(name, text, flags);
  const signal = new AbortController().signal;
  const place = await placeAt(flags.projectDir, signal);
  if (name !== undefined && (text !== undefined || flags.unset === true)) {
    return change(name, text, place, flags);
  }
  const listed = await read(place, flags, signal);
  if (listed === null) return EXIT.usage;
  if (name === undefined) return showAll(listed, flags);
  return isSection(name)
    ? showAll(
        listed.filter(({ key }) => key.startsWith(`${name}.`)),
        flags,
      )
    : showOne(name, listed, flags);
}

function checkUse(name: string | undefined, text: string | undefined, flags: ConfigFlags): void {
  if (flags.unset === true && (name === undefined || text !== undefined)) {
    throw new UserError('--unset takes one key and no value.');
  }
  if (name !== undefined && flags.list === true) {
    throw new UserError('--list takes no key.', `landfast config ${name} shows one key.`);
  }
}

function change(
  name: string,
  text: string | undefined,
  place: Place,
  { global, unset, json }: ConfigFlags,
): number {
  const key = keyNamed(name);
  const value = unset === true || text === undefined ? undefined : valueFor(key, text);
  const scope = global === true ? 'global' : 'project';
  const file = writeSetting(scope, place, { path: key.path, value });
  if (json === true) process.stdout.write(jsonText({ key: name, value: value ?? null, file }));
  else if (value === undefined) console.log(`${name} removed from ${file}`);
  else console.log(`${name} = ${firstLine(shownValue(value))} in ${file}`);
  return EXIT.ok;
}

/** Everything that has a value; with --global only what the global files say. */
async function read(
  place: Place,
  { global }: ConfigFlags,
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const configuration = loadConfiguration(place, global === true ? ['global'] : undefined);
  if (global !== true) {
    return listing(configuration, await findGitFacts(configuration.config, place, signal));
  }
  return listing(configuration, null).filter(({ origin }) => origin !== 'default');
}

function showAll(listed: readonly Listed[], { origin, json }: ConfigFlags): number {
  const shown = listed.map((one) => ({ ...one, value: withoutSecretValue(one) }));
  if (json === true) {
    const entries = shown.map(({ key, value, origin: from }) =>
      origin === true ? [key, { value, origin: from }] : [key, value],
    );
    process.stdout.write(jsonText(Object.fromEntries(entries)));
    return EXIT.ok;
  }
  const width = Math.max(0, ...shown.map((one) => one.origin.length));
  for (const { key, value, origin: from } of shown) {
    const before = origin === true ? `${from.padEnd(width)}  ` : '';
    console.log(`${before}${key} = ${firstLine(shownValue(value))}`);
  }
  return EXIT.ok;
}

function showOne(name: string, listed: readonly Listed[], { origin, json }: ConfigFlags): number {
  keyNamed(name);
  const found = listed.find(({ key }) => key === name);
  const below = listed.filter(({ key }) => key.startsWith(`${name}.`));
  if (found === undefined && below.length > 0) {
    return showAll(below, { projectDir: '.', ...(origin && { origin }), ...(json && { json }) });
  }
  if (json === true) process.stdout.write(jsonText(found?.value ?? null));
  else if (found === undefined) console.error(`landfast: ${name} has no value.`);
  else console.log(`${origin === true ? `${found.origin}  ` : ''}${shownValue(found.value)}`);
  return EXIT.ok;
}

function firstLine(text: string): string {
  const [line = '', ...rest] = text.split('\n');
  return rest.length === 0 ? line : `${line} …`;
}
