// Runs the plan.yaml of each repository and serves the runs over HTTP, on this machine only:
//   npm install landfast && node server.mjs path/to/one path/to/two
//
//   GET  /NAME/events   server-sent events; a client that reconnects continues where it was
//   GET  /NAME/result   waits for the end of the run
//   POST /NAME/cancel   ends the run, or one task: /NAME/cancel?task=ID
//
// NAME is the name of the repository's folder. Ctrl-C ends the agents and keeps their work.

import { createServer } from 'node:http';
import { basename, join, resolve } from 'node:path';
import { openRepository, UserError } from 'landfast';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());

const runs = new Map();
for (const dir of process.argv.slice(2).map((each) => resolve(each))) {
  const repo = await openRepository(dir, { onWarning: (text) => console.error(text) });
  const run = await repo.start(join(dir, 'plan.yaml'), { signal: stopping.signal });
  runs.set(basename(dir), run);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    const status = error instanceof UserError ? 409 : 500;
    if (!response.headersSent) response.writeHead(status, { 'content-type': 'text/plain' });
    response.end(`${error.message}\n`);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));

// Without agents there is nothing left to serve.
stopping.signal.addEventListener('abort', async () => {
  await Promise.allSettled([...runs.values()].map((run) => run.result()));
  server.close();
  server.closeAllConnections();
});

async function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  const [, name, verb] = pathname.split('/');
  const run = runs.get(name);
  if (run !== undefined && request.method === 'GET' && verb === 'events') {
    return stream(run, request, response);
  }
  if (run !== undefined && request.method === 'GET' && verb === 'result') {
    return sendJson(response, 200, await run.result());
  }
  if (run !== undefined && request.method === 'POST' && verb === 'cancel') {
    await run.cancel(searchParams.get('task') ?? undefined);
    return sendJson(response, 200, { cancelled: searchParams.get('task') ?? name });
  }
  return sendJson(response, 404, { runs: [...runs.keys()] });
}

async function stream(run, request, response) {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const after = Number(request.headers['last-event-id'] ?? 0);
  for await (const { seq, at, event } of run.events({ after, signal: gone.signal })) {
    response.write(`id: ${seq}\ndata: ${JSON.stringify({ at, event })}\n\n`);
  }
  response.end();
}

function sendJson(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(value)}\n`);
}
