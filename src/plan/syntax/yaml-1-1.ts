/**
 * Plain scalars as PyYAML's safe loader reads them, which is YAML 1.1 with edges of its own:
 * `yes` and `off` are booleans but `y` is text, `010` is eight, `1:30` is ninety, `1e3` is text.
 */

import type { ScalarTag } from 'yaml';

/** A date or a time, kept as written: no key of a plan takes one. */
export interface YamlDate {
  readonly date: string;
}

const NULL: ScalarTag = {
  tag: 'tag:yaml.org,2002:null',
  default: true,
  test: /^(?:~|null|Null|NULL|)$/,
  resolve: () => null,
};

const BOOL: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  resolve: (text) => /^(?:yes|true|on)$/i.test(text),
};

const INT: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?(?:0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(?::[0-5]?[0-9])+)$/,
  resolve: toInteger,
};

const FLOAT: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: new RegExp(
    [
      /^[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?$/,
      /^\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?$/,
      /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/,
      /^[-+]?\.(?:inf|Inf|INF)$/,
      /^\.(?:nan|NaN|NAN)$/,
    ]
      .map(({ source }) => source)
      .join('|'),
  ),
  resolve: toFloat,
};

const TIMESTAMP: ScalarTag = {
  tag: 'tag:yaml.org,2002:timestamp',
  default: true,
  test: new RegExp(
    '^\\d{4}-(?:\\d\\d-\\d\\d|\\d\\d?-\\d\\d?(?:[Tt]|[ \\t]+)\\d\\d?:\\d\\d:\\d\\d(?:\\.\\d*)?' +
      '(?:[ \\t]*(?:Z|[-+]\\d\\d?(?::\\d\\d)?))?)$',
  ),
  resolve: toDate,
};

/** To be used on top of the failsafe schema, which knows text, lists and mappings. */
export const YAML_1_1_TAGS: ScalarTag[] = [NULL, BOOL, INT, FLOAT, TIMESTAMP];

function toInteger(text: string): number {
  const digits = text.replace(/[_+]/g, '');
  const sign = digits.startsWith('-') ? -1 : 1;
  const bare = digits.replace(/^-/, '');
  if (bare.includes(':')) return sign * sexagesimal(bare);
  if (/^0[bx]/.test(bare)) return sign * Number(bare);
  return sign * Number.parseInt(bare, bare.startsWith('0') ? 8 : 10);
}

function toFloat(text: string): number {
  const digits = text.replace(/[_+]/g, '').toLowerCase();
  const sign = digits.startsWith('-') ? -1 : 1;
  const bare = digits.replace(/^-/, '');
  if (bare === '.inf') return sign * Number.POSITIVE_INFINITY;
  if (bare === '.nan') return Number.NaN;
  return sign * (bare.includes(':') ? sexagesimal(bare) : Number.parseFloat(bare));
}

/** `1:30` is 90. */
function sexagesimal(text: string): number {
  return text.split(':').reduce((sum, part) => sum * 60 + Number.parseFloat(part), 0);
}

function toDate(text: string, onError: (message: string) => void): YamlDate {
  const [year = 0, month = 0, day = 0] = text.split(/[^0-9]+/).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) {
    onError(`${text} is not a valid date; put it in quotes if it is text`);
  }
  return { date: text };
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
