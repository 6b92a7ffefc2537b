/**
 * The kinds of value in a native plan, each read from whatever YAML gave: a value or a refusal.
 *
 *   N1. What is refused says what would be right, so that one look at the problem is enough.
 *   N2. Nothing passes that could later be read as an option, leave the repository, or change how
 *       programs are loaded.
 */

import type { Permissions } from '../../../model/plan.ts';
import { normaliseGlob } from '../../../model/scope.ts';
import { quote } from '../../problem.ts';
import { closest } from '../../suggest.ts';
import { webhookRefusal } from '../../webhook-url.ts';
import { inQuotes, type Refusal, type Shape, value } from './value.ts';

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const ID_RULE = 'letters, digits, "_" and "-", at most 64, beginning with a letter or a digit';

export const id = value({ type: 'string', pattern: ID.source }, (given, refuse) =>
  typeof given === 'string' && ID.test(given)
    ? given
    : refuse({ expected: `an id (${ID_RULE})`, ...inQuotes(given) }),
);

export const text = textValue(() => null);

/** Some text that nothing more is wrong with. */
export function textValue(wrongWith: (given: string) => Refusal | null) {
  return value({ type: 'string', pattern: '\\S' }, (given, refuse) => {
    if (typeof given !== 'string' || given.trim() === '') {
      return refuse({ expected: 'some text', ...inQuotes(given) });
    }
    if (given.includes('\0')) return refuse({ message: 'text must not contain NUL' });
    const wrong = wrongWith(given);
    return wrong === null ? given : refuse(wrong);
  });
}

const WORD = /^[^\s\x00-\x1f\x7f-][^\s\x00-\x1f\x7f]*$/;

/** A name that becomes an argument of a command. */
export const word = value({ type: 'string', pattern: WORD.source }, (given, refuse) =>
  typeof given === 'string' && WORD.test(given)
    ? given
    : refuse({
        expected: 'a name without blanks that does not begin with "-"',
        ...inQuotes(given),
      }),
);

export const flag = value({ type: 'boolean' }, (given, refuse) =>
  typeof given === 'boolean' ? given : refuse({ expected: 'true or false' }),
);

/** Whether workspaces stay; a list would be of files that stay in them. */
export const keep = value({ type: 'boolean' }, (given, refuse) => {
  if (typeof given === 'boolean') return given;
  const remedy = 'name files that the next task may find in keep_files';
  return refuse({ expected: 'true or false', ...(Array.isArray(given) ? { remedy } : {}) });
});

export const money = value({ type: 'number', exclusiveMinimum: 0 }, (given, refuse) =>
  typeof given === 'number' && Number.isFinite(given) && given > 0
    ? given
    : refuse({ expected: 'an amount of dollars above zero' }),
);

/** A load average for each core. */
export const load = value({ type: 'number', exclusiveMinimum: 0 }, (given, refuse) =>
  typeof given === 'number' && Number.isFinite(given) && given > 0
    ? given
    : refuse({ expected: 'a load for each core above zero, such as 1.5' }),
);

/** What something grows by each time. */
export const factor = value({ type: 'number', minimum: 1 }, (given, refuse) =>
  typeof given === 'number' && Number.isFinite(given) && given >= 1
    ? given
    : refuse({ expected: 'a number of at least 1' }),
);

const PERMISSIONS: readonly Permissions[] = [
  'default',
  'acceptEdits',
  'plan',
  'dontAsk',
  'auto',
  'bypassPermissions',
];

export const permissions = choice(PERMISSIONS);

/** Timers count in 31 bits: a longer wait would end at once. */
const MAX_DURATION_MS = 24 * 24 * 3_600_000;
const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const DURATION_SHAPE: Shape = {
  type: ['string', 'number'],
  pattern: DURATION.source,
  exclusiveMinimum: 0,
};

/** `90s`, `1h30m`, `500ms` or a number of seconds; in milliseconds. */
export const duration = value(DURATION_SHAPE, (given, refuse) => {
  const ms = typeof given === 'number' ? given * 1_000 : durationMs(given);
  if (!(ms > 0)) return refuse({ expected: 'a duration such as 90s, 7m or 1h30m' });
  if (ms > MAX_DURATION_MS) return refuse({ expected: 'a duration of at most 24d' });
  return Math.ceil(ms);
});

const PAUSE_SHAPE: Shape = { type: ['string', 'number'], pattern: DURATION.source, minimum: 0 };

/** A duration, or 0 for none. */
export const pause = value(PAUSE_SHAPE, (given, refuse) => {
  if (given === 0) return 0;
  const read = duration.safeParse(given);
  return read.success ? read.data : refuse({ expected: 'a duration such as 5s, or 0' });
});

const OFTEN_SHAPE: Shape = { ...DURATION_SHAPE, pattern: `^off$|${DURATION.source}` };

/** How often something is done, or `off`. */
export const offOrDuration = value(OFTEN_SHAPE, (given, refuse): number | 'off' => {
  if (given === 'off') return given;
  const read = duration.safeParse(given);
  return read.success ? read.data : refuse({ expected: 'off, or a duration such as 2s' });
});

const PATH_SHAPE: Shape = { type: 'string', pattern: '\\S' };

/** A glob relative to the repository's root. */
export const scope = value(PATH_SHAPE, (given, refuse) => {
  const wrong = pathRefusal(given);
  return wrong === null ? normaliseGlob(given as string) : refuse(wrong);
});

/** A folder relative to the repository's root; '' is the root itself. */
export const folder = value(PATH_SHAPE, (given, refuse) => {
  const wrong = pathRefusal(given);
  if (wrong !== null) return refuse(wrong);
  return /^[./]*$/.test(given as string) ? '' : normaliseGlob(given as string);
});

export const branch = value({ type: 'string', pattern: '^[^\\s~^:?*[\\\\-]' }, (given, refuse) => {
  const isName =
    typeof given === 'string' &&
    /^[^\s\x00-\x20\x7f~^:?*[\\-][^\s\x00-\x20\x7f~^:?*[\\]*$/.test(given) &&
    !/\.\.|@\{|\/\/|\.lock(?:\/|$)|(?:^|\/)\.|[./]$|^\/|^@$/.test(given);
  return isName ? given : refuse({ expected: 'the name of a branch', ...inQuotes(given) });
});

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ENV_REFUSED = /^(?:LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_.*)$/;

const PROGRAM = /^[\w][\w.+-]*$/;

/** A program's name, as it is looked up on PATH. */
export const program = value({ type: 'string', pattern: PROGRAM.source }, (given, refuse) =>
  typeof given === 'string' && PROGRAM.test(given)
    ? given
    : refuse({ expected: 'the name of a program', ...inQuotes(given) }),
);

/** A folder anywhere on the machine: absolute, below the home (`~/`), or in the repository. */
export const anyFolder = value(PATH_SHAPE, (given, refuse) => {
  if (typeof given === 'string' && /^(?:\/|~\/)[^\0\n]*$/.test(given)) return given;
  const wrong = pathRefusal(given);
  return wrong === null ? normaliseGlob(given as string) : refuse(wrong);
});

/** A path anywhere: absolute, below the home (`~/`), or relative to the repository's root. */
export const place = value(PATH_SHAPE, (given, refuse) =>
  typeof given === 'string' && /^[^\0\n-][^\0\n]*$/.test(given) && given.trim() !== ''
    ? given
    : refuse({ expected: 'a path', ...inQuotes(given) }),
);

const HTTP_URL = /^https?:\/\/[^\s]+$/;

export const httpUrl = value({ type: 'string', pattern: HTTP_URL.source }, (given, refuse) =>
  typeof given === 'string' && HTTP_URL.test(given)
    ? given
    : refuse({ expected: 'an http or https address', ...inQuotes(given) }),
);

/** Where a webhook goes: HTTPS, and never this machine or its neighbours. */
export const webhookUrl = value({ type: 'string', pattern: '^https://' }, (given, refuse) => {
  if (typeof given !== 'string')
    return refuse({ expected: 'an https address', ...inQuotes(given) });
  const wrong = webhookRefusal(given);
  return wrong === null ? given : refuse({ ...wrong, message: `the address ${wrong.message}` });
});

const NETWORK_SHAPE: Shape = {
  anyOf: [{ enum: ['on', 'off'] }, { type: 'array', minItems: 1, items: { type: 'string' } }],
};

/** All of the network, none of it, or a list of hosts. */
export const network = value(NETWORK_SHAPE, (given, refuse): 'on' | 'off' | readonly string[] => {
  if (given === 'on' || given === 'off') return given;
  if (!Array.isArray(given)) {
    const isHost = typeof given === 'string' && hostRefusal(given) === null;
    const remedy = isHost ? { remedy: `write it as a list: [${quote(given)}]` } : {};
    return refuse({ expected: 'on, off or a list of hosts', ...remedy });
  }
  if (given.length === 0) return refuse({ message: 'the list is empty', remedy: 'use off' });
  for (const [i, host] of given.entries()) {
    const wrong = hostRefusal(host);
    if (wrong !== null) refuse({ ...wrong, path: [i] });
  }
  return given.map((host) => String(host).toLowerCase());
});

export const envName = value({ type: 'string', pattern: ENV_NAME.source }, (given, refuse) =>
  typeof given === 'string' && ENV_NAME.test(given) && !ENV_REFUSED.test(given)
    ? given
    : refuse({ expected: 'the name of a variable that may be passed on', ...inQuotes(given) }),
);

const ENV_SHAPE: Shape = {
  type: 'object',
  propertyNames: { pattern: ENV_NAME.source },
  additionalProperties: { type: 'string' },
};

export const env = value(ENV_SHAPE, (given, refuse) => {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) {
    return refuse({ expected: 'a mapping of names to text' });
  }
  const entries = Object.entries(given);
  for (const [name, content] of entries) {
    const wrong = envRefusal(name, content);
    if (wrong !== null) refuse({ ...wrong, path: [name] });
  }
  return Object.fromEntries(entries) as Record<string, string>;
});

/** A whole number within bounds. */
export function count(min: number, max: number) {
  return value({ type: 'integer', minimum: min, maximum: max }, (given, refuse) =>
    typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max
      ? given
      : refuse({ expected: `a whole number from ${min} to ${max}` }),
  );
}

/** One of a few words; those in `later` are known but not in this version. */
export function choice<T extends string>(allowed: readonly T[], later: readonly string[] = []) {
  return value({ type: 'string', enum: allowed }, (given, refuse) => {
    const found = allowed.find((one) => one === given);
    if (found !== undefined) return found;
    const usable = `use ${allowed.join(' or ')}`;
    if (typeof given === 'string' && later.includes(given)) {
      return refuse({
        message: `${quote(given)} is not available in this version`,
        remedy: usable,
      });
    }
    const guess = typeof given === 'string' ? closest(given, allowed) : null;
    const remedy = guess === null ? {} : { remedy: `did you mean ${guess}?` };
    return refuse({ expected: `one of ${allowed.join(', ')}`, ...remedy });
  });
}

/** Whether a path or glob leaves the repository, or means git's own folder. */
export function pathRefusal(given: unknown): Refusal | null {
  if (typeof given !== 'string' || given.trim() === '' || given.includes('\0')) {
    return { expected: 'a path relative to the repository' };
  }
  if (/^(?:[\\/~]|[A-Za-z]:[\\/])/.test(given)) {
    return {
      message: `${quote(given)} is an absolute path`,
      remedy: "write it relative to the repository's root",
    };
  }
  const path = normaliseGlob(given);
  if (/(?:^|[/{,\\])\.\.(?:[/},\\]|$)/.test(path)) {
    return {
      message: `${quote(given)} climbs out of the repository`,
      remedy: "name something below the repository's root, without ..",
    };
  }
  if (/^\.git(?:\/|$)/i.test(path)) return { message: `${quote(given)} belongs to git itself` };
  return null;
}

const HOST = /^(?:(?:\*\.)?[a-z\d_](?:[a-z\d_.-]*[a-z\d_])?\.?|\[[\da-f:.]+\])(?::[1-9]\d{0,4})?$/i;

/** Whether something is no host, such as `api.example.com`, `*.example.com` or `10.0.0.7:8080`. */
function hostRefusal(given: unknown): Refusal | null {
  const expected = 'a host such as api.example.com, *.example.com or api.example.com:8443';
  if (typeof given !== 'string') return { expected, ...inQuotes(given) };
  if (given === '*') return { message: '"*" is every host', remedy: 'use network: on' };
  if (/^localhost\.?$/i.test(given)) {
    return { message: 'localhost needs a port', remedy: 'name the one it may use: localhost:3000' };
  }
  if (HOST.test(given) && !given.includes('..')) return null;
  const [, host] = /^\w+:\/\/([^/?#@]+)/.exec(given) ?? [];
  return { expected, ...(host === undefined ? {} : { remedy: `leave only the host: ${host}` }) };
}

function durationMs(given: unknown): number {
  if (typeof given !== 'string' || !DURATION.test(given)) {
    return Number.NaN;
  }
  let sum = 0;
  for (const [, amount, unit] of given.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    sum += Number(amount) * (UNIT_MS[unit!] ?? Number.NaN);
  }
  return sum;
}

function envRefusal(name: string, content: unknown): Refusal | null {
  if (!ENV_NAME.test(name)) {
    const message = `${quote(name)} is no name of an environment variable`;
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
