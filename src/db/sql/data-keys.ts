import { Prisma } from '../../generated/prisma/client.ts';

export interface StoredKey {
  id: string;
  wrappedKey: Uint8Array;
  masterKeyId: string;
  status: string;
}

/** The key that is sealed under now. Until this transaction ends it cannot be retired: no writer is left behind by a rotation. */
export function lockActiveKey(tenantId: string): Prisma.Sql {
  return Prisma.sql`
    SELECT id::text AS id, wrapped_key AS "wrappedKey", master_key_id AS "masterKeyId", status FROM data_keys
    WHERE tenant_id = ${tenantId} AND status = 'active' FOR SHARE`;
}

/** Which of these predicates match the patterns, in the form of their keys, which the database alone knows exactly. */
export function matchPredicates(predicates: readonly string[], patternSource: string): Prisma.Sql {
  return Prisma.sql`
    SELECT memory_key(predicate) ~ ${patternSource} AS "isMatch"
    FROM unnest(${[...predicates]}::text[]) WITH ORDINALITY AS given(predicate, place) ORDER BY place`;
}

export interface KeysQuery {
  tenantId: string;
  /** Null where nothing is to be sealed that is not. */
  patternSource: string | null;
  /** Null where there is no key yet. */
  activeKeyId: string | null;
}

export interface FactToSeal {
  id: string;
  subject: string;
  predicate: string;
  isSealed: boolean;
}

function isDue({ patternSource, activeKeyId }: KeysQuery): Prisma.Sql {
  const isPlain =
    patternSource === null
      ? Prisma.sql`false`
      : Prisma.sql`f.data_key_id IS NULL AND f.predicate_key ~ ${patternSource}`;
  return Prisma.sql`((f.data_key_id IS NOT NULL AND f.data_key_id IS DISTINCT FROM ${activeKeyId}::uuid) OR (${isPlain}))`;
}

/** Facts that are under another key than the active one, and those that ought to be sealed and are not. */
export function countFactsToSeal(query: KeysQuery): Prisma.Sql {
  return Prisma.sql`
    SELECT (count(*) FILTER (WHERE f.data_key_id IS NOT NULL))::int AS sealed,
      (count(*) FILTER (WHERE f.data_key_id IS NULL))::int AS plain
    FROM facts f WHERE f.tenant_id = ${query.tenantId} AND ${isDue(query)}`;
}

/** The next of them by id, whatever their state: they may come back. */
export function selectFactsToSeal(query: KeysQuery, after: string, limit: number): Prisma.Sql {
  return Prisma.sql`
    SELECT f.id::text AS id, f.subject, f.predicate, f.data_key_id IS NOT NULL AS "isSealed" FROM facts f
    WHERE f.tenant_id = ${query.tenantId} AND f.id > ${after}::uuid AND ${isDue(query)}
    ORDER BY f.id LIMIT ${limit}`;
}

/** Those of them that still are due. A row that somebody holds is left for the next round. */
export function lockFactsToSeal(query: KeysQuery, ids: readonly string[]): Prisma.Sql {
  return Prisma.sql`
    SELECT f.id::text AS id, f.content, f.tags, f.metadata, f.sealed_content AS "sealedContent",
      f.data_key_id::text AS "dataKeyId"
    FROM facts f WHERE f.tenant_id = ${query.tenantId} AND f.id = ANY (${[...ids]}::uuid[]) AND ${isDue(query)}
    ORDER BY f.id FOR UPDATE SKIP LOCKED`;
}

/** What they say stays as it is, and so do their versions: this is no change that anybody has to be told. */
export function writeSealed(
  tenantId: string,
  dataKeyId: string,
  rows: readonly { id: string; sealedContent: Uint8Array }[],
): Prisma.Sql {
  return Prisma.sql`
    UPDATE facts f SET sealed_content = decode(given.sealed, 'hex'), data_key_id = ${dataKeyId}::uuid,
      content = '***', tags = '[]', metadata = '{}'
    FROM unnest(${rows.map(({ id }) => id)}::uuid[],
      ${rows.map(({ sealedContent }) => Buffer.from(sealedContent).toString('hex'))}::text[]) AS given(id, sealed)
    WHERE f.tenant_id = ${tenantId} AND f.id = given.id`;
}
