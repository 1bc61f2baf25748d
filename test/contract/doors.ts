import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { describe } from 'vitest';
import { MemoryError } from '../../src/errors.ts';
import { effectiveConfidence } from '../../src/memory/confidence.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { storeEpisode, type StoreEpisodeInput } from '../../src/memory/episodes.ts';
import { storeFact, type StoreFactInput } from '../../src/memory/facts.ts';
import { generationOf, type Generational } from '../../src/memory/generation.ts';
import type { MemoryReference } from '../../src/memory/links.ts';
import {
  confirmMemory,
  forgetMemory,
  getMemory,
  memoryTypeOf,
  restoreMemory,
  type MemoryRow,
} from '../../src/memory/memories.ts';
import { markRule, storeRule, type MarkRuleInput, type StoreRuleInput } from '../../src/memory/rules.ts';
import { toSnakeCase } from '../../src/names.ts';
import type { TestApp } from '../support/app.ts';
import * as documents from './documents.ts';

/** A memory as a door tells it: times as text, names in camel case. */
export type View = Record<string, unknown> & { id: string };

/** The operations that behaviours are stated in. A door that refuses throws a DoorError. */
export interface Door {
  readonly name: string;
  storeEpisode(input: StoreEpisodeInput): Promise<View>;
  storeFact(input: StoreFactInput): Promise<View>;
  storeRule(input: StoreRuleInput): Promise<View>;
  markRule(input: MarkRuleInput): Promise<View>;
  getMemory(reference: MemoryReference): Promise<View>;
  confirmMemory(reference: MemoryReference): Promise<View>;
  forgetMemory(reference: MemoryReference): Promise<View>;
  restoreMemory(reference: MemoryReference): Promise<View>;
  close(): Promise<void>;
}

export class DoorError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const doors: Record<string, (app: TestApp) => Promise<Door>> = {
  core: openCoreDoor,
  GraphQL: openGraphQLDoor,
  MCP: openMcpDoor,
};

/** States a behaviour once and holds every door to it. */
export function throughEveryDoor(state: (open: (app: TestApp) => Promise<Door>) => void): void {
  for (const [name, open] of Object.entries(doors)) describe(`through ${name}`, () => state(open));
}

async function openCoreDoor({ app }: TestApp): Promise<Door> {
  const ask = async (work: (context: MemoryContext) => Promise<MemoryRow>): Promise<View> => {
    const context = app.createContext().memory;
    return work(context).then((row) => viewOf(row, context), asDoorError);
  };
  return {
    name: 'core',
    storeEpisode: (input) => ask((context) => storeEpisode(context, input)),
    storeFact: (input) => ask((context) => storeFact(context, input)),
    storeRule: (input) => ask((context) => storeRule(context, input)),
    markRule: (input) => ask((context) => markRule(context, input)),
    getMemory: (reference) => ask(async (context) => (await getMemory(context, reference)).row),
    confirmMemory: (reference) => ask(async (context) => (await confirmMemory(context, reference)).row),
    forgetMemory: (reference) => ask(async (context) => (await forgetMemory(context, reference)).row),
    restoreMemory: (reference) => ask(async (context) => (await restoreMemory(context, reference)).row),
    close: async () => undefined,
  };
}

function viewOf(row: MemoryRow, context: MemoryContext): View {
  const type = memoryTypeOf(row);
  const derived = 'decayRate' in row ? { effectiveConfidence: effectiveConfidence(row, context.now()) } : {};
  const generation = generationOf({ ...row, type } as Generational);
  return JSON.parse(JSON.stringify({ ...row, ...derived, type, generation })) as View;
}

function asDoorError(error: unknown): never {
  if (error instanceof MemoryError) throw new DoorError(error.code, error.message);
  throw error;
}

async function openGraphQLDoor({ app }: TestApp): Promise<Door> {
  const ask = async <Variables>(
    document: TypedDocumentNode<unknown, Variables>,
    variables: Variables,
  ): Promise<View> => {
    const [result] = Object.values(await request(app, document, variables));
    if (result === null || result === undefined) throw new DoorError('NOT_FOUND', 'null');
    if ('code' in result) throw new DoorError(result['code'] as string, result['message'] as string);
    return 'value' in result ? (result['value'] as View) : result;
  };
  const marks = { helpful: documents.markHelpful, harmful: documents.markHarmful };
  return {
    name: 'GraphQL',
    storeEpisode: (input) => ask(documents.storeEpisode, { input: input as never }),
    storeFact: (input) => ask(documents.storeFact, { input: input as never }),
    storeRule: (input) => ask(documents.storeRule, { input: input as never }),
    markRule: ({ outcome, ...input }) => ask(marks[outcome], { input: input as never }),
    getMemory: (reference) => ask(documents.getMemory, reference),
    confirmMemory: (input) => ask(documents.confirmMemory, { input }),
    forgetMemory: (input) => ask(documents.forgetMemory, { input }),
    restoreMemory: (input) => ask(documents.restoreMemory, { input }),
    close: async () => undefined,
  };
}

interface GraphQLAnswer {
  data?: Record<string, View | null>;
  errors?: { message: string; extensions: { code: string } }[];
}

async function request<Variables>(
  app: TestApp['app'],
  document: TypedDocumentNode<unknown, Variables>,
  variables: Variables,
): Promise<Record<string, View | null>> {
  const response = await app.fetch(
    new Request('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: print(document), variables }),
    }),
  );
  const { data, errors } = (await response.json()) as GraphQLAnswer;
  if (errors?.[0] !== undefined) throw new DoorError(errors[0].extensions.code, errors[0].message);
  return data ?? {};
}

async function openMcpDoor({ app }: TestApp): Promise<Door> {
  const client = new Client({ name: 'contract', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: (url, init) => app.fetch(new Request(url, init)),
  });
  await client.connect(transport);
  const call = async (name: string, given: object): Promise<View> => {
    const answer = await client.callTool({ name, arguments: toSnake(given) });
    const [text] = answer.content as { text: string }[];
    if (answer.isError === true) throw fromToolText(text?.text ?? '');
    return toCamel(answer.structuredContent as Record<string, unknown>) as View;
  };
  return {
    name: 'MCP',
    storeEpisode: (input) => call('memory_store_episode', input),
    storeFact: (input) => call('memory_store_fact', input),
    storeRule: (input) => call('memory_store_rule', input),
    markRule: ({ outcome, ...input }) => call(`memory_mark_${outcome}`, input),
    getMemory: (reference) => call('memory_get', reference),
    confirmMemory: (reference) => call('memory_confirm', reference),
    forgetMemory: (reference) => call('memory_forget', reference),
    restoreMemory: (reference) => call('memory_restore', reference),
    close: () => client.close(),
  };
}

function fromToolText(text: string): DoorError {
  const [code = '', ...message] = text.split(': ');
  return new DoorError(code, message.join(': '));
}

function toSnake(given: object): Record<string, unknown> {
  return renameKeys(given, toSnakeCase);
}

function toCamel(given: object): Record<string, unknown> {
  return renameKeys(given, (name) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()));
}

function renameKeys(given: object, rename: (name: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [rename(name), value as unknown]));
}
