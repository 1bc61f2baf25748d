import { renewLeaseOf } from '../../db/sql/renew-lease.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { authorize } from '../../memory/permissions.ts';
import { checkUuid } from '../../memory/values.ts';
import { getRun, tooLate } from './run.ts';

export function leaseFrom({ config }: Pick<MemoryContext, 'config'>, start: Date): Date {
  return new Date(start.getTime() + config.memory.consolidation.leaseSeconds * 1000);
}

/** A whole lease more, counted from now. Refused once the lease has ended or the run has. */
export async function renewLease(context: MemoryContext, runId: string): Promise<Date> {
  authorize(context, 'mutation renewConsolidation');
  const { tenantId } = context.principal;
  const { id } = await getRun(context, checkUuid('run_id', runId));
  const now = context.now();
  const until = leaseFrom(context, now);
  const count = await context.db.client.$executeRaw(renewLeaseOf(tenantId, id, { now, until }));
  if (count === 0) throw tooLate(id, 'has ended or lost its lease');
  return until;
}

/** Renewed so often within the length of a lease: two renewals may fail before it is lost. */
const renewalsPerLease = 3;

/** Does the work while the lease is renewed. The signal is aborted when the lease is lost, or when the outer one is. */
export async function withLease<T>(
  context: MemoryContext,
  lease: { runId: string; leaseExpiresAt: Date },
  work: (signal: AbortSignal) => Promise<T>,
  outerSignal?: AbortSignal,
): Promise<T> {
  const lost = new AbortController();
  const stopRenewing = keepRenewing(context, lease, lost);
  try {
    return await work(outerSignal === undefined ? lost.signal : AbortSignal.any([lost.signal, outerSignal]));
  } finally {
    stopRenewing();
  }
}

/** Returns the result, or throws the reason of the signal without waiting for work that ignores it. */
export async function untilAborted<T>(asked: Promise<T>, signal: AbortSignal): Promise<T> {
  let stopListening = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    const rejectNow = (): void => reject(signal.reason as Error);
    if (signal.aborted) rejectNow();
    signal.addEventListener('abort', rejectNow, { once: true });
    stopListening = () => signal.removeEventListener('abort', rejectNow);
  });
  // Both are in the race, also when it is over before it began: what is asked for may fail too, and somebody must hear it.
  return Promise.race([aborted, asked]).finally(stopListening);
}

function keepRenewing(
  context: MemoryContext,
  { runId, leaseExpiresAt }: { runId: string; leaseExpiresAt: Date },
  lost: AbortController,
): () => void {
  let until = leaseExpiresAt;
  const renew = async (): Promise<void> => {
    try {
      until = await renewLease(context, runId);
    } catch (error) {
      // A database that does not answer now may do so in time for the next try.
      const isOver = (error instanceof MemoryError && error.code === 'CONFLICT') || context.now() >= until;
      if (isOver) lost.abort(tooLate(runId, 'has lost its lease'));
    }
  };
  const intervalMs = (context.config.memory.consolidation.leaseSeconds * 1000) / renewalsPerLease;
  const timer = setInterval(() => void renew(), intervalMs);
  return () => clearInterval(timer);
}
