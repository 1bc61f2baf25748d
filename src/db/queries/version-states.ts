import type { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';
import type { MemoryType } from '../tables.ts';

interface VersionReference {
  type: MemoryType;
  id: string;
  version: number;
}

interface VersionState {
  type: MemoryType;
  id: string;
  state: Prisma.JsonObject;
}

/** Reads memories as they were in a version of each: what the event that led to it kept. */
export async function readVersionStates(
  client: TenantClient,
  references: readonly VersionReference[],
): Promise<VersionState[]> {
  const types = references.map(({ type }) => type);
  const ids = references.map(({ id }) => id);
  const versions = references.map(({ version }) => version);
  return client.$queryRaw`
    SELECT wanted.type, wanted.id, found.state
    FROM unnest(${types}::text[], ${ids}::text[], ${versions}::int[]) AS wanted (type, id, version)
      CROSS JOIN LATERAL (
        SELECT e.payload->'after' AS state FROM memory_events e
        WHERE e.tenant_id = ${client.tenantId} AND e.entity_type = wanted.type AND e.entity_id = wanted.id
          AND (e.payload->'after'->>'version')::int = wanted.version
        ORDER BY e.sequence DESC LIMIT 1
      ) found`;
}
