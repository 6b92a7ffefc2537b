/** `on_complete` and `on_failure`: who is told of a run that ended, and of one that went wrong. */

import type { NotifySpec, Occasion } from '../../../model/plan.ts';
import type { ProblemLog } from '../../problem.ts';
import { webhookRefusal } from '../../webhook-url.ts';
import { describe, entryOf, type YamlMap } from '../../yaml-source.ts';

/** The order is that of sending: `on_complete` comes first, also for a run that failed. */
const SECTIONS: readonly (readonly [section: string, on: Occasion])[] = [
  ['on_complete', 'finished'],
  ['on_failure', 'failed'],
];

/** Both sections as what our plans call them. */
export function readWebhooks(root: YamlMap, log: ProblemLog): readonly NotifySpec[] {
  return SECTIONS.flatMap(([section, on]) => {
    const url = readWebhook(root, section, log);
    return url === null ? [] : [{ on: [on], to: { kind: 'webhook', url } }];
  });
}

function readWebhook(root: YamlMap, section: string, log: ProblemLog): string | null {
  const entry = entryOf(root, section);
  if (entry === undefined) return null;
  if (entry.value.kind !== 'map') {
    log.error(entry.value.at, `${section} must be a mapping, found ${describe(entry.value)}`);
    return null;
  }
  for (const { key, keyAt } of entry.value.entries.values()) {
    if (key === 'webhook_url') continue;
    log.warning(keyAt, `${section}.${String(key)} is ignored`, 'only webhook_url is known there');
  }
  const url = entryOf(entry.value, 'webhook_url')?.value;
  if (url?.kind !== 'scalar' || typeof url.value !== 'string') {
    const found = url === undefined ? 'is missing' : `must be text, found ${describe(url)}`;
    log.error(url?.at ?? entry.value.at, `${section}.webhook_url ${found}`);
    return null;
  }
  const refusal = webhookRefusal(url.value);
  if (refusal === null) return url.value;
  log.error(url.at, `${section}.webhook_url ${refusal.message}`, refusal.remedy);
  return null;
}
