/** Every input format, in the order in which they are asked whether a file is theirs. */

import { castDispatch } from './cast-dispatch.ts';
import { cpo } from './cpo.ts';
import type { PlanFormat } from './format.ts';
import { native } from './native.ts';
import { poManifest } from './po-manifest.ts';
import { taskConfig } from './task-config.ts';
import { todo } from './todo.ts';

export const FORMATS: readonly PlanFormat[] = [
  poManifest,
  cpo,
  taskConfig,
  castDispatch,
  native,
  todo,
];
