/** The benchmark, small: it runs both contestants, compares their trees and writes what it saw. */

import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { landfast, script } from '../../bench/contestants.ts';
import { copyTemplate, git, makeTemplate, openGround } from '../../bench/ground.ts';
import { inspect } from '../../bench/inspect.ts';
import { cpuOfChildren, timeCommand, watchMemory } from '../../bench/measure.ts';
import { type Cell, median, tableText } from '../../bench/results.ts';
import { tempDir } from '../support/temp-dir.ts';
