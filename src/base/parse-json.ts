/** The value of a JSON text; null where it is malformed, like a file that was cut off. */
export function parseJson<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}
