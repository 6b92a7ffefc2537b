/** A native plan as text, from the parts that a test cares about. */

export interface PlanParts {
  readonly gates?: readonly Readonly<Record<string, unknown>>[];
  readonly workers?: number;
  readonly land?: Readonly<Record<string, unknown>>;
  readonly retries?: number;
  /** Keys of each task beside its id; the agent is the shell unless it says otherwise. */
  readonly tasks: Readonly<Record<string, Readonly<Record<string, unknown>> | string>>;
  readonly more?: Readonly<Record<string, unknown>>;
}

/** JSON is YAML: the text of a plan file. A task given as a string is a script. */
export function nativePlan({
  gates = [],
  workers = 4,
  land = {},
  retries = 0,
  ...rest
}: PlanParts) {
  const tasks = Object.entries(rest.tasks).map(([id, task]) =>
    typeof task === 'string' ? { id, prompt: task } : { id, ...task },
  );
  return `${JSON.stringify(
    {
      landfast: 1,
      name: 'test',
      defaults: { agent: 'shell', retries },
      gates,
      land,
      limits: { workers },
      ...rest.more,
      tasks,
    },
    null,
    2,
  )}\n`;
}
