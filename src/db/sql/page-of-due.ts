import { Prisma } from '../../generated/prisma/client.ts';

/** What a sweep found among the next so many rows that it looked at. */
export interface PageOfDue {
  looked: number;
  /** The last that was looked at: the next page goes on after it. */
  last: string | null;
  ids: string[];
  /** What is to become of each. */
  outcomes: string[];
}

/** Of rows with an id and an outcome, which is null for those that stay as they are. Only ids leave the database. */
export function pageOfDue(looked: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    WITH looked AS MATERIALIZED (${looked})
    SELECT count(*)::int AS looked, (SELECT id::text FROM looked ORDER BY id DESC LIMIT 1) AS last,
      coalesce(array_agg(id::text ORDER BY id) FILTER (WHERE outcome IS NOT NULL), '{}') AS ids,
      coalesce(array_agg(outcome::text ORDER BY id) FILTER (WHERE outcome IS NOT NULL), '{}') AS outcomes
    FROM looked`;
}
