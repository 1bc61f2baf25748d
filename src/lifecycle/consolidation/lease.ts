import { extendLease } from '../../db/queries/consolidation-runs.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { authorize } from '../../memory/permissions.ts';
import { checkUuid } from '../../memory/values.ts';
import { getRun, tooLate } from './run.ts';

export function leaseFrom({ config }: Pick<MemoryContext, 'config'>, start: Date): Date {
  return new Date(start.getTime() + config.memory.consolidation.leaseSeconds * 1000);
}

/** Extends the lease to its whole length from now. Throws once the lease or the run has ended. */
export async function renewLease(context: MemoryContext, runId: string): Promise<Date> {
  authorize(context, 'mutation renewConsolidation');
  const { id } = await getRun(context, checkUuid('run_id', runId));
  const now = context.now();
  const until = leaseFrom(context, now);
  if (!(await extendLease(context.db.client, id, { now, until }))) throw tooLate(id, 'has ended or lost its lease');
  return until;
}

/** Two renewals may fail before the lease is lost. */
const renewalsPerLease = 3;

/** Does the work while it renews the lease. The signal is aborted when the lease is lost, or with the outer signal. */
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

/** Waits for a result until the signal is aborted, and then throws its reason, even if the work ignores the signal. */
export async function untilAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  let stopListening = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    const rejectNow = (): void => reject(signal.reason as Error);
    if (signal.aborted) rejectNow();
    signal.addEventListener('abort', rejectNow, { once: true });
    stopListening = () => signal.removeEventListener('abort', rejectNow);
  });
  // The result is raced even if the signal is aborted already: its rejection must be handled.
  return Promise.race([aborted, result]).finally(stopListening);
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
      // A database that is away now may be back in time for the next renewal.
      const isOver = (error instanceof MemoryError && error.code === 'CONFLICT') || context.now() >= until;
      if (isOver) lost.abort(tooLate(runId, 'has lost its lease'));
    }
  };
  const intervalMs = (context.config.memory.consolidation.leaseSeconds * 1000) / renewalsPerLease;
  const timer = setInterval(() => void renew(), intervalMs);
  return () => clearInterval(timer);
}
