/**
 * Masking: secret values are replaced before anything an agent said is written.
 *
 *   K1. The longest secret is replaced first, so that one that contains another leaves no rest.
 *   K2. A secret of several lines is also masked line by line, and in the spelling it has inside a
 *       JSON string: that is how it appears in an agent's output.
 *   K3. Whoever passes a value means it. Only those shorter than three characters are left alone:
 *       masking them would destroy the text and show the secret by its gaps.
 */

const MASK = '[MASKED]';
const SHORTEST = 3;
/** The lines of a key in PEM form are longer; shorter ones are words like `}` or `EOF`. */
const SHORTEST_LINE = 8;

/** A function that replaces every one of the secrets in a text. */
export function masker(secrets: readonly string[]): (text: string) => string {
  const spellings = new Set(secrets.flatMap(spellingsOf));
  if (spellings.size === 0) return (text) => text;
  const longestFirst = [...spellings].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(literal).join('|'), 'g');
  return (text) => text.replace(pattern, MASK);
}

function spellingsOf(secret: string): string[] {
  if (secret.length < SHORTEST) return [];
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const longLines = lines.length > 1 ? lines.filter((line) => line.length >= SHORTEST_LINE) : [];
  return [secret, ...longLines].flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]);
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
