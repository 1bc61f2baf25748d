import type { Transaction } from '../../db/database.ts';
import { invalidInput } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';

interface Observed {
  sessionId: string | null;
  metadata: object;
}

/** What upkeep says about itself is no observation: stored, it would be consolidated in turn, and so on for ever. */
export function refuseMaintenanceMark({ metadata }: Pick<Observed, 'metadata'>): void {
  if (!('maintenance' in metadata) || metadata.maintenance !== true) return;
  throw invalidInput(
    'metadata.maintenance',
    'absent or false: what maintenance says is not stored as an episode',
    true,
  );
}

/** The place of the first episode whose session is a consolidation run, with that session; null if there is none. */
export async function findMaintenanceSession(
  { principal }: MemoryContext,
  transaction: Transaction,
  episodes: readonly Observed[],
): Promise<{ place: number; sessionId: string } | null> {
  const ids = [...new Set(episodes.flatMap(({ sessionId }) => sessionId ?? []))];
  if (ids.length === 0) return null;
  const where = { tenantId: principal.tenantId, id: { in: ids } };
  const runs = await transaction.consolidationRun.findMany({ where, select: { id: true } });
  const found = new Set(runs.map(({ id }) => id));
  const place = episodes.findIndex(({ sessionId }) => sessionId !== null && found.has(sessionId));
  return place < 0 ? null : { place, sessionId: episodes[place]?.sessionId ?? '' };
}

export function isMaintenanceSession(sessionId: string): Error {
  return invalidInput(
    'session_id',
    'a session of a butler, not a consolidation run: what a run says is not stored as an episode',
    sessionId,
  );
}
