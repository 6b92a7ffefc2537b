/**
 * The three kinds of error, and the only ones. What a caller should handle is a returned union.
 *
 *   UserError         they can fix it: plan, configuration, arguments. Exit 2, no stack trace.
 *   OperationalError  the world is wrong: no repository, a missing program, a full disk. Exit 3.
 *   InvariantError    we are wrong. The stack trace is the message.
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

/** The text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message of an error with its way out, as one text. */
export function explained(error: unknown): string {
  const remedy = error instanceof OperationalError ? error.remedy : undefined;
  const message = messageOf(error);
  return remedy === undefined ? message : `${message.replace(/\.$/, '')}. ${remedy}`;
}
