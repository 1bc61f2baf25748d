import { Prisma, type RuleApplication } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';

/** Locks rules until the transaction ends, always in the order of their ids: another order deadlocks. */
export async function lockRules(transaction: Transaction, ids: readonly string[]): Promise<void> {
  await transaction.$queryRaw`
    SELECT 1 AS locked FROM rules WHERE tenant_id = ${transaction.tenantId} AND id = ANY (${ids}::uuid[])
    ORDER BY id FOR UPDATE`;
}

/** Locks texts of rules until the transaction ends, so that one scope gets no two rules with the same words. */
export async function lockRuleTexts(
  transaction: Transaction,
  rules: readonly { scope: string; content: string }[],
): Promise<void> {
  await transaction.$queryRaw`
    SELECT pg_advisory_xact_lock(hash)::text FROM (
      SELECT DISTINCT hashtextextended(jsonb_build_array(${transaction.tenantId}::text, scope, lower(content))::text, 2) AS hash
      FROM unnest(${rules.map(({ scope }) => scope)}::text[], ${rules.map(({ content }) => content)}::text[])
        AS r (scope, content)
      ORDER BY hash OFFSET 0
    ) hashes`;
}

/** Whether event `e` of a rule forgot it: a rule keeps no time of that itself. */
const isForgetting = Prisma.sql`(e.payload->'after'->>'validity' = 'retracted'
  AND e.payload->'before'->>'validity' IS DISTINCT FROM 'retracted')`;

/** When rule `r` was last forgotten, as its events say. */
const forgottenMoment = Prisma.sql`(
  SELECT e.occurred_at FROM memory_events e
  WHERE e.tenant_id = r.tenant_id AND e.entity_type = 'rule' AND e.entity_id = r.id::text AND ${isForgetting}
  ORDER BY e.sequence DESC LIMIT 1)`;

export interface SameRule {
  id: string;
  content: string;
  validity: string;
  maturity: string;
  askedByUserAt: Date | null;
  forgottenAt: Date | null;
}

/** Lists rules of a scope with the same words, or that had them before they became a warning; and warnings for all. */
export async function listSameRules(
  client: TenantClient,
  { scope, content }: { scope: string; content: string },
): Promise<SameRule[]> {
  return client.$queryRaw<SameRule[]>`
    SELECT r.id::text AS id, r.content, r.validity, r.maturity, r.asked_by_user_at AS "askedByUserAt",
      CASE WHEN r.validity = 'retracted' THEN ${forgottenMoment} END AS "forgottenAt"
    FROM rules r
    WHERE r.tenant_id = ${client.tenantId} AND (r.scope = ${scope} OR r.scope = 'global' AND r.maturity = 'anti_pattern')
      AND lower(coalesce(r.original_content, r.content)) = lower(${content})
    ORDER BY r.created_at, r.id`;
}

/** Lists when rules were last forgotten, up to a moment if one is given. */
export async function listForgottenMoments(
  client: TenantClient,
  ids: readonly string[],
  at: Date | null,
): Promise<{ id: string; forgottenAt: Date }[]> {
  return client.$queryRaw`
    SELECT DISTINCT ON (e.entity_id) e.entity_id AS id, e.occurred_at AS "forgottenAt" FROM memory_events e
    WHERE e.tenant_id = ${client.tenantId} AND e.entity_type = 'rule' AND e.entity_id = ANY (${ids}::text[])
      AND (${at}::timestamptz IS NULL OR e.occurred_at <= ${at}::timestamptz) AND ${isForgetting}
    ORDER BY e.entity_id, e.sequence DESC`;
}

/** Lists the applications of rules that count, newest first, at most `limit` of each rule. */
export async function listApplications(
  client: TenantClient,
  ruleIds: readonly string[],
  limit: number,
): Promise<RuleApplication[]> {
  const found = await client.$queryRaw<{ id: string }[]>`
    SELECT id::text FROM (
      SELECT id, rule_id, row_number() OVER (PARTITION BY rule_id ORDER BY applied_at DESC, id DESC) AS rank
      FROM rule_applications
      WHERE tenant_id = ${client.tenantId} AND rule_id = ANY (${ruleIds}::uuid[]) AND retired_by_event_id IS NULL
    ) ranked
    WHERE rank <= ${limit}`;
  const where = { tenantId: client.tenantId, id: { in: found.map(({ id }) => id) } };
  return client.ruleApplication.findMany({ where, orderBy: [{ appliedAt: 'desc' }, { id: 'desc' }] });
}

/** Lists live rules of the scope of a rule by cosine distance, of vectors that one model made. */
export async function listNearRules(
  client: TenantClient,
  id: string,
  { within, limit }: { within: number; limit: number },
): Promise<string[]> {
  const near = await client.$queryRaw<{ id: string }[]>`
    SELECT id FROM (
      SELECT o.id::text AS id, CASE
          WHEN o.embedding_version_id = n.embedding_version_id THEN o.embedding <=> n.embedding
          WHEN o.alternate_embedding_version_id = n.alternate_embedding_version_id
            THEN o.alternate_embedding <=> n.alternate_embedding
        END AS distance
      FROM rules n JOIN rules o ON o.tenant_id = n.tenant_id AND o.scope = n.scope AND o.id <> n.id
      WHERE n.tenant_id = ${client.tenantId} AND n.id = ${id}::uuid AND o.validity IN ('active', 'fading')
        AND o.disabled_at IS NULL AND o.maturity <> 'anti_pattern'
    ) others
    WHERE distance <= ${within}::float8 ORDER BY distance, id LIMIT ${limit}`;
  return near.map((row) => row.id);
}

/** Finds the rule whose place a rule took. */
export async function findSupersededRule(client: TenantClient, id: string): Promise<string | null> {
  const { tenantId } = client;
  const where = { tenantId, sourceType: 'rule', sourceId: id, targetType: 'rule', relation: 'supersedes' };
  const newest = { createdAt: 'desc' } as const;
  const link = await client.memoryLink.findFirst({ where, orderBy: newest, select: { targetId: true } });
  return link?.targetId ?? null;
}
