/**
 * A plugin for OpenCode that tells on standard error what `run --format json` keeps to itself: that
 * a tool has begun, that it waits before it asks again, what sub-agents use, that it is alive.
 *
 *   R1. One JSON object a line, with the field `landfast`; stream.ts reads them.
 *   R2. Without it (the CLI can be set to load no plugins) less is known and nothing is wrong.
 *   R3. A role that only our own configuration names is not there: the CLI would take it for a new
 *       one. That ends it before it asks the model anything.
 *
 * The text is a program of its own, which the CLI runs.
 */

export const REPORTER_FILE = 'landfast-reporter.js';

/** The plugin's source. `role` is one that must exist. */
export function reporterSource(role: string | null): string {
  const needed = role === null || NATIVE.includes(role) ? null : role;
  return `${SOURCE}\nconst role = ${JSON.stringify(needed)};\n`;
}

/** Agents that are there without any configuration. */
const NATIVE: readonly string[] = ['build', 'plan', 'general', 'explore'];

const SOURCE = `import { exit, stderr } from "node:process";

const tell = (landfast, fields) => stderr.write(JSON.stringify({ landfast, ...fields }) + "\\n");
const now = () => performance.timeOrigin + performance.now();
const told = new Set();
const first = (key) => !told.has(key) && told.add(key);
let lastSign = 0;

const part = (session, { type, callID, tool, state, cost, tokens }) => {
  if (type === "step-finish") return tell("step", { session, cost, tokens });
  if (type !== "tool" || state.status !== "running" || !first(callID)) return alive();
  tell("tool", { session, id: callID, name: tool, input: state.input });
};

const message = ({ id, sessionID: session, role, providerID, modelID, path }) => {
  if (role !== "assistant" || !first(session)) return alive();
  tell("session", { session, model: providerID + "/" + modelID, cwd: path?.cwd });
};

const status = (session, { type, attempt, message, next }) => {
  if (type !== "retry") return tell("status", { session, status: type });
  tell("retry", { session, attempt, message, next, delayMs: Math.round(next - now()) });
};

const alive = () => {
  if (now() - lastSign < 5000) return;
  lastSign = now();
  tell("alive", {});
};

export const LandfastReporter = async () => ({
  config: async ({ agent }) => {
    const named = role === null ? undefined : agent?.[role];
    if (named && !["description", "prompt", "mode", "model"].some((key) => named[key])) {
      stderr.write('agent "' + role + '" not found\\n');
      exit(1);
    }
  },
  event: async ({ event: { type, properties } }) => {
    if (type === "message.part.updated") part(properties.part.sessionID, properties.part);
    else if (type === "message.updated") message(properties.info);
    else if (type === "session.status") status(properties.sessionID, properties.status);
    else alive();
  },
});
`;
