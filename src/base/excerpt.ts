/**
 * The relevant part of a long output: lines that mention a failure, and its end. Lines keep their
 * order; omitted ones are counted where they were.
 */

const TROUBLE = /error\b|errors\b|\bfail|fatal|panic|exception|\bassert|\bexpected\b|not ok|✗|✘|×/i;
const END_LINES = 40;
const LONGEST_LINE = 400;

export function excerpt(output: string, most: number): string {
  const text = output.trim();
  if (text.length <= most) return text;
  const lines = text.split('\n').map((line) => line.slice(0, LONGEST_LINE));
  const kept = new Set<number>();
  let room = most;
  const keep = (at: number): void => {
    const cost = lines[at]!.length + 1;
    if (kept.has(at) || cost > room) return;
    room -= cost;
    kept.add(at);
  };
  for (let at = lines.length - 1; at >= Math.max(0, lines.length - END_LINES); at -= 1) keep(at);
  for (const [at, line] of lines.entries()) if (TROUBLE.test(line)) keep(at);
  for (let at = lines.length - 1; at >= 0 && room > 0; at -= 1) keep(at);
  return joined(lines, kept);
}

function joined(lines: readonly string[], kept: ReadonlySet<number>): string {
  const shown: string[] = [];
  let left = 0;
  for (const [at, line] of lines.entries()) {
    if (!kept.has(at)) {
      left += 1;
      continue;
    }
    if (left > 0) shown.push(`[… ${left} lines …]`);
    left = 0;
    shown.push(line);
  }
  return shown.join('\n');
}
