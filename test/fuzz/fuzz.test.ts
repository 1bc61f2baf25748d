import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { installQueue } from '../../jobs/queue.ts';
import { createApp, type App } from '../../src/http/app.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { dataLine } from '../../src/shared/untrusted-text.ts';
import { MemoryError } from '../../src/shared/errors.ts';
import { sweepConsolidation } from '../../src/lifecycle/consolidation/consolidate.ts';
import { normaliseMetadata } from '../../src/memory/metadata.ts';
import { normaliseContent, normaliseName } from '../../src/memory/text.ts';
import { createRedactor } from '../../src/redaction/redactor.ts';
import { readEpisode } from '../../src/lifecycle/consolidation/engines/patterns/read-episode.ts';
import { inertText } from '../../src/shared/untrusted-text.ts';
import { readQuery } from '../../src/retrieval/query/query-text.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { startTicking } from '../support/clock.ts';
import { testConfig } from '../support/config.ts';
import { drill } from '../support/drill.ts';
import { expectNoDifference } from '../support/verify.ts';
import {
  brokenGraphqlBodies,
  brokenMcpBodies,
  graphqlParameters,
  graphqlRequests,
  jwtClaims,
  mcpCalls,
} from './requests.ts';
import { oneWrongValue } from './one-wrong-value.ts';
import { broken, expressions, jsonValues, texts } from './texts.ts';
import { storeEpisode, storeFact } from '../support/writes.ts';

/**
 * What comes from outside, made up by the seed. `BUTLER_FUZZ_INPUTS` and `BUTLER_FUZZ_SEED` make a longer run, or another.
 * A failure tells the seed and the smallest input that it found.
 */
const { engine } = inject('testRun');
const inputs = Number(
  process.env['BUTLER_FUZZ_INPUTS'] ?? drill({ sample: 1000, all: engine === 'pglite' ? 20_000 : 4000 }),
);
const seed = Number(process.env['BUTLER_FUZZ_SEED'] ?? 20_260_301);

/** Of a thousand inputs. Most are of those that cost little: what is refused before it comes to the database. */
const shares = {
  'broken GraphQL bodies': 100,
  'parameters of a GET': 60,
  'GraphQL requests': 50,
  'GraphQL requests with one wrong value': 250,
  'broken MCP bodies': 100,
  'MCP calls': 40,
  'claims of a token': 40,
  'files of configuration': 150,
  'search expressions, read': 100,
  'search expressions, searched': 20,
  'texts, read and shown': 100,
} as const;

const options = (kind: keyof typeof shares): fc.Parameters<unknown> => ({
  seed,
  numRuns: Math.max(1, Math.round((inputs * shares[kind]) / 1000)),
  endOnFailure: true,
});

let testApp: TestApp;
let directory: string;
let heapAtFirst = 0;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function usedHeapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

beforeAll(async () => {
  const config = testConfig();
  // The clock stands still: what is spent never comes back.
  const limits = { ...config.limits, requestsPerMinute: 10_000_000, burst: 10_000_000 };
  testApp = await createTestApp({ ...config, limits });
  startTicking(testApp.clock);
  await installQueue(testApp.core.db);
  directory = await mkdtemp(join(tmpdir(), 'fuzz-'));
  const { memory } = testApp.app.createContext();
  await storeFact(memory, { subject: 'user', predicate: 'drinks', content: 'The user drinks tea' });
});
afterAll(async () => {
  await rm(directory, { recursive: true });
  await testApp.close();
});

/** What a caller must never read: statements, names of tables, traces of the stack, places of files. */
const telltales = [
  /\b(select|insert into|update|delete from)\b[^"]{0,80}\b(from|where|values|set|returning)\b/i,
  /(relation|column|constraint|function) \\?"\w+/i,
  /row-level security|syntax error at or near|invocation in|prisma\./i,
  /\n\s*at |\\n\s*at |\bat (async )?\w[\w.]* \(/,
  /node_modules|node:internal|\.[cm]?[jt]s:\d+/,
  // An internal error of the Model Context Protocol, and what zod finds.
  /-32603|"code\\?": ?\\?"invalid_/,
  /unexpected error|"INTERNAL"|INTERNAL:|LIMIT_EXCEEDED: requests/,
];

function expectCalm(sent: string, status: number, answer: string): void {
  expect(status, answer).toBeLessThan(500);
  for (const telltale of telltales) {
    const [found] = telltale.exec(answer) ?? [];
    if (found !== undefined && !sent.includes(found))
      throw new Error(`the answer tells ${JSON.stringify(found)}:\n${answer}`);
  }
}

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function post(path: string, body: string): Promise<void> {
  return send(testApp.app, new Request(`http://localhost${path}`, { method: 'POST', headers, body }), body);
}

async function send(app: App, request: Request, body: string): Promise<void> {
  const response = await app.fetch(request);
  const isFeed = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  expectCalm(body, response.status, isFeed ? await readBeginning(response) : await response.text());
}

/** Of a feed, whose end never comes. */
async function readBeginning({ body }: Response): Promise<string> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

/** Ours to say no, and nobody else's. */
function refusesCalmly(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    expect(error.message).not.toMatch(/node_modules|\n\s*at /);
  }
}

describe(`of ${inputs} inputs by the seed ${seed},`, () => {
  it('broken GraphQL bodies are refused, and what is inside stays inside', async () => {
    await fc.assert(
      fc.asyncProperty(brokenGraphqlBodies, (body) => post('/graphql', body)),
      options('broken GraphQL bodies'),
    );
  });

  it('broken parameters of a GET are refused, and what is inside stays inside', async () => {
    const get = (parameters: string): Request => new Request(`http://localhost/graphql?${parameters}`, { headers });
    await fc.assert(
      fc.asyncProperty(graphqlParameters, (parameters) =>
        send(testApp.app, get(parameters), decodeURIComponent(parameters.replaceAll('+', ' '))),
      ),
      options('parameters of a GET'),
    );
  });

  it('GraphQL requests are answered or refused in words of ours', async () => {
    const property = fc.asyncProperty(graphqlRequests, (body) => post('/graphql', JSON.stringify(body)));
    await fc.assert(property, options('GraphQL requests'));
    const mostlyRight = fc.asyncProperty(oneWrongValue, (body) => post('/graphql', JSON.stringify(body)));
    await fc.assert(mostlyRight, options('GraphQL requests with one wrong value'));
    // From here on the caches are full.
    heapAtFirst = usedHeapBytes();
  });

  it('broken MCP bodies are refused, and what is inside stays inside', async () => {
    await fc.assert(
      fc.asyncProperty(brokenMcpBodies, (body) => post('/mcp', body)),
      options('broken MCP bodies'),
    );
  });

  it('MCP calls are answered or refused in words of ours', async () => {
    await fc.assert(
      fc.asyncProperty(mcpCalls, (call) => post('/mcp', JSON.stringify(call))),
      options('MCP calls'),
    );
  });

  it('claims of a token let its bearer in or are refused', async () => {
    const [issuer, audience] = ['https://login.example', 'butler-memory'];
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    const keyFile = join(directory, 'issuer.pem');
    await writeFile(keyFile, await exportSPKI(publicKey));
    const { core } = testApp;
    const jwt = { ...core.config.auth.jwt, issuer, audience, keyFile, algorithm: 'ES256' as const };
    const app = createApp({
      ...core,
      config: { ...core.config, auth: { ...core.config.auth, mode: 'required', jwt } },
    });
    const body = JSON.stringify({ query: '{ facts(first: 1) { totalCount } accesses(first: 1) { totalCount } }' });
    const property = fc.asyncProperty(jwtClaims, fc.option(texts, { nil: undefined }), async (claims, tenant) => {
      const signed = new SignJWT({ ...claims, iss: issuer, aud: audience });
      const token = await signed.setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
      const named = tenant === undefined ? {} : { 'x-butler-tenant': encodeURIComponent(tenant.toWellFormed()) };
      const sent = { ...headers, ...named, authorization: `Bearer ${token}` };
      await send(
        app,
        new Request('http://localhost/graphql', { method: 'POST', headers: sent, body }),
        JSON.stringify(claims),
      );
    });
    await fc.assert(property, options('claims of a token'));
    await app.stop();
  });

  it('files of configuration are read or refused with the key that is wrong', async () => {
    const whole = await readFile('butler.toml', 'utf8');
    const lines = whole.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const file = join(directory, 'butler.toml');
    const some = fc
      .array(fc.constantFrom(...lines), { maxLength: 12 })
      .map((chosen) => ['[butler]', ...chosen].join('\n'));
    const values = fc
      .tuple(fc.constantFrom(...lines.filter((line) => line.includes('='))), jsonValues)
      .map(([line, value]) => `[butler]\n${line.replace(/=.*/, `= ${JSON.stringify(value)}`)}`);
    const property = fc.property(fc.oneof(broken(some), some, values, texts), (text) => {
      writeFileSync(file, text);
      refusesCalmly(() => loadConfig({ env: {}, workingDirectory: directory, homeDirectory: '/nowhere' }));
    });
    fc.assert(property, options('files of configuration'));
    await writeFile(file, '');
  });

  it('search expressions are read', () => {
    const property = fc.property(fc.oneof(expressions, texts), fc.boolean(), (text, isExpression) => {
      refusesCalmly(() => {
        const { exclusions, phrases } = readQuery(text, { field: 'query', isExpression });
        expect(exclusions.length + phrases.length).toBeLessThanOrEqual(text.length);
      });
    });
    fc.assert(property, options('search expressions, read'));
  });

  it('search expressions find something or nothing', async () => {
    const { memory } = testApp.app.createContext();
    const property = fc.asyncProperty(fc.oneof(expressions, texts), async (query) => {
      const found = await searchMemories(memory, { query, mode: 'keyword' }).catch((error: unknown) => {
        if (!(error instanceof MemoryError)) throw error;
        return { results: [] };
      });
      expect(found.results.length).toBeLessThanOrEqual(10_000);
    });
    await fc.assert(property, options('search expressions, searched'));
  });

  it('texts are read and shown whole, on one line', () => {
    const day = new Date('2026-03-01T12:00:00.000Z');
    const redactor = createRedactor({ config: testConfig(), principal: { tenantId: 'default' } });
    const property = fc.property(texts, fc.dictionary(texts, jsonValues, { maxKeys: 3 }), (text, metadata) => {
      refusesCalmly(() => expect(normaliseContent(redactor, 'content', text).isWellFormed()).toBe(true));
      refusesCalmly(() => expect(normaliseName('name', text)).not.toMatch(/[\n\r]/));
      refusesCalmly(() => normaliseMetadata(redactor, 'metadata', metadata as never));
      expect(inertText(text)).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
      expect(JSON.parse(dataLine({ text }))).toEqual({ text });
      expect(Array.isArray(readEpisode(text, day))).toBe(true);
    });
    fc.assert(property, options('texts, read and shown'));
  });

  it('long documents, each another, are not kept', async () => {
    const before = usedHeapBytes();
    for (let number = 0; number < 150; number += 1) {
      const fields = Array.from({ length: 1600 }, (_, place) => `a${number}_${place}: __typename`).join(' ');
      await post('/graphql', JSON.stringify({ query: `{ ${fields} ${number % 2 === 0 ? '}' : ''}` }));
    }
    expect((usedHeapBytes() - before) / 2 ** 20).toBeLessThan(60);
  });

  it('none leaves an episode that stops consolidation', async () => {
    const { memory } = testApp.app.createContext();
    await storeEpisode(memory, { butler: 'zoe', content: 'The last of all butlers said: I like tea.' });
    // Failed ones are tried again after a while: until nothing is due at last.
    for (let round = 0; round < 8; round++) {
      await sweepConsolidation(memory, { dryRun: false });
      testApp.clock.now = new Date(testApp.clock.now.getTime() + 6 * 3_600_000);
    }
    const { episode } = testApp.core.db.forTenant('default').client;
    expect(await episode.count({ where: { consolidationStatus: 'pending', forgottenAt: null } })).toBe(0);
    expect(await episode.findFirst({ where: { butler: 'zoe' } })).toMatchObject({
      consolidationStatus: 'consolidated',
    });
  });

  it('none leaves a row that differs from its events', () => expectNoDifference(testApp.core));

  it('none leaves memory behind', () => {
    const growthMebibytes = (usedHeapBytes() - heapAtFirst) / 2 ** 20;
    expect(growthMebibytes, `from ${Math.round(heapAtFirst / 2 ** 20)} MiB`).toBeLessThan(48);
  });
});
