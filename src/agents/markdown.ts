/** Names and outputs in the Markdown of a prompt; nothing in them can end what they stand in. */

const MAX_OUTPUT = 6_000;
const MAX_ITEMS = 50;

/** The end of an output, where the reason stands, in a fence it cannot close. */
export function fenced(output: string): string {
  const text = output.trim() || '(no output)';
  const tail = text.length > MAX_OUTPUT ? `…${text.slice(-MAX_OUTPUT)}` : text;
  const longest = Math.max(2, ...Array.from(tail.matchAll(/`+/g), ([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${tail}\n${fence}`;
}

/** The first of many names. */
export function codeList(items: readonly string[]): string {
  const shown = items.slice(0, MAX_ITEMS).map(code).join(', ');
  return items.length > MAX_ITEMS ? `${shown} and ${items.length - MAX_ITEMS} more` : shown;
}

/** One name. */
export function code(text: string): string {
  return `\`${text}\``;
}
