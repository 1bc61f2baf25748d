import { resolveCursorConnection } from '@pothos/plugin-relay';
import type { MemoryOrder } from '../../db/queries/list-memories.ts';
import type { MemoryType } from '../../db/tables.ts';
import { countList, listMemories, type ListChoice } from '../../memory/lists.ts';
import type { MemoryRow } from '../../memory/memories.ts';
import { builder } from '../builder.ts';
import { asNode } from '../nodes.ts';
import {
  ConsolidationStatusEnum,
  FactKindEnum,
  GenerationEnum,
  MaturityEnum,
  PermanenceEnum,
  ValidityEnum,
} from '../enums.ts';
import { checkPageSize, pageLimit } from '../pages.ts';
import { EpisodeRef } from './episode.ts';
import { FactRef } from './fact.ts';
import { RuleRef } from './rule.ts';

/** The lists of episodes, facts and rules: one filter, one order, pages by position. */

export const MemoryFilterInput = builder.inputType('MemoryFilter', {
  description:
    'Filter of memories. Conditions that are left out do not narrow; a condition that a type cannot meet excludes it.',
  fields: (t) => ({
    scope: t.string({ description: 'Facts and rules of "global" and this scope; episodes of this butler.' }),
    butler: t.string({ description: 'The butler that observed or learned it.' }),
    sessionId: t.string({ description: 'UUID of the session. Episodes only.' }),
    validity: t.field({ type: [ValidityEnum], description: 'Any of these. Default: active and fading.' }),
    consolidationStatus: t.field({ type: [ConsolidationStatusEnum], description: 'Any of these. Episodes only.' }),
    generation: t.field({ type: [GenerationEnum], description: 'Any of these.' }),
    permanence: t.field({ type: [PermanenceEnum], description: 'Any of these. Facts and rules.' }),
    maturity: t.field({ type: [MaturityEnum], description: 'Any of these. Rules only.' }),
    kind: t.field({ type: FactKindEnum, description: 'Facts that last, or points in time.' }),
    subject: t.string({ description: 'The subject of a fact; case, blanks, - and _ do not matter.' }),
    predicate: t.string({ description: 'What a fact says of its subject; case, blanks, - and _ do not matter.' }),
    tags: t.stringList({ description: 'All of these.' }),
    from: t.field({ type: 'DateTime', description: 'Happened (observed, or else stored) at this moment or later.' }),
    to: t.field({ type: 'DateTime', description: 'Happened before this moment, which must be after `from`.' }),
    validAt: t.field({
      type: 'DateTime',
      description: 'Facts that held at this date, past or to come. Default: those that hold now.',
    }),
    minConfidence: t.float({ description: 'Effective confidence of at least this. Facts and rules.' }),
    maxConfidence: t.float({ description: 'Effective confidence below this. Facts and rules.' }),
    minImportance: t.float({ description: 'Importance of at least this.' }),
  }),
});

const MemoryOrderEnum = builder.enumType('MemoryOrderField', {
  description: 'What a list is ordered by.',
  values: {
    createdAt: { description: 'When they were stored.' },
    importance: { description: 'How important they are.' },
    references: { description: 'How often they were asked for.' },
    lastReferencedAt: { description: 'When they were last asked for.' },
    confidence: { description: 'Their effective confidence. Facts and rules.' },
    effectiveness: { description: 'How well they helped. Rules only.' },
  } satisfies Record<MemoryOrder, { description: string }>,
});

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'Which end of a list comes first.',
  values: { ascending: { description: 'The least.' }, descending: { description: 'The most.' } },
});

const MemoryOrderInput = builder.inputType('MemoryOrder', {
  description: 'In which order. Ties are broken by the id, so that the order is total.',
  fields: (t) => ({
    field: t.field({ type: MemoryOrderEnum, required: true, description: 'What to order by.' }),
    direction: t.field({ type: OrderDirection, defaultValue: 'descending', description: 'Which end comes first.' }),
  }),
});

const usualPage = 20;

export const lists = [
  { type: 'episode', name: 'episodes', ref: EpisodeRef, description: 'Episodes that are there, newest first.' },
  {
    type: 'fact',
    name: 'facts',
    ref: FactRef,
    description: 'Facts, live ones unless others are asked for, newest first.',
  },
  {
    type: 'rule',
    name: 'rules',
    ref: RuleRef,
    description: 'Rules, live ones unless others are asked for, newest first.',
  },
] as const;

for (const { type, name, ref, description } of lists) {
  builder.queryField(name, (t) =>
    t.connection(
      {
        type: ref as typeof FactRef,
        description,
        args: {
          filter: t.arg({ type: MemoryFilterInput, description: 'Which are wanted.' }),
          order: t.arg({ type: MemoryOrderInput, description: 'In which order. Default: the newest first.' }),
        },
        resolve: async (_root, { filter, order, ...args }, { memory }) => {
          const choice = toChoice(type, filter, order);
          const cursors = new WeakMap<MemoryRow, string>();
          checkPageSize(args);
          const connection = await resolveCursorConnection(
            {
              args,
              defaultSize: usualPage,
              maxSize: pageLimit,
              toCursor: (row) => cursors.get(row as MemoryRow) ?? '',
            },
            async (page) => {
              const listed = await listMemories(memory, choice, page);
              return listed.map(({ row, cursor }) => {
                const node = asNode(row);
                cursors.set(node, cursor);
                return node;
              });
            },
          );
          return { ...connection, choice } as never;
        },
      },
      {
        name: `${ref.name}Connection`,
        description: `A page of ${name}.`,
        fields: (connection) => ({
          totalCount: connection.int({
            description: 'How many there are on all pages.',
            // A statement of its own, over all that match.
            complexity: 20,
            resolve: (page, _args, { memory }) => countList(memory, (page as unknown as { choice: ListChoice }).choice),
          }),
        }),
      },
      { name: `${ref.name}Edge`, description: `One of the ${name}, and its place.` },
    ),
  );
}

function toChoice(
  type: MemoryType,
  filter: ListChoice['filter'],
  order: { field: MemoryOrder; direction?: 'ascending' | 'descending' | null | undefined } | null | undefined,
): ListChoice {
  return { type, filter, order: order?.field, descending: order?.direction !== 'ascending' };
}
