/**
 * What Codex logs on standard error about its requests, where it is asked to.
 *
 *   2026-11-15T23:29:22.069046Z  INFO codex_otel.trace_safe: event.name="codex.api_request" …
 *
 * The stream on standard output counts tokens over the whole thread, knows no HTTP status and no
 * time of day. The log has all three, and signs of life between a request and its answer.
 *
 *   L1. Only the part of the log that holds no content is asked for: no prompt, answer or account.
 *   L2. All of this may be missing (another version, another filter): nothing depends on it alone.
 *
 * The filter is a variable that programs started by the agent see, too. It begins with the level
 * that is theirs without it.
 */

/** The value of RUST_LOG. */
export const LOG_FILTER = 'error,codex_otel.trace_safe=info';

/** One entry of the log. */
export interface LogLine {
  /** When it was written (ms since 1970); NaN where that cannot be read. */
  readonly at: number;
  readonly name: string;
  /** The value of a field, `''` where it has none. */
  field(key: string): string;
}

/** The entry on this line, or null where it is something else. */
export function parseLogLine(line: string): LogLine | null {
  const found = ENTRY.exec(line.slice(0, MAX_LINE));
  if (found === null) return null;
  const [, time = '', name = '', rest = ''] = found;
  return { at: Date.parse(time), name, field: (key) => fieldOf(rest, key) };
}

function fieldOf(rest: string, key: string): string {
  const start = rest.indexOf(` ${key}=`);
  if (start < 0) return '';
  const value = rest.slice(start + key.length + 2);
  return /^"([^"]*)"/.exec(value)?.[1] ?? /^\S*/.exec(value)?.[0] ?? '';
}

const ENTRY = /^(\S+Z) +INFO codex_otel\.trace_safe: .*?\bevent\.name="(?:codex\.)?([\w.]+)"(.*)$/;
const MAX_LINE = 4000;
