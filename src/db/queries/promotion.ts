import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import {
  changeMemories,
  findDue,
  readDuePage,
  type Batch,
  type ChangedMemory,
  type DuePage,
} from './change-memories.ts';
import { isLeased } from './old-episodes.ts';

export interface PromotionQuery {
  /** References since the fact was stored, or since its last promotion. */
  minReferences: number;
  minSessions: number;
  /** Stored, or last promoted, at this moment or before. */
  notAfter: Date;
  /** The next permanence of each, and its decay rate. */
  steps: readonly { from: string; to: string; decayRate: number }[];
}

/** Finds live facts that have earned the next permanence. */
export async function findPromotions(
  client: TenantClient,
  query: PromotionQuery,
  after: string,
  limit: number,
): Promise<DuePage> {
  return readDuePage(
    client,
    Prisma.sql`
    SELECT m.id, CASE WHEN ${isPromotable(client.tenantId, query)} THEN 'promoted' END AS outcome
    FROM (
      SELECT m.id, m.permanence, m.reference_count, m.reference_sessions, m.created_at FROM facts m
      WHERE m.tenant_id = ${client.tenantId} AND m.id > ${after}::uuid AND m.validity IN ('active', 'fading')
      ORDER BY m.id LIMIT ${limit}
    ) m`,
  );
}

/** Promotes facts. The event keeps the references so far, and the sessions are cleared: the next step needs new ones. */
export async function promoteFacts(
  transaction: Transaction,
  query: PromotionQuery,
  batch: Batch,
): Promise<ChangedMemory[]> {
  const byPermanence = (value: (step: PromotionQuery['steps'][number]) => Prisma.Sql): Prisma.Sql => {
    const cases = query.steps.map((step) => Prisma.sql`WHEN ${step.from} THEN ${value(step)}`);
    return Prisma.sql`CASE m.permanence ${Prisma.join(cases, ' ')} END`;
  };
  return changeMemories(transaction, batch, {
    type: 'fact',
    due: Prisma.sql`m.validity IN ('active', 'fading') AND ${isPromotable(transaction.tenantId, query)}`,
    set: Prisma.sql`permanence = ${byPermanence(({ to }) => Prisma.sql`${to}::text`)},
      decay_rate = ${byPermanence(({ decayRate }) => Prisma.sql`${decayRate}::float8`)}, reference_sessions = '{}'`,
    eventType: Prisma.raw(`'fact.promoted'::text`),
    details: Prisma.raw(`jsonb_build_object('referenceCount', m.reference_count)`),
  });
}

/** An undone promotion counts as well: the same references must not promote the fact again. */
function isPromotable(tenantId: string, { minReferences, minSessions, notAfter, steps }: PromotionQuery): Prisma.Sql {
  const classes = steps.map(({ from }) => from);
  return Prisma.sql`(CASE WHEN m.permanence = ANY (${classes}::text[]) AND m.reference_count >= ${minReferences}
      AND m.created_at <= ${notAfter}::timestamptz AND cardinality(m.reference_sessions) >= ${minSessions} THEN (
    SELECT m.reference_count - coalesce(last.reference_count, 0) >= ${minReferences}
      AND coalesce(last.occurred_at, m.created_at) <= ${notAfter}::timestamptz
    FROM (SELECT) one LEFT JOIN LATERAL (
      SELECT e.occurred_at, (e.payload->>'referenceCount')::int AS reference_count FROM memory_events e
      WHERE e.tenant_id = ${tenantId} AND e.entity_type = 'fact' AND e.entity_id = m.id::text
        AND e.event_type = 'fact.promoted'
      ORDER BY e.sequence DESC LIMIT 1
    ) last ON true
  ) ELSE false END)`;
}

export interface ExtensionQuery {
  at: Date;
  minReferences: number;
  /** Stored at this moment or before. */
  notAfter: Date;
  /** Added to the expiry. */
  seconds: number;
}

/** Finds episodes that were referenced often enough to be kept for longer, and have not been extended yet. */
export async function findExtensions(
  client: TenantClient,
  query: ExtensionQuery,
  after: string,
  limit: number,
): Promise<DuePage> {
  const due = isExtensible(client.tenantId, query);
  return findDue(client, { type: 'episode', due, outcome: 'extended' }, after, limit);
}

export async function extendEpisodes(
  transaction: Transaction,
  query: ExtensionQuery,
  batch: Batch,
): Promise<ChangedMemory[]> {
  return changeMemories(transaction, batch, {
    type: 'episode',
    due: isExtensible(transaction.tenantId, query),
    set: Prisma.sql`expires_at = m.expires_at + make_interval(secs => ${query.seconds}::float8)`,
    eventType: Prisma.raw(`'episode.extended'::text`),
  });
}

/** Once, as the events tell: an episode whose extension was undone is not extended again. */
function isExtensible(tenantId: string, query: ExtensionQuery): Prisma.Sql {
  const { at, minReferences, notAfter } = query;
  return Prisma.sql`(m.reference_count >= ${minReferences} AND m.created_at <= ${notAfter}::timestamptz
    AND m.expires_at > ${at}::timestamptz AND m.forgotten_at IS NULL AND NOT ${isLeased(tenantId, at)}
    AND NOT EXISTS (
      SELECT FROM memory_events e WHERE e.tenant_id = ${tenantId} AND e.entity_type = 'episode'
        AND e.entity_id = m.id::text AND e.event_type = 'episode.extended'))`;
}
