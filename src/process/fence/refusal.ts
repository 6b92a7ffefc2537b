/** What bubblewrap says when the system does not let it work, and what helps. Pure. */

const NAMESPACES =
  'Allow user namespaces for bwrap: an AppArmor profile for it (Ubuntu 24.04 and later: ' +
  '`apt-get install apparmor-profiles`, then enable `bwrap-userns-restrict`), or the setting ' +
  '`kernel.apparmor_restrict_unprivileged_userns=0` or `kernel.unprivileged_userns_clone=1`. ' +
  'Inside of a container, which is a fence already, use `sandbox: off`.';

const CONTAINER =
  'This looks like a container, which is a fence already: use `sandbox: off`, or start it with ' +
  'rights to make namespaces and to mount /proc.';

const OTHER = 'Run `bwrap --ro-bind / / true` to see more, or use `sandbox: off`.';

/** Why there is no fence although the tool is there. */
export function refusalOf(said: string): { readonly why: string; readonly remedy: string } {
  const why = `bubblewrap is installed, but the system refuses: ${said || 'it said nothing'}`;
  if (/mount proc|remount|pivot_root|make \/ slave/i.test(said)) return { why, remedy: CONTAINER };
  if (/namespace|uid map|RTM_NEWADDR|not permitted|denied/i.test(said)) {
    return { why, remedy: NAMESPACES };
  }
  return { why, remedy: OTHER };
}
