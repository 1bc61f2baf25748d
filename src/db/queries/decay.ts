import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import { effectiveConfidenceAt } from '../sql/effective-confidence.ts';
import { memoryTables } from '../tables.ts';
import {
  changeMemories,
  findDue,
  readDuePage,
  type Batch,
  type ChangedMemory,
  type DuePage,
} from './change-memories.ts';

export interface DecayQuery {
  type: 'fact' | 'rule';
  at: Date;
  /** Below it a memory fades. */
  retrieval: number;
  /** Below it a memory expires. */
  expiry: number;
  inversion: InversionThresholds;
}

export interface InversionThresholds {
  minHarmful: number;
  maxEffectiveness: number;
}

/** Finds live facts or rules whose validity is not what their effective confidence says. */
export async function findDecayed(
  client: TenantClient,
  query: DecayQuery,
  after: string,
  limit: number,
): Promise<DuePage> {
  const deserved = deservedValidity(query, Prisma.raw('m.effective'));
  return readDuePage(
    client,
    Prisma.sql`
    SELECT m.id, CASE WHEN m.is_swept AND ${isDue(deserved)} THEN ${outcome(deserved)} END AS outcome
    FROM (
      -- Its limit keeps the confidence from being computed once for each place that names it.
      SELECT m.id, m.validity, m.decay_rate, ${isSwept(client.tenantId, query)} AS is_swept,
        ${effectiveConfidenceAt(query.at, 'm')} AS effective
      FROM ${Prisma.raw(memoryTables[query.type])} m
      WHERE m.tenant_id = ${client.tenantId} AND m.id > ${after}::uuid AND m.validity IN ('active', 'fading')
      ORDER BY m.id LIMIT ${limit}
    ) m`,
  );
}

export async function changeDecayed(
  transaction: Transaction,
  query: DecayQuery,
  batch: Batch,
): Promise<ChangedMemory[]> {
  const deserved = deservedValidity(query, effectiveConfidenceAt(query.at, 'm'));
  return changeMemories(transaction, batch, {
    type: query.type,
    due: Prisma.sql`m.validity IN ('active', 'fading') AND ${isSwept(transaction.tenantId, query)} AND ${isDue(deserved)}`,
    set: Prisma.sql`validity = ${deserved}`,
    eventType: Prisma.sql`${query.type} || '.' || ${outcome(deserved)}`,
  });
}

function deservedValidity({ retrieval, expiry }: DecayQuery, confidence: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(CASE WHEN ${confidence} < ${expiry}::float8 THEN 'expired'
    WHEN ${confidence} < ${retrieval}::float8 THEN 'fading' ELSE 'active' END)`;
}

/** A memory that does not decay gets no worse, however low its confidence was set. */
function isDue(deserved: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(${deserved} <> m.validity AND (m.decay_rate > 0 OR ${deserved} = 'active'))`;
}

/** Anti-patterns do not fade, and disabled rules stay as they are. Rules due for inversion are left to the inversion. */
function isSwept(tenantId: string, { type, inversion }: DecayQuery): Prisma.Sql {
  if (type === 'fact') return Prisma.raw('true');
  return Prisma.sql`(m.maturity <> 'anti_pattern' AND m.disabled_at IS NULL
    AND NOT ${isDueForInversion(tenantId, inversion)})`;
}

function outcome(deserved: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(CASE ${deserved} WHEN 'active' THEN 'recovered' ELSE ${deserved} END)`;
}

/** Finds rules that are due for inversion. */
export async function findInversions(
  client: TenantClient,
  thresholds: InversionThresholds,
  after: string,
  limit: number,
): Promise<DuePage> {
  const due = isDueForInversion(client.tenantId, thresholds);
  return findDue(client, { type: 'rule', due, outcome: 'inverted' }, after, limit);
}

/**
 * The condition of `isAntiPattern` for a live rule `m`. A rule that was inverted before has its text back because a person
 * undid that: only a further harmful mark inverts it again.
 */
function isDueForInversion(tenantId: string, thresholds: InversionThresholds): Prisma.Sql {
  return Prisma.sql`(m.maturity <> 'anti_pattern' AND m.validity IN ('active', 'fading')
    AND m.harmful_count >= ${thresholds.minHarmful}
    AND m.success_count / (m.success_count + 4 * m.harmful_count + 0.01::float8) < ${thresholds.maxEffectiveness}::float8
    AND NOT EXISTS (
      SELECT FROM memory_events e WHERE e.tenant_id = ${tenantId} AND e.entity_type = 'rule'
        AND e.entity_id = m.id::text AND e.event_type = 'rule.inverted'))`;
}
