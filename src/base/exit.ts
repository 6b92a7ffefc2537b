/** How a process ended. Stopping one is a result, not an error. */

export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'aborted'; readonly reason: unknown };

/** Null where a signal or an abort ended it. */
export function exitCode(exit: Exit): number | null {
  return exit.kind === 'exited' ? exit.code : null;
}
