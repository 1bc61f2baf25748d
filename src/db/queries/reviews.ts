import { Prisma, type Review } from '../../generated/prisma/client.ts';
import { toSnakeCase } from '../../shared/names.ts';
import type { TenantClient, Transaction } from '../database.ts';

/** A review whose row is locked until the end of the transaction. */
export type LockedReview = Pick<Review, 'id' | 'newerId' | 'olderId' | 'status' | 'outcome'> & {
  /** The row as events keep it. */
  snapshot: Prisma.JsonObject;
};

const lockedColumns = Prisma.sql`
  r.id::text, r.newer_id::text AS "newerId", r.older_id::text AS "olderId", r.status, r.outcome, to_jsonb(r) AS snapshot`;

export interface NewReview {
  id: string;
  kind: string;
  /** The two facts, in any order. */
  factIds: readonly [string, string];
  reason: string;
  likelihood?: number | undefined;
  openedAt: Date;
}

/**
 * Inserts a review of two facts. Returns null if the pair has one, or a fact is not there, or no scope holds both. The
 * newer is the one that was stored later.
 */
export async function insertReview(transaction: Transaction, review: NewReview): Promise<LockedReview | null> {
  const { tenantId } = transaction;
  const [inserted] = await transaction.$queryRaw<LockedReview[]>`
    INSERT INTO reviews AS r (tenant_id, id, kind, scope, newer_id, older_id, reason, likelihood, opened_at)
    SELECT ${tenantId}, ${review.id}::uuid, ${review.kind}, CASE newer.scope WHEN 'global' THEN older.scope ELSE newer.scope END,
      newer.id, older.id, ${review.reason}, ${review.likelihood ?? null}::double precision, ${review.openedAt}::timestamptz
    FROM facts newer JOIN facts older ON older.tenant_id = newer.tenant_id AND (older.created_at, older.id) < (newer.created_at, newer.id)
    WHERE newer.tenant_id = ${tenantId} AND newer.id = ANY (${review.factIds}::uuid[])
      AND older.id = ANY (${review.factIds}::uuid[])
      AND (newer.scope = older.scope OR newer.scope = 'global' OR older.scope = 'global')
    ON CONFLICT (tenant_id, kind, newer_id, older_id) DO NOTHING
    RETURNING ${lockedColumns}`;
  return inserted ?? null;
}

/** Locks a review; null if it is not there. */
export async function lockReview(transaction: Transaction, id: string): Promise<LockedReview | null> {
  const [review] = await transaction.$queryRaw<LockedReview[]>`
    SELECT ${lockedColumns} FROM reviews r
    WHERE r.tenant_id = ${transaction.tenantId} AND r.id = ${id}::uuid FOR UPDATE`;
  return review ?? null;
}

/** Locks the open reviews of a fact, in the order of their ids. */
export async function lockOpenReviewsOf(transaction: Transaction, factId: string): Promise<LockedReview[]> {
  return transaction.$queryRaw<LockedReview[]>`
    SELECT ${lockedColumns} FROM reviews r
    WHERE r.tenant_id = ${transaction.tenantId} AND r.status = 'open'
      AND (r.newer_id = ${factId}::uuid OR r.older_id = ${factId}::uuid)
    ORDER BY r.id FOR UPDATE`;
}

/** Updates columns of a review, and returns its row as events keep it. */
export async function updateReview(
  transaction: Transaction,
  id: string,
  values: Partial<Review>,
): Promise<Prisma.JsonObject> {
  const row = Object.fromEntries(Object.entries(values).map(([name, value]) => [toSnakeCase(name), value]));
  const columns = Object.keys(row).map((name) => Prisma.raw(`"${name}" = given."${name}"`));
  const [updated] = await transaction.$queryRaw<[{ snapshot: Prisma.JsonObject }]>`
    UPDATE reviews AS r SET ${Prisma.join(columns)}
    FROM jsonb_populate_record(NULL::reviews, ${JSON.stringify(row)}::jsonb) AS given
    WHERE r.tenant_id = ${transaction.tenantId} AND r.id = ${id}::uuid
    RETURNING to_jsonb(r) AS snapshot`;
  return updated.snapshot;
}

/** Lists the open reviews in which one of these facts is the older. */
export async function listOpenReviewsOfOlder(
  client: TenantClient,
  factIds: readonly string[],
): Promise<Pick<Review, 'kind' | 'newerId' | 'olderId' | 'likelihood'>[]> {
  return client.review.findMany({
    where: { tenantId: client.tenantId, status: 'open', olderId: { in: [...factIds] } },
    select: { kind: true, newerId: true, olderId: true, likelihood: true },
    orderBy: { id: 'asc' },
  });
}

/** Lists the open reviews that have two of these facts, for reads that say which of them may conflict. */
export async function listOpenReviewsAmong(
  client: TenantClient,
  factIds: readonly string[],
): Promise<Pick<Review, 'id' | 'kind' | 'newerId' | 'olderId'>[]> {
  const ids = { in: [...factIds] };
  return client.review.findMany({
    where: { tenantId: client.tenantId, status: 'open', newerId: ids, olderId: ids },
    select: { id: true, kind: true, newerId: true, olderId: true },
    orderBy: { id: 'asc' },
  });
}
