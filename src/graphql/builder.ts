import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import { JSONObjectResolver, UUIDResolver } from 'graphql-scalars';
import { validate as isUuid } from 'uuid';
import { invalidInput } from '../shared/errors.ts';
import type PrismaTypes from '../generated/pothos-types.ts';
import { getDatamodel } from '../generated/pothos-types.ts';
import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import type { GraphQLContext } from './context.ts';
import { dateTime } from './date-time.ts';
import { tellAllowed } from './input-refusals.ts';

/** The whole policy of the API in one place; the types are defined beside their fields in types/. */
export const builder = new SchemaBuilder<{
  Context: GraphQLContext;
  DefaultFieldNullability: false;
  DefaultEdgesNullability: { list: false; items: false };
  DefaultNodeNullability: false;
  PrismaTypes: PrismaTypes;
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    JSONObject: { Input: Prisma.InputJsonObject; Output: unknown };
    UUID: { Input: string; Output: string };
  };
}>({
  plugins: [RelayPlugin, PrismaPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  relay: {
    // Readable on purpose: a person who sees "episode:0198…" in a log can look it up.
    encodeGlobalID: (typeName, id) => `${typeName.charAt(0).toLowerCase()}${typeName.slice(1)}:${id}`,
    decodeGlobalID: (globalId) => decodeGlobalId(globalId),
    nodeTypeOptions: { description: 'An object with a global id.' },
    idFieldOptions: { description: 'Global id: the type, a colon and the UUID.' },
    nodeQueryOptions: {
      description: 'An object by its global id; null if it does not exist.',
      args: { id: { description: 'Global id, such as "episode:" and a UUID.' } },
    },
    nodesQueryOptions: {
      description: 'Several by their global ids, in the order asked for; null where one is not there.',
      args: { ids: { description: 'Global ids.' } },
    },
    pageInfoTypeOptions: { description: 'Where a page lies among the others.' },
    pageInfoFieldOptions: { description: 'Where the page lies among the others.' },
    hasNextPageFieldOptions: { description: 'Whether there is more after this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there is more before this page.' },
    startCursorFieldOptions: { description: 'Cursor of the first one on this page.' },
    endCursorFieldOptions: { description: 'Cursor of the last one on this page.' },
    cursorFieldOptions: { description: 'Cursor of the item, for `after` and `before`.' },
    nodeFieldOptions: { description: 'The item.', nullable: false },
    edgesFieldOptions: { description: 'The page, in order.', nullable: { list: false, items: false } },
    firstArgOptions: { description: 'How many from the start.' },
    lastArgOptions: { description: 'How many from the end.' },
    afterArgOptions: { description: 'Only what comes after this cursor.' },
    beforeArgOptions: { description: 'Only what comes before this cursor.' },
  },
  prisma: {
    client: ({ memory }) => memory.db.client as unknown as PrismaClient,
    dmmf: getDatamodel(),
    onUnusedQuery: 'error',
  },
  complexity: { limit: { complexity: 2000, depth: 15, breadth: 500 }, defaultComplexity: 1, defaultListMultiplier: 10 },
});

/** For documents, beside the limits of what they ask for: no honest one has so many. */
export const documentTokenLimit = 5000;

/** Refuses what is none. */
export function decodeGlobalId(globalId: string): { typename: string; id: string } {
  const [typeName = '', id = '', ...rest] = globalId.split(':');
  if (typeName === '' || !isUuid(id) || rest.length > 0) {
    throw invalidInput('id', 'a global id such as "episode:" and a UUID', globalId);
  }
  return { typename: typeName.charAt(0).toUpperCase() + typeName.slice(1), id };
}

const time = 'a day or time of the years 1901 to 9999 in ISO 8601, such as "2026-01-31" or "2026-01-31T12:00:00Z"';
builder.addScalarType('DateTime', tellAllowed(dateTime, time));
builder.addScalarType('JSONObject', JSONObjectResolver);
builder.addScalarType('UUID', tellAllowed(UUIDResolver, 'a UUID'));

builder.queryType({ description: 'Reads. None of them changes a memory.' });
builder.mutationType({ description: 'Writes. Each commits whole or not at all, with its event.' });
builder.subscriptionType({ description: 'Feeds, over server-sent events and over graphql-ws.' });
