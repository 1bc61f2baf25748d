import { v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Config } from '../../../src/config/schema.ts';
import type { Extraction } from '../../../src/lifecycle/consolidation/engine.ts';
import { createLlmEngine } from '../../../src/lifecycle/consolidation/engines/llm.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import {
  anthropicMessage,
  completion,
  cutOff,
  endlessAnswer,
  json,
  silence,
  startModelServer,
  status,
  type ModelServer,
} from '../../support/model-server.ts';
import { claimOf, consolidationConfig, failureOf, neverAborted } from './setup.ts';

let core: TestCore;
let server: ModelServer;
beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());
// A server of its own for each test: a process remembers of a server how it went before.
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(() => server.close());

const apiKey = 'sk-test-0123456789';
const output = { new_facts: [], new_rules: [] };
const episodes = ['Anna said that she moved to Lisbon', 'The user likes tea'];

function settings(llm: Partial<Config['memory']['consolidation']['llm']> = {}): Config {
  return consolidationConfig({
    engine: 'llm',
    llm: { baseUrl: server.baseUrl, model: 'scripted', apiKey, timeoutSeconds: 20, ...llm },
  });
}

const contextOf = (config: Config): MemoryContext => ({ ...core.context({ role: 'admin' }), config });

function extract(config = settings(), signal = neverAborted, contents = episodes): Promise<Extraction> {
  return createLlmEngine(config).extract(contextOf(config), claimOf(contents), signal);
}

const findObstacle = async (config: Config): Promise<string | null> =>
  (await createLlmEngine(config).findObstacle?.(contextOf(config))) ?? null;

describe('a good answer', () => {
  it('comes back with the model, its tokens and the episodes that it is about', async () => {
    server.script(completion(output));
    const claim = claimOf(episodes);
    const config = settings();
    const extraction = await createLlmEngine(config).extract(contextOf(config), claim, neverAborted);
    expect(extraction).toEqual({
      output: JSON.stringify(output),
      episodeIds: claim.episodes.map(({ id }) => id),
      tooLong: [],
      model: 'scripted',
      inputTokens: 1200,
      outputTokens: 340,
    });
  });

  it('is asked for with the prompt, the key, the bound of the answer and no randomness', async () => {
    server.script(completion(output));
    await extract(settings({ maxOutputTokens: 777 }));
    const [request] = server.requests;
    expect(request?.path).toBe('/v1/chat/completions');
    expect(request?.headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(request?.body).toMatchObject({
      model: 'scripted',
      max_tokens: 777,
      temperature: 0,
      response_format: { type: 'json_object' },
    });
    expect(request?.body).not.toHaveProperty('stream', true);
    expect(request?.prompt).toContain('she moved to Lisbon');
    expect(server.requests).toHaveLength(1);
  });

  it('may be held to the schema, or to nothing, as configured', async () => {
    server.script(completion(output), completion(output));
    await extract(settings({ structuredOutput: 'schema' }));
    await extract(settings({ structuredOutput: 'text' }));
    const [bySchema, byNothing] = server.requests.map(({ body }) => body.response_format);
    expect(bySchema).toMatchObject({
      type: 'json_schema',
      json_schema: { strict: false, schema: { properties: { new_facts: {}, links: {} } } },
    });
    expect(byNothing).toBeUndefined();
  });

  it('needs no key where the server asks for none', async () => {
    const config = settings();
    const { apiKey: _, ...llm } = config.memory.consolidation.llm;
    const keyless = { ...config, memory: { ...config.memory, consolidation: { ...config.memory.consolidation, llm } } };
    server.script(completion(output));
    await extract(keyless);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it.each([
    ['left out', null],
    ['negative', { prompt_tokens: -5, completion_tokens: -1 }],
    ['absurd', { prompt_tokens: 1e300, completion_tokens: 0.5 }],
  ])('has its tokens estimated when they are %s', async (_, usage) => {
    server.script(completion(output, { usage }));
    const { inputTokens, outputTokens } = await extract();
    expect(inputTokens).toBeGreaterThan(500);
    expect(inputTokens).toBeLessThan(3000);
    expect(outputTokens).toBeGreaterThan(1);
    expect(outputTokens).toBeLessThan(1000);
  });

  it('is not asked for when no episode fits into a prompt', async () => {
    const claim = claimOf(['many words '.repeat(1800)]);
    const base = settings();
    const { consolidation } = base.memory;
    const config = { ...base, memory: { ...base.memory, consolidation: { ...consolidation, maxPromptTokens: 2500 } } };
    const extraction = await createLlmEngine(config).extract(contextOf(config), claim, neverAborted);
    expect(extraction).toMatchObject({ episodeIds: [], tooLong: [claim.episodes[0]?.id] });
    expect(server.requests).toEqual([]);
  });
});

describe('a bad answer', () => {
  it.each(['', '   ', 'Sorry, I cannot help with that.', '{"new_facts": [', 'null'])(
    'that is text, such as %j, is handed on for the executor to judge',
    async (text) => {
      server.script(completion(text));
      expect(await extract()).toMatchObject({ output: text, inputTokens: 1200 });
    },
  );

  it.each([
    ['not JSON', json(200, 'hello')],
    ['a JSON of another kind', json(200, { hello: 'world' })],
    ['an error in the guise of a success', json(200, { error: { message: 'SECRET-OF-THE-SERVER' } })],
    ['empty', (response) => void response.writeHead(200).end()],
  ] satisfies [string, Parameters<ModelServer['script']>[0]][])(
    'that is %s is a failure to retry',
    async (_, answer) => {
      server.script(answer);
      const error = await failureOf(extract());
      expect(error).toMatchObject({ retryable: true, isUnavailable: false, usage: { outputTokens: 4000 } });
      expect(error.message).toBe("the model's server answered something that is no answer of a model");
      expect(error.cause).toBeUndefined();
    },
  );

  it('that never ends is not read to its end', async () => {
    server.script(endlessAnswer);
    const error = await failureOf(extract());
    expect(error.message).toMatch(/longer than 4194304 bytes/);
    expect(error).toMatchObject({ retryable: true, isUnavailable: false });
  });

  it('that breaks off is a failure to retry', async () => {
    server.script(cutOff);
    const error = await failureOf(extract());
    expect(error).toMatchObject({ message: "the model's answer broke off", retryable: true, isUnavailable: false });
  });

  it('that was cut at its bound says which setting that is', async () => {
    server.script(completion('{"new_facts": [', { finishReason: 'length' }));
    const error = await failureOf(extract());
    expect(error.message).toBe("the model's answer was cut at 4000 tokens (max_output_tokens)");
    expect(error).toMatchObject({ retryable: true, usage: { inputTokens: 1200, outputTokens: 340 } });
  });

  it('that does not come in time is given up, at the cost of what it may have cost', async () => {
    server.script(silence);
    const error = await failureOf(extract(settings({ timeoutSeconds: 1 })));
    expect(error.message).toBe('the model did not answer within 1 s (timeout_seconds)');
    expect(error).toMatchObject({ retryable: true, isUnavailable: false, usage: { outputTokens: 4000 } });
  });

  it('is not waited for when the run ends', async () => {
    const controller = new AbortController();
    server.script(() => controller.abort());
    const error = await failureOf(extract(settings(), controller.signal));
    expect(error.message).toBe('the request was given up, as the run ended');
  });
});

describe('a server that refuses', () => {
  it('for a while is left alone for as long as it asks', async () => {
    server.script(status(429, { 'retry-after': '120' }));
    const config = settings();
    const error = await failureOf(extract(config));
    expect(error).toMatchObject({ retryable: true, isUnavailable: false, retryAfterMs: 120_000 });
    expect(error.message).toBe("the model's server answered 429");
    expect(await findObstacle(config)).toMatch(/left alone until 2026-03-01T12:02:00.000Z/);
    const obstacleLater = await core.onDay(0.01, () => findObstacle(config));
    expect(obstacleLater).toBeNull();
  });

  it.each([
    ['a date', 'Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['a date in the past', 'Sun, 01 Mar 2026 11:00:00 GMT', 60_000],
    ['nonsense', 'soon', 60_000],
    ['nothing', undefined, 60_000],
    ['longer than anyone waits', '999999999', 3_600_000],
  ])('and names %s is left alone for a time that makes sense', async (_, header, retryAfterMs) => {
    server.script(status(503, header === undefined ? {} : { 'retry-after': header }));
    expect(await failureOf(extract())).toMatchObject({ retryable: true, isUnavailable: false, retryAfterMs });
  });

  it.each([500, 502, 529])('with %i is tried again later', async (code) => {
    server.script(status(code));
    expect(await failureOf(extract())).toMatchObject({ retryable: true, isUnavailable: false, usage: undefined });
  });

  it.each([401, 403, 404, 400, 422, 302])(
    'with %i before it ever answered is set up wrongly, which is not the fault of the episodes',
    async (code) => {
      server.script(status(code, {}, { type: 'invalid_request_error', code: 'invalid_api_key' }));
      const error = await failureOf(extract());
      expect(error).toMatchObject({ retryable: true, isUnavailable: true, usage: undefined });
      expect(error.message).toBe(`the model's server answered ${code}, invalid_request_error, invalid_api_key`);
    },
  );

  it('a text that it finds bad, after it took others, has something against that text', async () => {
    server.script(completion(output), status(400), status(401));
    await extract();
    expect(await failureOf(extract())).toMatchObject({ retryable: true, isUnavailable: false });
    expect(await failureOf(extract())).toMatchObject({ isUnavailable: true });
  });

  it('a text that it finds bad, after it took others before this process was started, as well', async () => {
    const data = {
      tenantId: 'default',
      id: uuidv7(),
      butler: 'health',
      engine: 'llm',
      status: 'succeeded',
      worker: 'w',
    };
    const startedAt = new Date('2026-01-01T00:00:00.000Z');
    await core.db.forTenant('default').client.consolidationRun.create({ data: { ...data, model: 'known', startedAt } });
    server.script(status(400), status(400));
    expect(await failureOf(extract(settings({ model: 'unknown' })))).toMatchObject({ isUnavailable: true });
    expect(await failureOf(extract(settings({ model: 'known' })))).toMatchObject({ isUnavailable: false });
  });

  it('as nobody has paid is set up wrongly, whatever status it gives that', async () => {
    server.script(status(429, {}, { code: 'insufficient_quota' }));
    expect(await failureOf(extract())).toMatchObject({ retryable: true, isUnavailable: true });
  });

  it('never gets its words, the prompt or the key into the message', async () => {
    for (const code of [400, 401, 429, 500]) {
      server.script(status(code, {}, { type: `Anna said ${apiKey}`, code: 'UPPER words' }));
      const error = await failureOf(extract());
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toMatch(/SECRET|Anna|Lisbon|sk-test/);
      expect(error.cause).toBeUndefined();
    }
  });

  it('a connection is not there, which is not the fault of the episodes', async () => {
    const config = settings();
    await server.close();
    const error = await failureOf(extract(config));
    server = await startModelServer();
    expect(error).toMatchObject({ retryable: true, isUnavailable: true });
    expect(error.message).toBe("the model's server could not be reached (ECONNREFUSED)");
  });

  it.each([
    ['breaks', (response) => void response.destroy(), false],
    ['is to a port that fetch refuses', null, true],
  ] satisfies [string, Parameters<ModelServer['script']>[0] | null, boolean][])(
    'a connection, which %s',
    async (_, answer, isUnavailable) => {
      if (answer !== null) server.script(answer);
      const config = answer === null ? settings({ baseUrl: 'http://127.0.0.1:9/v1' }) : settings();
      expect(await failureOf(extract(config))).toMatchObject({ retryable: true, isUnavailable });
    },
  );

  it('a request and sends it elsewhere is not followed', async () => {
    const other = await startModelServer();
    other.script(completion(output));
    server.script((response) => void response.writeHead(307, { location: `${other.baseUrl}/chat/completions` }).end());
    const error = await failureOf(extract());
    const { requests } = other;
    await other.close();
    expect(error).toMatchObject({ isUnavailable: true, message: "the model's server answered 307" });
    expect(requests).toEqual([]);
  });
});

describe("Anthropic's protocol", () => {
  const anthropic = (model: string): Config => settings({ provider: 'anthropic', model });

  it('gives the same, through the tool that the answer is asked for by', async () => {
    server.script(anthropicMessage(output));
    const extraction = await extract(anthropic('claude-3-haiku-20240307'));
    expect(JSON.parse(extraction.output as string)).toEqual(output);
    expect(extraction).toMatchObject({ model: 'claude-3-haiku-20240307', inputTokens: 900, outputTokens: 210 });
    const [request] = server.requests;
    expect(request?.path).toBe('/v1/messages');
    expect(request?.headers['x-api-key']).toBe(apiKey);
    expect(request?.body).toMatchObject({ tool_choice: { type: 'any' }, tools: [{ name: 'json' }], max_tokens: 4000 });
    expect(request?.prompt).toContain('she moved to Lisbon');
  });

  it('holds a model that knows how to a schema in which nothing is left out', async () => {
    server.script(anthropicMessage(JSON.stringify(output)));
    await extract(anthropic('claude-sonnet-4-5'));
    expect(server.requests[0]?.body).toMatchObject({
      output_config: {
        format: { type: 'json_schema', schema: { required: expect.arrayContaining(['new_facts', 'links']) } },
      },
    });
  });

  it('gives the same as text', async () => {
    server.script(anthropicMessage(JSON.stringify(output)));
    expect(await extract(settings({ provider: 'anthropic', structuredOutput: 'text' }))).toMatchObject({
      output: JSON.stringify(output),
      inputTokens: 900,
    });
  });

  it('takes no key and no address from variables that are meant for others', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-of-somebody-else');
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:9/v1');
    const config = settings({ provider: 'anthropic' });
    const { apiKey: _, ...llm } = config.memory.consolidation.llm;
    const keyless = { ...config, memory: { ...config.memory, consolidation: { ...config.memory.consolidation, llm } } };
    const error = await failureOf(extract(keyless));
    const obstacle = await findObstacle(keyless);
    vi.unstubAllEnvs();
    expect(error).toMatchObject({ isUnavailable: true, message: 'BUTLER_MEMORY_LLM_API_KEY is not set' });
    expect(obstacle).toBe('BUTLER_MEMORY_LLM_API_KEY is not set');
    expect(server.requests).toEqual([]);
  });

  it('has failures of the same kinds', async () => {
    server.script(
      json(401, { type: 'error', error: { type: 'authentication_error', message: 'SECRET' } }),
      json(529, { type: 'error', error: { type: 'overloaded_error', message: 'SECRET' } }),
    );
    const wrongKey = await failureOf(extract(anthropic('claude-3-haiku-20240307')));
    const overloaded = await failureOf(extract(anthropic('claude-3-haiku-20240307')));
    expect(wrongKey.message).toBe("the model's server answered 401, authentication_error");
    expect(wrongKey.isUnavailable).toBe(true);
    expect(overloaded).toMatchObject({ isUnavailable: false, retryAfterMs: 60_000 });
  });
});

describe('the cost of a day', () => {
  const priced = (maxCostPerDayUsd: number): Config =>
    settings({ inputCostPerMillion: 10, outputCostPerMillion: 100, maxCostPerDayUsd });

  async function keepRun(values: {
    tenantId: string;
    startedAt: Date;
    status: string;
    tokens: [number, number] | null;
  }) {
    const { tenantId, startedAt, status: runStatus, tokens } = values;
    const id = uuidv7();
    await core.db.forTenant(tenantId).client.consolidationRun.create({
      data: {
        tenantId,
        id,
        butler: 'health',
        engine: 'llm',
        status: runStatus,
        worker: 'w',
        startedAt,
        ...(tokens !== null && { inputTokens: tokens[0], outputTokens: tokens[1] }),
      },
    });
    return id;
  }

  it('counts the runs of every tenant since midnight, and those of which the cost is not known at their most', async () => {
    const today = new Date('2026-03-01T00:00:00.000Z');
    const yesterday = new Date('2026-02-28T23:59:59.999Z');
    await keepRun({ tenantId: 'default', startedAt: today, status: 'succeeded', tokens: [100_000, 0] });
    await keepRun({ tenantId: 'other', startedAt: today, status: 'failed', tokens: [0, 10_000] });
    await keepRun({ tenantId: 'other', startedAt: today, status: 'failed', tokens: null });
    await keepRun({ tenantId: 'default', startedAt: yesterday, status: 'succeeded', tokens: [10_000_000, 0] });
    // A request of the largest size: 16,000 tokens at $10 and 4000 at $100, which is $0.56; spent are $1 and $1.
    expect(await findObstacle(priced(2.57))).toBeNull();
    expect(await findObstacle(priced(2.55))).toBe(
      "the day's limit is reached: max_cost_per_day_usd is $2.55, $2 are spent, and one more request may cost $0.56",
    );
    await keepRun({ tenantId: 'other', startedAt: today, status: 'running', tokens: null });
    expect(await findObstacle(priced(3.11))).toMatch(/\$2\.56 are spent/);
    expect(await findObstacle(priced(3.13))).toBeNull();
  });

  it('is looked at again before the request, which is then not made and is no fault of the episodes', async () => {
    const error = await failureOf(extract(priced(0.1)));
    expect(error).toMatchObject({ retryable: true, isUnavailable: true });
    expect(error.message).toMatch(/^the day's limit is reached/);
    expect(server.requests).toEqual([]);
  });

  it('does not count the run that asks', async () => {
    const config = priced(3.1);
    const claim = claimOf(episodes);
    const { tenantId } = contextOf(config).principal;
    const data = { tenantId, id: claim.runId, butler: 'health', engine: 'llm', status: 'running', worker: 'w' };
    await core.db.forTenant(tenantId).client.consolidationRun.create({ data: { ...data, startedAt: core.start } });
    server.script(completion(output));
    await createLlmEngine(config).extract(contextOf(config), claim, neverAborted);
    expect(server.requests).toHaveLength(1);
  });
});
