import { Prisma } from '../../generated/prisma/client.ts';
import { pageOfDue } from './page-of-due.ts';
import { isLeased } from './past-episodes.ts';

export interface ExtensionQuery {
  tenantId: string;
  at: Date;
  minReferences: number;
  /** Stored at this moment or before. */
  notAfter: Date;
  /** By which the expiry is put off. */
  seconds: number;
}

/** The next episodes by id that were referenced often enough to be kept for longer, and were not yet. */
export function findExtensions(query: ExtensionQuery, after: string, limit: number): Prisma.Sql {
  return pageOfDue(Prisma.sql`
    SELECT m.id, 'extended' AS outcome FROM episodes m
    WHERE m.tenant_id = ${query.tenantId} AND m.id > ${after}::uuid AND ${isDue(query)} ORDER BY m.id LIMIT ${limit}`);
}

/** The change of a row `m`, for `changeMemories`. */
export function extensionChange(query: ExtensionQuery): Record<'due' | 'set' | 'eventType', Prisma.Sql> {
  return {
    due: isDue(query),
    set: Prisma.sql`expires_at = m.expires_at + make_interval(secs => ${query.seconds}::float8)`,
    eventType: Prisma.raw(`'episode.extended'::text`),
  };
}

/** Once, as its events tell: also one whose extension was undone has had it. */
function isDue(query: ExtensionQuery): Prisma.Sql {
  const { tenantId, at, minReferences, notAfter } = query;
  return Prisma.sql`(m.reference_count >= ${minReferences} AND m.created_at <= ${notAfter}::timestamptz
    AND m.expires_at > ${at}::timestamptz AND m.forgotten_at IS NULL AND NOT ${isLeased(query)}
    AND NOT EXISTS (
      SELECT FROM memory_events e WHERE e.tenant_id = ${tenantId} AND e.entity_type = 'episode'
        AND e.entity_id = m.id::text AND e.event_type = 'episode.extended'))`;
}
