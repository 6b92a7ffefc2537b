/** Things that are made when they are first asked for: most commands ask for few of them. */

/** A function that makes its value when it is first called, and has it ever after. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
