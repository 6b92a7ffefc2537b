/** Whether a prompt file has the sections that agents are led by. */

import { SECTIONS } from './prompt.ts';

/** Without these an agent does not know what to do, or when it is done. */
const CRITICAL: readonly string[] = [
  'EXECUTION INSTRUCTIONS',
  'IMPORTANT RULES',
  'COMPLETION SIGNAL',
];

export interface Lack {
  readonly what: string;
  readonly critical: boolean;
}

/**
 * What a prompt lacks. The form of the answer is asked for anyway, so that a prompt need not; one
 * that does must name the key that tells whether the task is done.
 */
export function lacksOf(prompt: string): readonly Lack[] {
  const missing = SECTIONS.filter((name) => !prompt.includes(`=== ${name} ===`));
  const asks = prompt.includes('=== OUTPUT FORMAT');
  return [
    ...missing.map((name) => ({ what: `=== ${name} ===`, critical: CRITICAL.includes(name) })),
    ...(asks && !prompt.includes('"task_completed"')
      ? [{ what: '"task_completed" in OUTPUT FORMAT', critical: true }]
      : []),
  ];
}
