/** `landfast config`: what is configured, where it comes from, and changing it. */

import type { Place } from '../../app/place.ts';
import { withoutSecretValue } from '../../app/secrets.ts';
import { changeSetting, listSettings, settingsNamed } from '../../app/settings.ts';
import { UserError } from '../../base/errors.ts';
import { shownValue } from '../../report/format.ts';
import { EXIT } from '../exit.ts';
import type { CommonFlags, Program, Wrap } from '../options.ts';
import { NEVER, placeAt } from '../terminal/host.ts';
import { printJson } from '../terminal/output.ts';

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

interface ConfigFlags extends CommonFlags {
  readonly list?: boolean;
  readonly origin?: boolean;
  readonly global?: boolean;
  readonly unset?: boolean;
}

async function config(
  name: string | undefined,
  text: string | undefined,
  flags: ConfigFlags,
): Promise<number> {
  checkUse(name, text, flags);
  const place = await placeAt(flags.projectDir, NEVER);
  const isChange = text !== undefined || flags.unset === true;
  if (name !== undefined && isChange) return change(name, text, place, flags);
  const listed = await listSettings(place, flags.global === true ? 'global' : 'all', NEVER);
  const found = name === undefined ? listed : settingsNamed(listed, name);
  if (found !== null && 'length' in found) showAll(found, flags);
  else showOne(name ?? '', found, flags);
  return EXIT.ok;
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
  { global, json }: ConfigFlags,
): number {
  const scope = global === true ? 'global' : 'project';
  const { value, file } = changeSetting(scope, place, { name, text });
  if (json === true) printJson({ key: name, value: value ?? null, file });
  else if (value === undefined) console.log(`${name} removed from ${file}`);
  else console.log(`${name} = ${firstLine(shownValue(value))} in ${file}`);
  return EXIT.ok;
}

type Listed = Awaited<ReturnType<typeof listSettings>>[number];

function showAll(listed: readonly Listed[], { origin, json }: ConfigFlags): void {
  const shown = listed.map((one) => ({ ...one, value: withoutSecretValue(one) }));
  if (json === true) {
    const entries = shown.map(({ key, value, origin: from }) =>
      origin === true ? [key, { value, origin: from }] : [key, value],
    );
    return printJson(Object.fromEntries(entries));
  }
  const width = Math.max(0, ...shown.map((one) => one.origin.length));
  for (const { key, value, origin: from } of shown) {
    const before = origin === true ? `${from.padEnd(width)}  ` : '';
    console.log(`${before}${key} = ${firstLine(shownValue(value))}`);
  }
}

function showOne(name: string, found: Listed | null, { origin, json }: ConfigFlags): void {
  if (json === true) printJson(found?.value ?? null);
  else if (found === null) console.error(`landfast: ${name} has no value.`);
  else console.log(`${origin === true ? `${found.origin}  ` : ''}${shownValue(found.value)}`);
}

function firstLine(text: string): string {
  const [line = '', ...rest] = text.split('\n');
  return rest.length === 0 ? line : `${line} …`;
}
