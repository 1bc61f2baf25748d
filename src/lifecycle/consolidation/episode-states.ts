import type { Prisma } from '../../generated/prisma/client.ts';
import { recordEvents, type EventInput } from '../../memory/events.ts';
import type { Snapshot } from '../../db/queries/snapshots.ts';
import type { Mutation } from '../../memory/mutation.ts';

interface ChangedEpisode {
  id: string;
  status: string;
  before: Snapshot;
  after: Snapshot;
}

/** Changes episodes by one statement and records it, an event each; gives those that were changed. */
export async function changeEpisodeStates(
  { context, transaction }: Pick<Mutation, 'context' | 'transaction'>,
  change: Prisma.Sql,
  { nameEvent, causeEventId }: { nameEvent: (status: string) => EventInput['eventType']; causeEventId?: string },
): Promise<{ id: string; status: string }[]> {
  const changed = await transaction.$queryRaw<ChangedEpisode[]>(change);
  const events = changed.map(({ id, status, before, after }): EventInput => {
    const cause = causeEventId === undefined ? {} : { causeEventId };
    return { eventType: nameEvent(status), entityType: 'episode', entityId: id, ...cause, before, after };
  });
  if (events.length > 0) await recordEvents(context, transaction, events);
  return changed.map(({ id, status }) => ({ id, status }));
}
