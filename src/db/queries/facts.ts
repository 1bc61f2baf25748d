import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient, Transaction } from '../database.ts';
import type { StoredFact } from '../stored-fact.ts';

/*
 * A file of src/db/queries/ holds the statements about one noun. Each is a function that runs its statement and returns
 * typed rows: the row type stands beside the SQL that fills it, and callers see neither SQL nor `$queryRaw`.
 *
 * - The first argument is a `TenantClient`, which a `Transaction` also is. It carries the tenant: no function asks for
 *   a tenantId, and `client.tenantId` is what statements compare `tenant_id` with.
 * - What takes a lock asks for a `Transaction`, so that a lock outside a transaction does not compile.
 * - Verbs first: `find…` may return null, `list…` returns several, `lock…` locks, `insert…`, `update…` and `delete…` write.
 * - Fragments that several statements share (conditions, columns) are functions that return `Prisma.Sql`, in src/db/sql/.
 */

export interface FactKey {
  scope: string;
  subject: string;
  predicateKey: string;
}

/** A key in the form in which the database compares it. */
export interface LockedKey {
  scope: string;
  subjectKey: string;
  predicateKey: string;
}

/**
 * Locks fact keys until the transaction ends, given by their parts or by the facts that have them. A row lock would not
 * do: there may be no row yet. Always in the order of their hashes: writers that lock several in different orders
 * deadlock, so nothing else may lock a key. Two keys with one hash merely wait for each other.
 */
export async function lockFactKeys(
  transaction: Transaction,
  { keys = [], factIds = [] }: { keys?: readonly FactKey[]; factIds?: readonly string[] },
): Promise<LockedKey[]> {
  const { tenantId } = transaction;
  const column = (name: keyof FactKey): Prisma.Sql => Prisma.sql`${keys.map((key) => key[name])}::text[]`;
  return transaction.$queryRaw<LockedKey[]>`
    SELECT pg_advisory_xact_lock(hash)::text, scope, subject_key AS "subjectKey", predicate_key AS "predicateKey" FROM (
      SELECT scope, subject_key, predicate_key,
        hashtextextended(jsonb_build_array(${tenantId}::text, scope, subject_key, predicate_key)::text, 0) AS hash
      FROM (
        SELECT scope, memory_key(subject) AS subject_key, predicate_key
        FROM unnest(${column('scope')}, ${column('subject')}, ${column('predicateKey')}) AS k (scope, subject, predicate_key)
        UNION
        SELECT f.scope, f.subject_key, f.predicate_key FROM facts f
        WHERE f.tenant_id = ${tenantId} AND f.id = ANY (${factIds}::uuid[])
      ) keys
      ORDER BY hash OFFSET 0
    ) hashes`;
}

/** Lists the live state facts of a key, also those that are set aside. Only of a locked one: of another, they might be gone before the answer is here. */
export async function listLiveFacts(
  transaction: Transaction,
  { scope, subjectKey, predicateKey }: LockedKey,
): Promise<StoredFact[]> {
  const { tenantId } = transaction;
  const validity = { in: ['active', 'fading'] };
  return transaction.fact.findMany({
    where: { tenantId, scope, subjectKey, predicateKey, kind: 'state', validity },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
}

/** As much of a fact as it takes to know what it says. */
export type StatedFact = Pick<StoredFact, 'id' | 'content' | 'sealedContent' | 'dataKeyId'>;

/** The columns of a `StatedFact` of the table `facts f`. */
const statedColumns = Prisma.sql`
  f.id::text AS id, f.content, f.sealed_content AS "sealedContent", f.data_key_id::text AS "dataKeyId"`;

/** Lists live facts of the same key in other scopes that say, or, where sealed, may say, something else. */
export async function listContradicting(
  client: TenantClient,
  { scope, subject, predicateKey }: FactKey,
  content: string,
  limit: number,
): Promise<StatedFact[]> {
  return client.$queryRaw<StatedFact[]>`
    SELECT ${statedColumns} FROM facts f
    WHERE f.tenant_id = ${client.tenantId} AND f.subject_key = memory_key(${subject})
      AND f.predicate_key = ${predicateKey} AND f.scope <> ${scope} AND f.kind = 'state'
      AND f.validity IN ('active', 'fading') AND NOT f.set_aside AND (f.content <> ${content} OR f.data_key_id IS NOT NULL)
    ORDER BY f.created_at DESC, f.id LIMIT ${limit}`;
}

/** A locked key, with the value where its predicate holds several. */
export interface ValuedKey extends LockedKey {
  valueKey: string;
}

/** A fact of a chain of supersession, as far as another can be put before or after it. */
export interface ChainedFact {
  id: string;
  validity: string;
  supersedesId: string | null;
  observedAt: Date | null;
  validFrom: Date | null;
  validTo: Date | null;
  createdAt: Date;
  lastConfirmedAt: Date | null;
}

/** The last moment for which fact `f` is known to have held when it was said; `findMoment` in the domain says the same. */
const chainMoment = Prisma.sql`least(coalesce(f.valid_to, 'infinity'),
  greatest(coalesce(f.last_confirmed_at, f.created_at), coalesce(f.valid_from, '-infinity')))`;

/** Finds the facts of a locked key between which something that was said at a moment belongs. Upcoming ones do not count. */
export async function findNeighbours(
  transaction: Transaction,
  key: ValuedKey,
  { moment, now }: { moment: Date; now: Date },
): Promise<{ before: ChainedFact | null; after: ChainedFact | null }> {
  const find = async (condition: Prisma.Sql, direction: Prisma.Sql): Promise<ChainedFact | null> => {
    const [found] = await transaction.$queryRaw<ChainedFact[]>`
      SELECT f.id::text AS id, f.validity, f.supersedes_id::text AS "supersedesId", f.observed_at AS "observedAt",
        f.valid_from AS "validFrom", f.valid_to AS "validTo", f.created_at AS "createdAt",
        f.last_confirmed_at AS "lastConfirmedAt"
      FROM facts f
      WHERE ${isOfKey(transaction, key)} AND f.validity IN ('active', 'fading', 'superseded')
        AND (f.valid_from IS NULL OR f.valid_from <= ${now}::timestamptz)
        AND ${chainMoment} ${condition} ${moment}::timestamptz
      ORDER BY ${chainMoment} ${direction}, f.created_at ${direction}, f.id ${direction} LIMIT 1`;
    return found ?? null;
  };
  return {
    before: await find(Prisma.sql`<=`, Prisma.sql`DESC`),
    after: await find(Prisma.sql`>`, Prisma.sql`ASC`),
  };
}

/** Lists facts of a locked key that are history, and were known to hold at the moment or come from the episode. */
export async function listSameHistory(
  transaction: Transaction,
  key: ValuedKey,
  { said, sourceEpisodeId }: { said: Date; sourceEpisodeId: string | null },
): Promise<StatedFact[]> {
  return transaction.$queryRaw<StatedFact[]>`
    SELECT ${statedColumns} FROM facts f
    WHERE ${isOfKey(transaction, key)} AND f.validity IN ('superseded', 'expired')
      AND (${said}::timestamptz BETWEEN coalesce(f.observed_at, f.created_at) AND coalesce(f.last_confirmed_at, f.created_at)
        OR f.source_episode_id = ${sourceEpisodeId}::uuid)
    ORDER BY f.created_at, f.id LIMIT 100`;
}

function isOfKey({ tenantId }: Transaction, { scope, subjectKey, predicateKey, valueKey }: ValuedKey): Prisma.Sql {
  return Prisma.sql`f.tenant_id = ${tenantId} AND f.scope = ${scope} AND f.subject_key = ${subjectKey}
    AND f.predicate_key = ${predicateKey} AND f.value_key = ${valueKey} AND f.kind = 'state'`;
}

export interface FactStatement {
  scope: string;
  subject: string;
  predicateKey: string;
  /** Null where it must not reach the database: then every fact of the key may say the same. */
  content: string | null;
}

/** Finds live events of a moment that may say the same. Sealed ones have to be opened to tell. */
export async function listSameEvents(
  transaction: Transaction,
  { scope, subject, predicateKey, content }: FactStatement,
  observedAt: Date | null,
): Promise<StatedFact[]> {
  return transaction.$queryRaw`
    SELECT ${statedColumns} FROM facts f
    WHERE f.tenant_id = ${transaction.tenantId} AND f.scope = ${scope} AND f.subject_key = memory_key(${subject})
      AND f.predicate_key = ${predicateKey} AND ${mayContain(Prisma.sql`${content}::text`)}
      AND f.kind = 'event' AND f.validity IN ('active', 'fading')
      AND f.observed_at IS NOT DISTINCT FROM ${observedAt}::timestamptz
    ORDER BY f.created_at, f.id LIMIT 100`;
}

/** Finds facts that may say the same as one of the statements, and were retracted after its moment, with its index. */
export async function listRetracted(
  transaction: Transaction,
  statements: readonly (FactStatement & { after: Date })[],
): Promise<(StatedFact & { index: number })[]> {
  if (statements.length === 0) return [];
  const { tenantId } = transaction;
  return transaction.$queryRaw`
    SELECT f.*, (given.place - 1)::int AS index
    FROM unnest(${statements.map(({ scope }) => scope)}::text[], ${statements.map(({ subject }) => subject)}::text[],
      ${statements.map(({ predicateKey }) => predicateKey)}::text[], ${statements.map(({ content }) => content)}::text[],
      ${statements.map(({ after }) => after.toISOString())}::timestamptz[])
      WITH ORDINALITY AS given (scope, subject, predicate_key, content, after, place)
    CROSS JOIN LATERAL (
      SELECT ${statedColumns} FROM facts f
      WHERE f.tenant_id = ${tenantId} AND f.scope = given.scope AND f.subject_key = memory_key(given.subject)
        AND f.predicate_key = given.predicate_key AND ${mayContain(Prisma.sql`given.content`)}
        AND f.validity = 'retracted' AND EXISTS (
          SELECT FROM memory_events e
          WHERE e.tenant_id = f.tenant_id AND e.entity_type = 'fact' AND e.entity_id = f.id::text
            AND e.event_type = 'fact.retracted' AND e.occurred_at >= given.after)
      ORDER BY f.created_at DESC, f.id LIMIT 100
    ) f`;
}

function mayContain(content: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`(f.data_key_id IS NOT NULL OR f.content = coalesce(${content}, f.content))`;
}
