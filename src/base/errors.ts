/**
 * The three kinds of error, and the only ones. What a caller should handle is a returned union.
 *
 *   UserError         the user can fix it: plan, configuration, arguments. Exit 2, no stack trace.
 *   OperationalError  the machine: no repository, a missing program, a full disk. Exit 3.
 *   InvariantError    a bug in Landfast. The stack trace is the message.
 */

export class UserError extends Error {
  override readonly name: string = 'UserError';
  /** What to do about it, shown on its own line. */
  readonly remedy: string | undefined;

  constructor(message: string, remedy?: string) {
    super(message);
    this.remedy = remedy;
  }
}

export class OperationalError extends Error {
  override readonly name: string = 'OperationalError';
  readonly remedy: string | undefined;

  constructor(
    message: string,
    options: { readonly remedy?: string; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.remedy = options.remedy;
  }
}

export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Rethrows an InvariantError. For a catch that tolerates any other failure. */
export function rethrowBug(error: unknown): void {
  if (error instanceof InvariantError) throw error;
}

/** For `promise.catch`: `value` replaces any failure but an InvariantError. */
export function otherwise<T>(value: T): (error: unknown) => T {
  return (error) => {
    rethrowBug(error);
    return value;
  };
}

/** Whether a system call failed with one of these codes (`ENOENT`), or any if none is given. */
export function isSystemError(error: unknown, ...codes: readonly string[]): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string')
    return false;
  return codes.length === 0 ? 'syscall' in error : codes.includes(error.code);
}

/** The result of a system call, or `fallback` where the system refuses it. */
export function trySystem<T, Fallback>(call: () => T, fallback: Fallback): T | Fallback {
  try {
    return call();
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return fallback;
  }
}

/** The text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message of an error and its remedy, as one text. */
export function explained(error: unknown): string {
  const remedy = error instanceof OperationalError ? error.remedy : undefined;
  const message = messageOf(error);
  return remedy === undefined ? message : `${message.replace(/\.$/, '')}. ${remedy}`;
}
