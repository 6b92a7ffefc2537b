/** Whether this process is the engine of a run: then it has more to do than to print. */

let runs = 0;

/** True while `whileExecuting` is under way. */
export function isExecuting(): boolean {
  return runs > 0;
}

/** Does the work of an engine. */
export async function whileExecuting<T>(work: () => Promise<T>): Promise<T> {
  runs += 1;
  try {
    return await work();
  } finally {
    runs -= 1;
  }
}
