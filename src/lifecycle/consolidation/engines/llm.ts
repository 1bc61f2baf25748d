import { z } from 'zod';
import type { Config } from '../../../config/schema.ts';
import type { MemoryContext } from '../../../memory/context.ts';
import type { Claim } from '../claim.ts';
import { EngineError, type ConsolidationEngine, type Extraction } from '../engine.ts';
import type { Usage } from '../run.ts';
import { outputSchema } from '../output.ts';
import { buildPrompt, type ConsolidationPrompt } from '../prompt.ts';
import { findCostObstacle, type ModelSettings } from '../spending.ts';
import { createModelFetch } from './model-fetch.ts';
import { modelServerAt } from './model-server.ts';

const anthropicUrl = 'https://api.anthropic.com/v1';

/** Asks a model over HTTP. The queue of episodes is what tries again: one claim is one request. */
export function createLlmEngine(config: Config): ConsolidationEngine {
  const { llm, maxPromptTokens } = config.memory.consolidation;
  const baseUrl = llm.baseUrl ?? anthropicUrl;
  return {
    name: 'llm',
    findObstacle: async (context) =>
      findMissingSetting(llm) ??
      modelServerAt(baseUrl).findObstacle(context.now()) ??
      (await findCostObstacle(context, { input: maxPromptTokens, output: llm.maxOutputTokens }, null)),
    extract: async (context, claim, signal) => {
      const prompt = await buildPrompt(context, claim);
      const { episodeIds, tooLong } = prompt;
      if (episodeIds.length === 0) return { output: { new_facts: [] }, episodeIds, tooLong };
      await requireMeans(context, claim, prompt);
      await takeTurn(baseUrl, llm, signal);
      const { text, usage } = await ask(context, { baseUrl, llm, prompt, signal });
      return { output: text, episodeIds, tooLong, ...usage } satisfies Extraction;
    },
  };
}

/** What the configuration cannot check by itself, as the key may come from the environment. */
function findMissingSetting({ provider, model, baseUrl, apiKey }: ModelSettings): string | null {
  if (model === undefined) return 'butler.memory.consolidation.llm.model is not set';
  if (provider === 'anthropic' && apiKey === undefined) return 'BUTLER_MEMORY_LLM_API_KEY is not set';
  return provider === 'openai-compatible' && baseUrl === undefined
    ? 'butler.memory.consolidation.llm.base_url is not set'
    : null;
}

async function requireMeans(context: MemoryContext, claim: Claim, { tokens }: ConsolidationPrompt): Promise<void> {
  const { llm } = context.config.memory.consolidation;
  const next = { input: tokens, output: llm.maxOutputTokens };
  const obstacle = findMissingSetting(llm) ?? (await findCostObstacle(context, next, claim.runId));
  if (obstacle !== null) throw new EngineError(obstacle, { retryable: true, isUnavailable: true });
}

async function takeTurn(baseUrl: string, { requestsPerMinute }: ModelSettings, signal: AbortSignal): Promise<void> {
  await modelServerAt(baseUrl)
    .takeTurn(requestsPerMinute, signal)
    .catch(() => {
      throw new EngineError('the run ended before the model was asked', { retryable: true });
    });
}

interface Question {
  baseUrl: string;
  llm: ModelSettings;
  prompt: ConsolidationPrompt;
  signal: AbortSignal;
}

async function ask(context: MemoryContext, question: Question): Promise<{ text: string; usage: Usage }> {
  const { baseUrl, llm, prompt, signal } = question;
  const server = modelServerAt(baseUrl);
  server.hasAnswered ||= await hasAnsweredBefore(context, llm);
  const usageIfLost = { model: llm.model, inputTokens: prompt.tokens, outputTokens: llm.maxOutputTokens };
  const { timeoutSeconds } = llm;
  let failure: unknown;
  const guardedFetch = createModelFetch({ server, baseUrl, timeoutSeconds, signal, usageIfLost, now: context.now });
  const recordingFetch: typeof fetch = (...request) =>
    guardedFetch(...request).catch((error: unknown) => {
      failure = error;
      throw error;
    });
  const model = await createModel(llm, baseUrl, recordingFetch);
  // Whatever the SDK makes of a failure holds the prompt: it is left behind.
  const answer = await Promise.resolve(model.doGenerate(callOptions(question))).catch(() => {
    if (failure instanceof EngineError) throw failure;
    const message = "the model's server answered something that is no answer of a model";
    throw new EngineError(message, { retryable: true, usage: usageIfLost });
  });
  server.hasAnswered = true;
  const text = answer.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const usage = usageOf(llm, prompt, text, answer.usage);
  requireWhole(answer.finishReason.unified, llm, usage);
  return { text, usage };
}

/** Also before this process was started: else the first text that it refuses would hold up all the others for ever. */
async function hasAnsweredBefore({ db, principal }: MemoryContext, { model = '' }: ModelSettings): Promise<boolean> {
  const { tenantId } = principal;
  const where = { tenantId, engine: 'llm', status: 'succeeded', model };
  return (await db.client.consolidationRun.findFirst({ where, select: { id: true } })) !== null;
}

type Model = Awaited<ReturnType<typeof createModel>>;
type CallOptions = Parameters<Model['doGenerate']>[0];
type Answer = Awaited<ReturnType<Model['doGenerate']>>;

/**
 * The providers alone, without the functions of the SDK around them: those write warnings to standard output, which is the
 * protocol of `mcp`, and report to registered telemetry.
 */
async function createModel(
  { provider, model = '', apiKey, structuredOutput }: ModelSettings,
  baseURL: string,
  guardedFetch: typeof fetch,
  // oxlint-disable-next-line typescript/explicit-function-return-type -- the type is what the SDK calls a model
) {
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL, apiKey: apiKey ?? '', fetch: guardedFetch })(model);
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return createOpenAICompatible({
    name: 'model',
    baseURL,
    ...(apiKey !== undefined && { apiKey }),
    fetch: guardedFetch,
    supportsStructuredOutputs: structuredOutput === 'schema',
    transformRequestBody: (body) => (isOpenAi(baseURL) ? renameTokenLimit(body) : body),
  })(model);
}

function isOpenAi(baseUrl: string): boolean {
  return new URL(baseUrl).hostname === 'api.openai.com';
}

/** OpenAI's newer models refuse the old name; other servers may not know the new one. */
function renameTokenLimit({ max_tokens: limit, ...body }: Record<string, unknown>): Record<string, unknown> {
  return { ...body, max_completion_tokens: limit };
}

function callOptions({ llm, prompt, signal }: Question): CallOptions {
  return {
    prompt: [
      { role: 'system', content: prompt.system },
      { role: 'user', content: [{ type: 'text', text: prompt.user }] },
    ],
    maxOutputTokens: llm.maxOutputTokens,
    temperature: llm.temperature,
    responseFormat: responseFormat(llm),
    // Some of its constraints are unknown to strict servers. What breaks them is refused item by item.
    providerOptions: { model: { strictJsonSchema: false } },
    abortSignal: AbortSignal.any([signal, AbortSignal.timeout(llm.timeoutSeconds * 1000)]),
  };
}

type ResponseFormat = NonNullable<CallOptions['responseFormat']>;

function responseFormat({ provider, structuredOutput }: ModelSettings): ResponseFormat {
  const form = structuredOutput ?? (provider === 'anthropic' ? 'schema' : 'json');
  switch (form) {
    case 'schema':
      return { type: 'json', name: 'consolidation', schema: schemaForModels() };
    case 'json':
      return { type: 'json' };
    case 'text':
      return { type: 'text' };
  }
}

type Schema = NonNullable<Extract<ResponseFormat, { type: 'json' }>['schema']>;

/** Makes optional properties required and nullable: servers that enforce a schema want every property to be there. */
function schemaForModels(): Schema {
  return z.toJSONSchema(outputSchema, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.properties !== undefined) jsonSchema.required = Object.keys(jsonSchema.properties);
    },
  }) as Schema;
}

/** As the server says, where that is a number that can be; else estimated, and rather too high. */
function usageOf(
  llm: ModelSettings,
  prompt: ConsolidationPrompt,
  text: string,
  { inputTokens, outputTokens }: Answer['usage'],
): Usage {
  const charactersPerToken = 2;
  return {
    model: llm.model,
    inputTokens: credible(inputTokens.total) ?? prompt.tokens,
    outputTokens:
      credible(outputTokens.total) ?? Math.min(llm.maxOutputTokens, Math.ceil(text.length / charactersPerToken)),
  };
}

function credible(tokens: number | undefined): number | null {
  return tokens !== undefined && Number.isInteger(tokens) && tokens >= 0 && tokens <= 100_000_000 ? tokens : null;
}

function requireWhole(reason: Answer['finishReason']['unified'], llm: ModelSettings, usage: Usage): void {
  if (reason === 'length') {
    const message = `the model's answer was cut at ${llm.maxOutputTokens} tokens (max_output_tokens)`;
    throw new EngineError(message, { retryable: true, usage });
  }
  if (reason === 'content-filter') {
    throw new EngineError("the server's filter of contents stopped the answer", { retryable: true, usage });
  }
}
