// Counts what one read, one write, one sweep and one subscription pass through: the files of src/ and jobs/ in which a
// function runs, and the round trips and statements on the connection to PostgreSQL.
//   node scripts/count-files.mjs [ROOT] [--files]
// ROOT is a checkout with node_modules (default: this one); --files lists the files. The figures in docs/architecture.md
// are from this script.
//
// The server runs from TypeScript with the hashing embedder, on a PostgreSQL of its own behind a proxy that counts. V8
// reports the functions that ran during a call (precise coverage). Each call is warmed up first and then repeated: a
// file counts if every repeat ran it, and of round trips the smallest number counts, so that timers and the polling of
// the job queue do not appear.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { root as packageRoot } from './run.mjs';

/** Each episode must change what is known, or the sweep has nothing to store. */
const cities = ['Lisbon', 'Porto', 'Braga', 'Faro'];
const warmUps = 3;
const repeats = 8;
const settleMs = 400;
const storeFactDocument =
  'mutation ($input: StoreFactInput!) { storeFact(input: $input) { ... on StoreFactPayload { fact { uuid content } eventId } ... on Problem { code message } } }';
const storeEpisodeDocument =
  'mutation ($input: StoreEpisodeInput!) { storeEpisode(input: $input) { ... on StoreEpisodePayload { eventId } ... on Problem { code message } } }';
const sweepDocument =
  'mutation { runJob(input: { name: "consolidate" }) { ... on RunJobPayload { run { status report { name count } } } ... on Problem { code message } } }';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { files: { type: 'boolean' } } });
const root = resolve(positionals[0] ?? packageRoot);
const directory = mkdtempSync(join(tmpdir(), 'butler-memory-count-'));
// As root, PostgreSQL runs as another user, who has to reach its data.
chmodSync(directory, 0o755);
const postgres = join(packageRoot, 'scripts', 'postgres-for-tests.sh');
const stops = [async () => rmSync(directory, { recursive: true, force: true })];
try {
  await main();
} finally {
  for (const stop of stops.toReversed()) await stop();
}

async function main() {
  const started = spawnSync('sh', [postgres, 'start', directory], { encoding: 'utf8' });
  if (started.status !== 0) throw new Error(started.stderr);
  stops.push(async () => spawnSync('sh', [postgres, 'stop', directory]));
  const databaseUrl = /^DATABASE_URL=(.*)$/m.exec(started.stdout)[1];
  const proxy = await startCountingProxy(databaseUrl);
  const server = await startServer(proxy.url);
  // Events for the subscription come from a second server, so that their write does not count as part of it.
  const writer = await startServer(databaseUrl);
  const profiler = await attachProfiler(server.inspectorUrl);
  for (const [name, prepare, run] of listCalls(server.url, writer.url)) {
    for (let turn = 0; turn < warmUps; turn += 1) await prepare().then(run);
    const measured = [];
    for (let turn = 0; turn < repeats; turn += 1) measured.push(await measure(profiler, proxy, prepare, run));
    report(name, measured);
  }
}

async function measure(profiler, proxy, prepare, run) {
  const given = await prepare();
  // References and the like are written some 100 ms after an answer: those of the call before must not count here.
  await setTimeout(settleMs);
  await profiler.takeFiles();
  const before = { ...proxy.counts };
  await run(given);
  const files = await profiler.takeFiles();
  return {
    files,
    roundTrips: proxy.counts.roundTrips - before.roundTrips,
    statements: proxy.counts.statements - before.statements,
  };
}

function report(name, measured) {
  const files = measured.map((one) => one.files).reduce((all, some) => all.filter((file) => some.includes(file)));
  const smallest = (key) => Math.min(...measured.map((one) => one[key]));
  const folders = new Map();
  for (const file of files) {
    const folder = /^(src\/[^/]+|jobs)/.exec(file)[0];
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  console.log(
    `${name}: ${files.length} files, ${smallest('roundTrips')} round trips, ${smallest('statements')} statements`,
  );
  console.log(`  ${[...folders].map(([folder, count]) => `${folder} ${count}`).join(', ')}`);
  if (values.files) for (const file of files) console.log(`    ${file}`);
}

/** Lists the calls: a name, what is prepared unmeasured, and what is measured. */
function listCalls(url, writerUrl) {
  let number = 0;
  const storeFact = (to) => {
    number += 1;
    return ask(to, storeFactDocument, {
      input: { subject: 'user', predicate: `liking ${number}`, content: `tea ${number}` },
    });
  };
  const nothing = async () => undefined;
  const contextArguments = { trigger_prompt: 'Which tea does the user like?', butler: 'general', token_budget: 300 };
  return [
    ['write (storeFact over GraphQL)', nothing, () => storeFact(url)],
    ['read (memory_context over MCP)', nothing, () => callTool(url, 'memory_context', contextArguments)],
    ['sweep (runJob consolidate, one episode)', () => storeEpisode(url, (number += 1)), () => consolidate(url)],
    ['subscription (activity over SSE, one event)', nothing, () => receiveEvent(url, () => storeFact(writerUrl))],
  ];
}

function storeEpisode(url, number) {
  const content = `User said: I live in ${cities[number % cities.length]}.`;
  return ask(url, storeEpisodeDocument, { input: { butler: 'travel', content } });
}

async function consolidate(url) {
  const answer = await ask(url, sweepDocument);
  if (!/"factsCreated","count":1/.test(answer)) throw new Error(`the sweep stored no fact: ${answer}`);
}

async function ask(url, query, variables = {}) {
  const response = await post(`${url}/graphql`, { query, variables });
  const text = await response.text();
  if (/"(errors|code)":/.test(text)) throw new Error(text);
  return text;
}

async function callTool(url, name, args) {
  const response = await post(`${url}/mcp`, {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args },
  });
  const text = await response.text();
  if (!/"structuredContent":/.test(text) || /"isError":true/.test(text)) throw new Error(text);
}

async function receiveEvent(url, write) {
  const aborter = new AbortController();
  const query = 'subscription { activity { eventType entityId actor } }';
  const response = await post(`${url}/graphql`, { query }, 'text/event-stream', aborter.signal);
  let isWritten = false;
  for await (const chunk of response.body) {
    if (Buffer.from(chunk).includes('event: next')) break;
    if (!isWritten) await write();
    isWritten = true;
  }
  aborter.abort();
}

function post(url, body, accept = 'application/json, text/event-stream', signal) {
  const headers = { 'content-type': 'application/json', accept };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
}

async function startServer(databaseUrl) {
  const cli = ['--inspect=127.0.0.1:0', '--import', 'tsx', join(root, 'src', 'cli.ts'), 'serve'];
  const env = { ...process.env, PORT: '0', LOG_LEVEL: 'info', DATABASE_URL: databaseUrl };
  const child = spawn(process.execPath, cli, {
    cwd: root,
    env: { ...env, BUTLER_MEMORY_HOME: directory, BUTLER_MEMORY_EMBEDDING_PROVIDER: 'hashing' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  stops.push(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let inspectorUrl;
  createInterface({ input: child.stderr }).on('line', (line) => {
    inspectorUrl ??= /^Debugger listening on (ws:.*)$/.exec(line)?.[1];
  });
  const url = await new Promise((ready, reject) => {
    let listening;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { msg, url: given } = JSON.parse(line);
      listening = given ?? listening;
      if (msg.startsWith('ready')) ready(listening);
    });
    void ended.then(() => reject(new Error('the server ended before it was ready')));
  });
  return { url, inspectorUrl };
}

/** Connects to the server's inspector and starts precise coverage. */
async function attachProfiler(inspectorUrl) {
  const socket = new WebSocket(inspectorUrl, { maxPayload: 1 << 30 });
  await once(socket, 'open');
  stops.push(async () => socket.terminate());
  const waiting = new Map();
  socket.on('message', (data) => {
    const { id, result } = JSON.parse(data);
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  let lastId = 0;
  const send = (method, params = {}) =>
    new Promise((answer) => {
      lastId += 1;
      waiting.set(lastId, answer);
      socket.send(JSON.stringify({ id: lastId, method, params }));
    });
  await send('Profiler.enable');
  await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return { takeFiles: async () => listFiles((await send('Profiler.takePreciseCoverage')).result) };
}

/** Returns the source files in which at least one function ran since the last call. */
function listFiles(scripts) {
  return scripts
    .filter(({ url, functions }) => url.startsWith('file:') && functions.some(({ ranges }) => ranges[0].count > 0))
    .map(({ url }) => relative(root, fileURLToPath(url.replace(/\?.*/, ''))))
    .filter((file) => /^(src|jobs)\//.test(file) && !file.startsWith('src/generated/'))
    .toSorted();
}

/**
 * Forwards connections to PostgreSQL. A round trip is a client that writes after the server wrote on that connection; a
 * statement is a Query or an Execute message.
 */
async function startCountingProxy(databaseUrl) {
  const target = new URL(databaseUrl);
  const counts = { roundTrips: 0, statements: 0 };
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let isServerLast = true;
    const countMessages = createMessageCounter(counts);
    client.on('data', (chunk) => {
      if (isServerLast) counts.roundTrips += 1;
      isServerLast = false;
      countMessages(chunk);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      isServerLast = true;
      client.write(chunk);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  stops.push(async () => proxy.close());
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${proxy.address().port}`;
  return { url: url.toString(), counts };
}

function createMessageCounter(counts) {
  let rest = Buffer.alloc(0);
  // The first message of a connection has a length and no type.
  let typeBytes = 0;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + 4) {
      const length = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < length) return;
      if (typeBytes === 1 && 'QE'.includes(String.fromCharCode(rest[0]))) counts.statements += 1;
      rest = rest.subarray(length);
      typeBytes = 1;
    }
  };
}
