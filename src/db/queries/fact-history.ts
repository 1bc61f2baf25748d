import { Prisma } from '../../generated/prisma/client.ts';
import type { Transaction } from '../database.ts';
import { statedColumns, type LockedKey, type StatedFact } from './facts.ts';

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

/** The last moment for which fact `f` is known to have held when it was said; `chainMoment` in the domain says the same. */
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
