/** How a process ended. Being stopped by us is an answer, not an error. */

export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'aborted'; readonly reason: unknown };

/** The number a shell would show: the exit code, or minus one where there is none. */
export function exitCode(exit: Exit): number | null {
  return exit.kind === 'exited' ? exit.code : null;
}
