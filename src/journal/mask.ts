/**
 * Masking: secret values are replaced before anything is written, shown or sent.
 *
 * - Every string of every event and of all chatter is masked, unless its field is listed as PLAIN:
 *   ids, commits, refs and tags that programs compare. A new field is masked by default.
 * - The longest spelling is replaced first, so that one that contains another leaves no rest.
 * - A secret of several lines is also masked line by line, and as it is spelled inside a JSON
 *   string: that is how it appears in an agent's output.
 * - Values shorter than three characters are left alone: masking them would destroy the text and
 *   show the secret by its gaps.
 * - Base64, hex and percent-encodings of a secret are masked too, also inside a longer encoded text
 *   and in the lines that `base64` and `xxd -p` break. docs/journal.md lists what is not
 *   recognised.
 * - A masked text stays as it is when it is masked again.
 */

import type { AgentEvent } from '../model/agent-event.ts';
import type { Chatter } from '../model/effect.ts';
import type { Event } from '../model/event.ts';

/** Replaces secret values in a text. */
export type Mask = (text: string) => string;

const MASK = '[MASKED]';
const SHORTEST = 3;
/** The lines of a key in PEM form are longer; shorter ones are words like `}` or `EOF`. */
const SHORTEST_LINE = 8;
/** In bytes. The encoding of a shorter one is a few characters that occur by chance. */
const SHORTEST_ENCODED = 6;
/** The columns at which `base64`, PEM and `xxd -p` break their lines. */
const BASE64_COLUMNS = [76, 64];
const HEX_COLUMNS = 60;

/** One way to write a secret: a regular expression, and how long a text it matches at least. */
interface Spelling {
  readonly source: string;
  readonly length: number;
}

/** The mask for these secrets. */
export function masker(secrets: readonly string[]): Mask {
  const known = secrets.flatMap(spellingsOf).map((each) => [each.source, each] as const);
  const spellings = [...new Map(known).values()];
  if (spellings.length === 0) return NO_SECRETS;
  const longestFirst = spellings.sort((a, b) => b.length - a.length);
  const sources = [literal(MASK), ...longestFirst.map(({ source }) => source)];
  const pattern = new RegExp(sources.join('|'), 'g');
  return (text) => text.replace(pattern, MASK);
}

/** The mask where there is nothing to hide. */
export const NO_SECRETS: Mask = (text) => text;

/** Fields of events that hold no text: programs compare them, and a mask would break them. */
const PLAIN: ReadonlySet<string> = new Set([
  ...wordsIn('type kind mode outcome of on how setup spared checkout change'),
  ...wordsIn('task dependency a b ahead passes retry added removed landedSince'),
  ...wordsIn('commit commits tree base head onto tip ref branch target'),
  ...wordsIn('planHash session fork agent model by gate keys sections'),
  // A run that is resumed works by its plan; secrets are taken out of it by name (app/secrets.ts).
  'plan',
]);

function wordsIn(text: string): readonly string[] {
  return text.split(' ');
}

/** Where a field of that name means something else in one type of event. */
const EXCEPTIONS: Readonly<Record<string, { readonly plain?: string; readonly text?: string }>> = {
  'gate.broken': { plain: 'why' },
  'merge.settled': { text: 'by' },
  limit: { plain: 'status' },
};

const PLAIN_IN_CHATTER: ReadonlySet<string> = new Set(['type', 'kind', 'id']);

/** JSON in the form that an agent gave it: its keys are texts, too. */
const FREE: ReadonlySet<string> = new Set(['structured', 'input']);

/** The event without secrets. */
export function maskedEvent<T extends Event | AgentEvent>(
  event: T,
  mask: Mask,
  plainKeys: ReadonlySet<string> = PLAIN,
): T {
  if (mask === NO_SECRETS) return event;
  const { plain, text } = EXCEPTIONS[event.type] ?? {};
  const isPlain = (key: string): boolean => key === plain || (key !== text && plainKeys.has(key));
  const masked = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return isPlain(key) ? value : mask(value);
    if (Array.isArray(value)) return value.map((each) => masked(each, key));
    if (value === null || typeof value !== 'object' || key === 'plan') return value;
    const fields = Object.entries(value).filter(([, each]) => each !== undefined);
    return Object.fromEntries(
      fields.map(([name, each]) =>
        FREE.has(name) ? [name, maskedFree(each, mask)] : [name, masked(each, name)],
      ),
    );
  };
  return masked(event, '') as T;
}

function maskedFree(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((each) => maskedFree(each, mask));
  if (value === null || typeof value !== 'object') return value;
  const fields = Object.entries(value);
  return Object.fromEntries(fields.map(([name, each]) => [mask(name), maskedFree(each, mask)]));
}

/** One thing that was said, without secrets. */
export function maskedChatter(line: Chatter, mask: Mask): Chatter {
  return line.from === 'agent'
    ? { from: 'agent', event: maskedEvent(line.event, mask, PLAIN_IN_CHATTER) }
    : { ...line, text: mask(line.text) };
}

function spellingsOf(secret: string): readonly Spelling[] {
  if (secret.length < SHORTEST) return [];
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const longLines = lines.length > 1 ? lines.filter((line) => line.length >= SHORTEST_LINE) : [];
  return [secret, ...longLines].flatMap((text) => {
    const plain = [text, JSON.stringify(text).slice(1, -1)].map(exactly);
    const bytes = Buffer.from(text);
    const isLong = bytes.length >= SHORTEST_ENCODED;
    return [
      ...plain,
      percentEncoded(text),
      ...(isLong ? [...inHex(bytes), ...inBase64(bytes)] : []),
    ];
  });
}

function exactly(text: string): Spelling {
  return { source: literal(text), length: text.length };
}

/** As in an address or a form. Programs differ in which characters they encode, and how often. */
function percentEncoded(text: string): Spelling {
  const source = [...text].map((character) => {
    if (/[\w.-]/.test(character)) return literal(character);
    const bytes = [...Buffer.from(character)].map((byte) => `%(?:25)?${hexByte(byte)}`);
    return `(?:${literal(character)}|${bytes.join('')}${character === ' ' ? '|\\+' : ''})`;
  });
  return { source: source.join(''), length: text.length };
}

function hexByte(byte: number): string {
  const digits = byte.toString(16).padStart(2, '0');
  return digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function inHex(bytes: Buffer): readonly Spelling[] {
  const hex = bytes.toString('hex');
  return [hex, ...linesOf(hex, HEX_COLUMNS)].flatMap((text) =>
    [text, text.toUpperCase()].map(exactly),
  );
}

/**
 * Three bytes are four characters, so a secret inside of a longer text is written in one of three
 * ways. A character that it shares with what follows goes with it; the one that it shares with what
 * comes before stays, as a pattern that begins with any character is slow.
 */
function inBase64(bytes: Buffer): readonly Spelling[] {
  const wraps = BASE64_COLUMNS.flatMap((columns) => linesOf(bytes.toString('base64'), columns));
  const inside = [0, 1, 2].map((before) => {
    const end = before + bytes.length;
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const own = text.slice(Math.ceil((before * 8) / 6), Math.floor((end * 8) / 6));
    const last = end % 3 === 0 ? '' : `${ANY_BASE64}?={0,2}`;
    return { source: `${base64Literal(own)}${last}`, length: own.length };
  });
  return [
    ...inside,
    ...wraps.map((text) => ({ source: base64Literal(text), length: text.length })),
  ];
}

const ANY_BASE64 = '[\\w+/-]';

/** In the usual alphabet or in that of addresses. */
function base64Literal(text: string): string {
  return literal(text).replace(/\\\+/g, '[+-]').replace(/\\\//g, '[/_]');
}

/** The lines of a text that is too long for one; a short rest could be anything. */
function linesOf(text: string, columns: number): readonly string[] {
  if (text.length <= columns) return [];
  const lines = text.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [];
  return lines.filter((line) => line.length >= SHORTEST_LINE);
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
