/** The notifications of a run that this process executes. */

import { readEntries } from '../journal/journal.ts';
import { fold } from '../model/fold.ts';
import type { Plan } from '../model/plan.ts';
import { Notifier } from '../notify/notifier.ts';
import { allowedEnv } from '../worker/environment.ts';
import type { Execution } from './execute.ts';

/** Programs that show a note must find the user's session. */
const DESKTOP_ENV = ['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XAUTHORITY'];

/** The notifier of a run that is about to be driven. */
export function notifierOf(
  { run, plan, place, db, started }: Execution,
  { mask, warn, bell }: Pick<ConstructorParameters<typeof Notifier>[0], 'mask' | 'warn' | 'bell'>,
): Notifier {
  return new Notifier({
    run,
    notify: plan.notify,
    before: started === null && plan.notify.length > 0 ? fold(readEntries(db, run, 0)) : null,
    mask,
    machine: {
      dir: place.dir,
      env: allowedEnv(place.host.env, DESKTOP_ENV),
      platform: place.host.platform,
    },
    network: null,
    bell,
    warn,
  });
}

/** Addresses of webhooks, which often are secrets as a whole. */
export function webhooksOf({ notify }: Plan): readonly string[] {
  return notify.flatMap(({ to }) => (to.kind === 'webhook' ? [to.url] : []));
}
