import type { Prisma } from '../../generated/prisma/client.ts';
import type { TenantClient } from '../database.ts';

export interface EarlierWrite {
  operation: string;
  inputDigest: string;
  response: Prisma.JsonObject;
  /** Of the event that it recorded; null if it found nothing to change. */
  eventId: string | null;
  eventType: string | null;
  /** What was masked and cut in its texts, as the payload of the event has it. */
  omissions: Prisma.JsonObject;
}

/** Finds the write that was done under an idempotency key, with the event that it recorded. */
export async function findEarlierWrite(client: TenantClient, key: string): Promise<EarlierWrite | null> {
  const [row] = await client.$queryRaw<EarlierWrite[]>`
    SELECT k.operation, k.input_digest AS "inputDigest", k.response, e.id::text AS "eventId",
      e.event_type AS "eventType",
      jsonb_strip_nulls(jsonb_build_object('redacted', e.payload->'redacted', 'cut', e.payload->'cut')) AS omissions
    FROM idempotency_keys k
    LEFT JOIN memory_events e ON e.tenant_id = k.tenant_id AND e.id = (k.response->>'eventId')::uuid
    WHERE k.tenant_id = ${client.tenantId} AND k.key = ${key}`;
  return row ?? null;
}
