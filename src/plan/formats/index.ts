/** Every input format, and every dialect of configuration files. */

import type { ConfigDialect } from '../config/read.ts';
import { OWN_DIALECT } from '../config/read.ts';
import { castDispatch } from './foreign/cast/cast-dispatch.ts';
import { cpo } from './foreign/cpo/cpo.ts';
import { claudeOrchestra } from './foreign/orchestra/config.ts';
import { poManifest } from './foreign/po/po-manifest.ts';
import { claudeOrchestrator } from './foreign/task-config/config.ts';
import { taskConfig } from './foreign/task-config/task-config.ts';
import { todo } from './foreign/todo/todo.ts';
import type { PlanFormat } from './format.ts';
import { native } from './native/native.ts';

/** In the order in which they are asked whether a file is theirs. */
export const FORMATS: readonly PlanFormat[] = [
  poManifest,
  cpo,
  taskConfig,
  castDispatch,
  native,
  todo,
];

export function formatNamed(name: string): PlanFormat | undefined {
  return FORMATS.find((format) => format.name === name);
}

/** Landfast's own first: a file of it hides those of the others in the same place. */
export const CONFIG_DIALECTS: readonly ConfigDialect[] = [
  OWN_DIALECT,
  claudeOrchestra,
  claudeOrchestrator,
];
