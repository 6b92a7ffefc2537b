/**
 * Answers an agent that asks for permission to use a tool. No person is there to answer.
 *
 *   default, dontAsk   no: what it may do without asking, it does not ask for
 *   acceptEdits        yes to changes of files in the workspace, no to everything else
 *   bypassPermissions  yes
 *
 * A read task gets no permission, whatever the mode.
 *
 *   P1. Permission is given once wherever the agent offers that: an agent may store what it is always
 *       allowed.
 */

import type { Job } from '../agent.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../json-fields.ts';

export interface Asked {
  readonly id: string;
  /** The protocol's kind of tool: `edit`, `execute` … */
  readonly kind: string;
  readonly title: string;
  /** The files it names, absolute or relative to the workspace. */
  readonly paths: readonly string[];
}

export function mayDo({ permissions, readOnly, cwd }: Job, { kind, paths }: Asked): boolean {
  if (readOnly) return false;
  if (permissions === 'bypassPermissions') return true;
  const edits = permissions === 'acceptEdits' && EDITS.has(kind);
  return edits && paths.every((path) => isInside(cwd, path));
}

/** The answer in the agent's own terms, and whether it means yes. */
export function answerTo(
  options: unknown,
  allow: boolean,
): { readonly outcome: Fields; readonly allowed: boolean } {
  const offered = listOf(options).map(fieldsOf);
  const find = (kinds: readonly string[]) =>
    kinds.flatMap((kind) => offered.filter((option) => option.kind === kind))[0];
  const yes = allow ? find(['allow_once', 'allow_always']) : undefined;
  const chosen = yes ?? find(['reject_once', 'reject_always']);
  const optionId = textOf(chosen?.optionId);
  return {
    outcome: chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId },
    allowed: yes !== undefined,
  };
}

function isInside(dir: string, path: string): boolean {
  const base = segments(dir).join('/');
  const full = segments(path.startsWith('/') ? path : `${dir}/${path}`).join('/');
  return full.startsWith(`${base}/`);
}

function segments(path: string): readonly string[] {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return kept;
}

export const EDITS: ReadonlySet<string> = new Set(['edit', 'delete', 'move']);
