import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { describe } from 'vitest';
import { MemoryError } from '../../src/errors.ts';
import { getEpisode, storeEpisode, type Episode, type StoreEpisodeInput } from '../../src/memory/episodes.ts';
import { graphql } from '../generated/index.ts';
import type { TestApp } from '../support/app.ts';

/** An episode as every door tells it. */
export interface EpisodeView {
  id: string;
  butler: string;
  sessionId: string | null;
  content: string;
  importance: number;
  consolidationStatus: string;
  consolidated: boolean;
  createdAt: string;
  expiresAt: string;
  metadata: unknown;
}

/** The operations that behaviours are stated in. A door that fails throws a DoorError. */
export interface Door {
  storeEpisode(input: StoreEpisodeInput): Promise<EpisodeView>;
  getEpisode(id: string): Promise<EpisodeView>;
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
  const context = (): ReturnType<typeof app.createContext>['memory'] => app.createContext().memory;
  return {
    storeEpisode: async (input) => storeEpisode(context(), input).then(viewOf, asDoorError),
    getEpisode: async (id) => getEpisode(context(), id).then(viewOf, asDoorError),
    close: async () => undefined,
  };
}

function viewOf(episode: Episode): EpisodeView {
  const { id, butler, sessionId, content, importance, consolidationStatus, consolidated, metadata } = episode;
  const createdAt = episode.createdAt.toISOString();
  const expiresAt = episode.expiresAt.toISOString();
  return {
    id,
    butler,
    sessionId,
    content,
    importance,
    consolidationStatus,
    consolidated,
    createdAt,
    expiresAt,
    metadata,
  };
}

function asDoorError(error: unknown): never {
  if (error instanceof MemoryError) throw new DoorError(error.code, error.message);
  throw error;
}

const storeDocument = graphql(/* GraphQL */ `
  mutation ContractStoreEpisode($input: StoreEpisodeInput!) {
    storeEpisode(input: $input) {
      id: uuid
      butler
      sessionId
      content
      importance
      consolidationStatus
      consolidated
      createdAt
      expiresAt
      metadata
    }
  }
`);

const getDocument = graphql(/* GraphQL */ `
  query ContractEpisode($id: String!) {
    episode(id: $id) {
      id: uuid
      butler
      sessionId
      content
      importance
      consolidationStatus
      consolidated
      createdAt
      expiresAt
      metadata
    }
  }
`);

async function openGraphQLDoor({ app }: TestApp): Promise<Door> {
  return {
    storeEpisode: async (input) => (await request(app, storeDocument, { input: input as never })).storeEpisode,
    getEpisode: async (id) => (await request(app, getDocument, { id })).episode,
    close: async () => undefined,
  };
}

interface GraphQLAnswer<Result> {
  data?: Result;
  errors?: { message: string; extensions: { code: string } }[];
}

async function request<Result, Variables>(
  app: TestApp['app'],
  document: TypedDocumentNode<Result, Variables>,
  variables: Variables,
): Promise<Result> {
  const response = await app.fetch(
    new Request('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: print(document), variables }),
    }),
  );
  const { data, errors } = (await response.json()) as GraphQLAnswer<Result>;
  if (errors?.[0] !== undefined) throw new DoorError(errors[0].extensions.code, errors[0].message);
  return data as Result;
}

async function openMcpDoor({ app }: TestApp): Promise<Door> {
  const client = new Client({ name: 'contract', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    fetch: (url, init) => app.fetch(new Request(url, init)),
  });
  await client.connect(transport);
  const call = async (name: string, given: Record<string, unknown>): Promise<EpisodeView> => {
    const answer = await client.callTool({ name, arguments: given });
    const [text] = answer.content as { text: string }[];
    if (answer.isError === true) throw fromToolText(text?.text ?? '');
    return toCamel(answer.structuredContent as Record<string, unknown>) as unknown as EpisodeView;
  };
  return {
    storeEpisode: ({ sessionId, ...rest }) =>
      call('memory_store_episode', { ...rest, ...(sessionId === undefined ? {} : { session_id: sessionId }) }),
    getEpisode: (id) => call('memory_get_episode', { id }),
    close: () => client.close(),
  };
}

function fromToolText(text: string): DoorError {
  const [code = '', ...message] = text.split(': ');
  return new DoorError(code, message.join(': '));
}

function toCamel(result: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(result).map(([name, value]) => [
      name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
