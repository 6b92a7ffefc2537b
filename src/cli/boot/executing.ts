/** Whether this process is the engine of a run: then it has more to do than to print. */

let runs = 0;
let ended = 0;

/** True while `whileExecuting` is under way. */
export function isExecuting(): boolean {
  return runs > 0;
}

/** True once a run was executed here. */
export function hasExecuted(): boolean {
  return ended > 0;
}

/** Does the work of an engine. */
export async function whileExecuting<T>(work: () => Promise<T>): Promise<T> {
  runs += 1;
  try {
    const result = await work();
    ended += 1;
    return result;
  } finally {
    runs -= 1;
  }
}
