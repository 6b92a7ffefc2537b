/**
 * What became of one compatibility case of a tool that Landfast replaces. The lists beside this file
 * are the source of docs/compatibility.md; each case that is not declined has a test named by its id.
 */

export interface CompatCase {
  /** Such as `PO-01`, `CP-04`, `C29`, `R22` or `P19`. */
  readonly id: string;
  /** The case in a few words of ours. */
  readonly what: string;
  /** `kept`: the same outcome. `fixed`: the better one. `declined`: neither, for the reason given. */
  readonly verdict: 'kept' | 'fixed' | 'declined';
  /** What is better, or why it is declined; for `kept` only where there is something to add. */
  readonly note?: string;
}
