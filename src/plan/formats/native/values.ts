/**
 * The kinds of value in a native plan: how each is read, and its shape for editors (JSON Schema), which
 * accepts whatever the reader does. A refusal says what would be right. Nothing passes that could later
 * be read as an option, leave the repository, or change how programs are loaded.
 */

import * as z from 'zod';
import { bytesIn } from '../../../base/byte-size.ts';
import { closest } from '../../../base/closest.ts';
import { isPublicHost } from '../../../base/public-address.ts';
import { placesOf } from '../../../model/cone.ts';
import type { Permissions } from '../../../model/plan.ts';
import { normaliseGlob } from '../../../model/scope.ts';
import { quote } from '../../problem.ts';

const ID_RULE = 'letters, digits, "_" and "-", at most 64, beginning with a letter or a digit';

export const id = matching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, `an id (${ID_RULE})`);

const TEXT_SHAPE: Shape = { type: 'string', pattern: '\\S' };

export const text = textValue(() => null);

export function textValue(refusalOf: (raw: string) => Refusal | null) {
  return checked(TEXT_SHAPE, (raw) => {
    if (typeof raw !== 'string' || raw.trim() === '') return { expected: 'text', ...inQuotes(raw) };
    return raw.includes('\0') ? { message: 'text must not contain NUL' } : refusalOf(raw);
  });
}

/** Becomes an argument of a command. */
export const word = matching(
  /^[^\s\x00-\x1f\x7f-][^\s\x00-\x1f\x7f]*$/,
  'a name without spaces that does not begin with "-"',
);

export const flag = value({ type: 'boolean' }, (raw, refuse) =>
  typeof raw === 'boolean' ? raw : refuse({ expected: 'true or false' }),
);

export const keep = value({ type: 'boolean' }, (raw, refuse) => {
  if (typeof raw === 'boolean') return raw;
  const remedy = 'name files that the next task may find in keep_files';
  return refuse({ expected: 'true or false', ...(Array.isArray(raw) ? { remedy } : {}) });
});

const ABOVE_ZERO: Shape = { type: 'number', exclusiveMinimum: 0 };

export const money = numberIn(ABOVE_ZERO, 'an amount of dollars above zero');
export const load = numberIn(ABOVE_ZERO, 'a load per core above zero, such as 1.5');
export const factor = numberIn({ type: 'number', minimum: 1 }, 'a number of at least 1');

export function count(minimum: number, maximum: number) {
  const expected = `a whole number from ${minimum} to ${maximum}`;
  return numberIn({ type: 'integer', minimum, maximum }, expected);
}

/** A number within the bounds of its shape. */
function numberIn(shape: Shape, expected: string) {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity } = shape;
  const isNumber = shape.type === 'integer' ? Number.isInteger : Number.isFinite;
  const isRight = (raw: unknown): raw is number =>
    isNumber(raw) &&
    Number(raw) >= minimum &&
    Number(raw) <= maximum &&
    Number(raw) > exclusiveMinimum;
  return value(shape, (raw, refuse) => (isRight(raw) ? raw : refuse({ expected })));
}

export const permissions = choice<Permissions>([
  'default',
  'acceptEdits',
  'plan',
  'dontAsk',
  'auto',
  'bypassPermissions',
]);

/** Timers count in 31 bits: a longer one would fire at once. */
const MAX_DURATION_MS = 24 * 24 * 3_600_000;
const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const DURATION_SHAPE: Shape = {
  type: ['string', 'number'],
  pattern: DURATION.source,
  exclusiveMinimum: 0,
};

/** `90s`, `1h30m`, `500ms` or a number of seconds; in milliseconds. */
export const duration = value(DURATION_SHAPE, (raw, refuse) => {
  const ms = typeof raw === 'number' ? raw * 1_000 : durationMs(raw);
  if (!(ms > 0)) return refuse({ expected: 'a duration such as 90s, 7m or 1h30m' });
  if (ms > MAX_DURATION_MS) return refuse({ expected: 'a duration of at most 24d' });
  return Math.ceil(ms);
});

const PAUSE_SHAPE: Shape = { type: ['string', 'number'], pattern: DURATION.source, minimum: 0 };
const OFTEN_SHAPE: Shape = { ...DURATION_SHAPE, pattern: `^off$|${DURATION.source}` };

export const pause = durationOr<number>(0, PAUSE_SHAPE, 'a duration such as 5s, or 0');
export const offOrDuration = durationOr('off', OFTEN_SHAPE, 'off, or a duration such as 2s');

function durationOr<T extends number | string>(other: T, shape: Shape, expected: string) {
  return value(shape, (raw, refuse): number | T => {
    if (raw === other) return other;
    const read = duration.safeParse(raw);
    return read.success ? read.data : refuse({ expected });
  });
}

function durationMs(raw: unknown): number {
  if (typeof raw !== 'string' || !DURATION.test(raw)) return Number.NaN;
  const parts = Array.from(raw.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g));
  return parts.reduce((sum, [, amount, unit]) => {
    return sum + Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS];
  }, 0);
}

/** A duration as a plan has it: `1h30m`, `7m`, `1s500ms`, `0`. */
export function durationText(ms: number): string | 0 {
  let left = ms;
  let text = '';
  for (const unit of ['h', 'm', 's', 'ms'] as const) {
    const amount = Math.floor(left / UNITS_MS[unit]);
    if (amount > 0) text += `${amount}${unit}`;
    left -= amount * UNITS_MS[unit];
  }
  return text || 0;
}

/** A glob relative to the repository's root. */
export const scope = checked(TEXT_SHAPE, pathRefusal, normaliseGlob);

/** A folder relative to the repository's root; '' is the root itself. */
export const folder = checked(TEXT_SHAPE, pathRefusal, (path) =>
  /^[./]*$/.test(path) ? '' : normaliseGlob(path),
);

export const branch = matching(
  /^[^\s~^:?*[\\-]/,
  'the name of a branch',
  (name) =>
    /^[^\s\x00-\x20\x7f~^:?*[\\-][^\s\x00-\x20\x7f~^:?*[\\]*$/.test(name) &&
    !/\.\.|@\{|\/\/|\.lock(?:\/|$)|(?:^|\/)\.|[./]$|^\/|^@$/.test(name),
);

/** As it is looked up on PATH. */
export const program = matching(/^[\w][\w.+-]*$/, 'the name of a program');

/** A folder anywhere on the machine: absolute, below the home (`~/`), or relative to the root. */
export const anyFolder = value(TEXT_SHAPE, (raw, refuse) => {
  if (typeof raw === 'string' && /^(?:\/|~\/)[^\0\n]*$/.test(raw)) return raw;
  if (typeof raw === 'string' && /^\.\.(?:\/[^\0\n]*)?$/.test(normaliseGlob(raw))) {
    return normaliseGlob(raw);
  }
  const wrong = pathRefusal(raw);
  return wrong === null ? normaliseGlob(raw as string) : refuse(wrong);
});

/** A path anywhere: absolute, below the home (`~/`), or relative to the repository's root. */
export const place = matching(/\S/, 'a path', (path) => /^[^\0\n-][^\0\n]*$/.test(path));

export function expandHome(path: string, home: string): string {
  return path.replace(/^~(?=\/|$)/, () => home);
}

export const httpUrl = matching(/^https?:\/\/[^\s]+$/, 'an http or https address');

export const webhookUrl = checked({ type: 'string', pattern: '^https://' }, (raw) => {
  if (typeof raw !== 'string') return { expected: 'an https address', ...inQuotes(raw) };
  const wrong = webhookRefusal(raw);
  return wrong && { ...wrong, message: `the address ${wrong.message}` };
});

const NETWORK_SHAPE: Shape = {
  anyOf: [{ enum: ['on', 'off'] }, { type: 'array', minItems: 1, items: { type: 'string' } }],
};

export const network = value(
  NETWORK_SHAPE,
  wordOrList(['on', 'off'] as const, 'hosts', hostRefusal, (host) => host.toLowerCase()),
);

/** Reads one of a few words, or a list of which each item is checked. */
function wordOrList<T extends string>(
  words: readonly T[],
  items: string,
  refusalOf: (raw: unknown) => Refusal | null,
  normalise: (item: string) => string,
) {
  return (raw: unknown, refuse: (refusal: Refusal) => never): T | readonly string[] => {
    const word = words.find((one) => one === raw);
    if (word !== undefined) return word;
    if (!Array.isArray(raw)) {
      const isItem = typeof raw === 'string' && refusalOf(raw) === null;
      const remedy = isItem ? { remedy: `write it as a list: [${quote(raw)}]` } : {};
      return refuse({ expected: `${words.join(', ')} or a list of ${items}`, ...remedy });
    }
    if (raw.length === 0) return refuse({ message: 'the list is empty', remedy: 'use off' });
    for (const [i, item] of raw.entries()) {
      const wrong = refusalOf(item);
      if (wrong !== null) refuse({ ...wrong, path: [i] });
    }
    return raw.map((item) => normalise(String(item)));
  };
}

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ENV_REFUSED = /^(?:LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_.*)$/;

export const envName = matching(
  ENV_NAME,
  'the name of a variable that may be passed on',
  (name) => !ENV_REFUSED.test(name),
);

const ENV_SHAPE: Shape = {
  type: 'object',
  propertyNames: { pattern: ENV_NAME.source },
  additionalProperties: { type: 'string' },
};

export const env = value(ENV_SHAPE, (raw, refuse) => {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) {
    return refuse({ expected: 'a mapping of names to text' });
  }
  const entries = Object.entries(raw);
  for (const [name, content] of entries) {
    const wrong = envRefusal(name, content);
    if (wrong !== null) refuse({ ...wrong, path: [name] });
  }
  return Object.fromEntries(entries) as Record<string, string>;
});

/** One of a few words; `unavailable` are known ones that this version refuses, each with the reason. */
export function choice<const T extends string>(
  allowed: readonly T[],
  unavailable: Readonly<Record<string, string>> = {},
) {
  return value({ type: 'string', enum: allowed }, (raw, refuse) => {
    const usable = `use ${allowed.join(' or ')}`;
    if (typeof raw === 'string' && Object.hasOwn(unavailable, raw)) {
      const message = `${quote(raw)} is not available in this version: ${unavailable[raw]}`;
      return refuse({ message, remedy: usable });
    }
    return wordAmong(allowed, raw, refuse);
  });
}

/** The word that is meant, or a refusal with a guess. */
function wordAmong<T extends string>(
  allowed: readonly T[],
  raw: unknown,
  refuse: (refusal: Refusal) => never,
): T {
  const found = allowed.find((one) => one === raw);
  if (found !== undefined) return found;
  const guess = typeof raw === 'string' ? closest(raw, allowed) : null;
  const remedy = guess === null ? {} : { remedy: `did you mean ${guess}?` };
  return refuse({ expected: `one of ${allowed.join(', ')}`, ...remedy });
}

export const AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'acp', 'command', 'shell'];

/** A known agent, or `function:NAME`: an agent that the program which starts the run provides. */
export const agent = value(
  {
    anyOf: [
      { type: 'string', enum: AGENTS },
      { type: 'string', pattern: '^function:' },
    ],
  },
  (raw, refuse) => {
    if (typeof raw === 'string' && /^function:[\w-]+$/.test(raw)) return raw;
    return wordAmong(AGENTS, raw, refuse);
  },
);

/** Refuses a path or glob that leaves the repository, or is in git's own folder. */
export function pathRefusal(raw: unknown): Refusal | null {
  if (typeof raw !== 'string' || raw.trim() === '' || raw.includes('\0')) {
    return { expected: 'a path relative to the repository' };
  }
  if (/^(?:[\\/~]|[A-Za-z]:[\\/])/.test(raw)) {
    return {
      message: `${quote(raw)} is an absolute path`,
      remedy: "write it relative to the repository's root",
    };
  }
  const path = normaliseGlob(raw);
  if (/(?:^|[/{,\\])\.\.(?:[/},\\]|$)/.test(path)) {
    return {
      message: `${quote(raw)} leaves the repository`,
      remedy: "name something below the repository's root, without ..",
    };
  }
  if (/^\.git(?:\/|$)/i.test(path)) return { message: `${quote(raw)} belongs to git itself` };
  return null;
}

const HOST = /^(?:(?:\*\.)?[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?\.?|\[[\da-f:.]+\])(?::[1-9]\d{0,4})?$/i;

function hostRefusal(raw: unknown): Refusal | null {
  const expected = 'a host such as api.example.com, *.example.com or api.example.com:8443';
  if (typeof raw !== 'string') return { expected, ...inQuotes(raw) };
  if (raw === '*') return { message: '"*" would allow every host', remedy: 'use network: on' };
  if (/^localhost\.?$/i.test(raw)) {
    return { message: 'localhost needs a port', remedy: 'name the one it may use: localhost:3000' };
  }
  if (HOST.test(raw) && !raw.includes('..')) return null;
  const [, host] = /^\w+:\/\/([^/?#@]+)/.exec(raw) ?? [];
  return { expected, ...(host === undefined ? {} : { remedy: `leave only the host: ${host}` }) };
}

function envRefusal(name: string, content: unknown): Refusal | null {
  if (!ENV_NAME.test(name)) {
    const message = `${quote(name)} is not a valid name of an environment variable`;
    return {
      message,
      remedy: 'use letters, digits and _, not beginning with a digit',
      onKey: true,
    };
  }
  if (ENV_REFUSED.test(name)) {
    const message = `${name} must not be set: it changes how programs are loaded`;
    return { message, remedy: 'remove it, or set it in a script that the task runs', onKey: true };
  }
  if (typeof content !== 'string') return { expected: 'text', ...inQuotes(content) };
  return content.includes('\0') ? { message: 'text must not contain NUL' } : null;
}

// Compiling the checks takes longer than checking a thousand tasks.
z.config({ jitless: true });

/** Why a value is refused. Travels through zod as the parameters of an issue. */
export interface Refusal {
  /** What would be right: the message is then "expected …, found …". */
  readonly expected?: string;
  readonly message?: string;
  readonly remedy?: string;
  /** Where inside the value. */
  readonly path?: readonly (string | number)[];
  /** The key itself is wrong, not what it holds. */
  readonly onKey?: boolean;
}

/** A kind of value in the words of JSON Schema. */
export interface Shape {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly items?: Shape;
  readonly minItems?: number;
  readonly additionalProperties?: Shape;
  readonly propertyNames?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** `refuse` may be called several times; the result is then ignored. */
export function value<T>(
  shape: Shape,
  read: (raw: unknown, refuse: (refusal: Refusal) => never) => T,
) {
  return z
    .unknown()
    .transform((raw, context): T => {
      const refuse = (refusal: Refusal): never => {
        context.issues.push({
          code: 'custom',
          message: refusal.message ?? '',
          params: { ...refusal },
          path: [...(refusal.path ?? [])],
          input: raw,
        });
        return z.NEVER;
      };
      return read(raw, refuse);
    })
    .meta({ ...shape });
}

/** Text that matches the pattern of its shape. */
function matching(pattern: RegExp, expected: string, isAllowed = (_: string) => true) {
  return value({ type: 'string', pattern: pattern.source }, (raw, refuse) =>
    typeof raw === 'string' && pattern.test(raw) && isAllowed(raw)
      ? raw
      : refuse({ expected, ...inQuotes(raw) }),
  );
}

/** Text that is not refused. */
export function checked(
  shape: Shape,
  refusalOf: (raw: unknown) => Refusal | null,
  normalise: (raw: string) => string = String,
) {
  return value(shape, (raw, refuse) => {
    const wrong = refusalOf(raw);
    return wrong === null ? normalise(raw as string) : refuse(wrong);
  });
}

export function inQuotes(raw: unknown): { remedy?: string } {
  return typeof raw === 'number' || typeof raw === 'boolean'
    ? { remedy: `put it in quotes: "${raw}"` }
    : {};
}

const SHAPE: Shape = { type: ['string', 'number'], pattern: '^\\d', minimum: 0 };

/** A size in bytes; 0 for none. */
export const size = value(SHAPE, (raw, refuse) => {
  const bytes = typeof raw === 'string' ? bytesIn(raw) : raw;
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0) {
    return refuse({ expected: 'a size such as 10GB, 512MiB or a number of bytes' });
  }
  return bytes;
});

export const room = value(SHAPE, (raw, refuse) => {
  const read = size.safeParse(raw);
  if (read.success && read.data > 0) return read.data;
  return refuse({ expected: 'a size above zero, such as 10GB' });
});

const SPARSE_SHAPE: Shape = {
  anyOf: [
    { type: 'string', enum: ['off', 'auto'] },
    { type: 'array', items: TEXT_SHAPE, minItems: 1 },
  ],
};

/** A folder, or a glob below one. */
export const coneFolder = checked(TEXT_SHAPE, folderRefusal, normaliseGlob);

export const sparse = value(
  SPARSE_SHAPE,
  wordOrList(['off', 'auto'] as const, 'folders', folderRefusal, normaliseGlob),
);

function folderRefusal(raw: unknown): Refusal | null {
  const wrong = pathRefusal(raw);
  if (wrong !== null) return wrong;
  if (placesOf([raw as string]) !== null) return null;
  return { expected: 'a folder', remedy: 'a glob has to begin with the name of one: tools/**' };
}

const MAX_LENGTH = 2048;

/** A webhook goes to a public HTTPS address, never to this machine or its network. */
export function webhookRefusal(
  url: string,
): { readonly message: string; readonly remedy: string } | null {
  if (!url.startsWith('https://')) {
    const scheme = /^[^:/?#]*(?=:)/.exec(url)?.[0] ?? '';
    const message = `needs HTTPS (https://…), found the scheme ${quote(scheme)}`;
    return { message, remedy: 'use the https address of the receiver' };
  }
  if (url.length > MAX_LENGTH) {
    return { message: `is longer than ${MAX_LENGTH} characters`, remedy: 'use a shorter one' };
  }
  const host = URL.parse(url)?.hostname ?? null;
  if (host === null) return { message: 'is not a valid address', remedy: 'name a public host' };
  if (isPublicHost(host)) return null;
  return { message: `must not point to ${quote(host)}`, remedy: 'name a public host' };
}
