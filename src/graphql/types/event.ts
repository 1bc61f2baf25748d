import type { EntityType } from '../../memory/events.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import { openSnapshot } from '../../encryption/sealing.ts';
import { maskSnapshot } from '../../memory/history/past-hidden.ts';
import { readPayload } from '../../memory/history/snapshots.ts';
import { builder } from '../builder.ts';
import { findMemoryOfEvent } from '../event-memories.ts';
import { findSourceId } from '../loaders.ts';
import { MemoryInterface } from './memory.ts';
import { TextCutType } from './text.ts';

export const EntityTypeEnum = builder.enumType('EntityType', {
  description: 'Kind of the entity that an event changed.',
  values: {
    episode: { description: 'An episode.' },
    fact: { description: 'A fact.' },
    rule: { description: 'A rule.' },
    link: { description: 'A link between two memories.' },
    review: { description: 'An entry of the review list.' },
    quarantined_item: { description: 'An entry of the quarantine.' },
    embedding_version: { description: 'An embedding model as the tenant uses it.' },
    consolidation_run: { description: 'One attempt to turn episodes into facts and rules.' },
    token: { description: 'An access token.' },
    tenant: { description: 'The tenant as a whole.' },
  } satisfies Record<EntityType, { description: string }>,
});

/** Opens sealed content, and hides the source episode of a global memory from callers that may not read it. */
async function tellSnapshot(context: MemoryContext, kept: Snapshot | null): Promise<Snapshot | null> {
  const opened = kept && (await openSnapshot(context, kept));
  const snapshot = opened && (await maskSnapshot(context, opened));
  const id = snapshot?.['source_episode_id'];
  if (typeof id !== 'string') return snapshot;
  return { ...snapshot, source_episode_id: await findSourceId(context, id) };
}

export const MemoryEventRef = builder.prismaNode('MemoryEvent', {
  description: 'The record of one change: who did what to what, when, on which request. Never altered.',
  id: { resolve: ({ id }) => id, description: 'Global id: "memoryEvent:" and the UUID.' },
  nullable: true,
  findUnique: (id, { memory }) => ({ tenantId_id: { tenantId: memory.principal.tenantId, id } }),
  fields: (t) => ({
    uuid: t.expose('id', { type: 'UUID', description: 'The id by which feeds are resumed and events undone.' }),
    eventType: t.exposeString('eventType', { description: 'The event type, such as "fact.stored".' }),
    entityType: t.field({
      type: EntityTypeEnum,
      description: 'Kind of the changed entity.',
      // A check constraint of the table holds the same values as the enum.
      resolve: ({ entityType }) => entityType as EntityType,
    }),
    entityId: t.exposeString('entityId', {
      description: 'Which one: the UUID, or for a link its source, relation and target.',
    }),
    occurredAt: t.expose('occurredAt', { type: 'DateTime', description: 'Time of the operation.' }),
    actor: t.exposeString('actor', { description: 'The actor: a role, with the butler if there is one.' }),
    requestId: t.exposeString('requestId', { description: 'Id of the request that made the change.' }),
    subrequestId: t.exposeString('subrequestId', { nullable: true, description: 'The part of that request.' }),
    segmentId: t.exposeString('segmentId', { nullable: true, description: 'The segment of that part.' }),
    before: t.field({
      type: 'JSONObject',
      nullable: true,
      description: 'What it was done to, as it was before; null if it was not there.',
      resolve: (event, _args, { memory }) => tellSnapshot(memory, readPayload(event).before),
    }),
    after: t.field({
      type: 'JSONObject',
      nullable: true,
      description: 'The entity after the change; null if it was removed.',
      resolve: (event, _args, { memory }) => tellSnapshot(memory, readPayload(event).after),
    }),
    redacted: t.field({
      type: 'JSONObject',
      nullable: true,
      description:
        'How many secrets and personal numbers were taken out of what was given, by kind, such as {"card": 1}; null if none were.',
      resolve: (event) => readPayload(event).redacted,
    }),
    cut: t.field({
      type: [TextCutType],
      description: 'The texts of what was given that were too long to be kept whole; empty if there were none.',
      resolve: (event) => [...readPayload(event).cut],
    }),
    cause: t.relation('cause', {
      nullable: true,
      description: 'The event that it followed from, such as the storing of the fact that superseded another.',
    }),
    consequences: t.relation('consequences', {
      description: 'The events that followed from it, in order.',
      query: { orderBy: { sequence: 'asc' } },
    }),
    reverts: t.relation('reverts', { nullable: true, description: 'The event that it undid.' }),
    revertedBy: t.relation('revertedBy', {
      description: 'The events that undid it, in order.',
      query: { orderBy: { sequence: 'asc' } },
    }),
    memory: t.field({
      type: MemoryInterface,
      nullable: true,
      description: 'The memory that it is about, as it is now; null if it is about something else or is gone.',
      resolve: (event, _args, { memory }) => findMemoryOfEvent(memory, event),
    }),
  }),
});
