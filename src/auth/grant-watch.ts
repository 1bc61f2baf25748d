import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { Admission } from './admission.ts';

/** Ends subscriptions and sockets when the token of their caller expires or is revoked. */
export interface GrantWatch {
  /** Aborts the signal soon after the admission has ended. Call `release` when the work ends before that. */
  watch(admission: Admission | undefined): { signal: AbortSignal; release: () => void };
  /** Checks every watched admission now, without waiting for the timer. */
  check(): Promise<void>;
  close(): void;
}

interface Sources {
  db: Pick<Database, 'findToken'>;
  now: () => Date;
  logger: Logger;
}

/** Upper bound, apart from the lookup itself, of how long a subscription outlives its token. */
const checkIntervalMs = 10_000;

export function createGrantWatch({ db, now, logger }: Sources): GrantWatch {
  const watched = new Map<AbortController, Admission>();
  const end = (isOver: (admission: Admission) => boolean): void => {
    for (const [controller, admission] of watched) if (isOver(admission)) controller.abort();
  };
  const check = async (): Promise<void> => {
    const at = now();
    end(({ endsAt }) => endsAt !== null && endsAt <= at);
    // One lookup for each token, not for each subscription.
    const hashes = new Set([...watched.values()].flatMap(({ tokenHash }) => tokenHash ?? []));
    for (const hash of hashes) {
      if ((await db.findToken(hash, at)) === undefined) end(({ tokenHash }) => tokenHash === hash);
    }
  };
  let isChecking = false;
  const timer = setInterval(() => {
    if (isChecking || watched.size === 0) return;
    isChecking = true;
    check()
      // Without the database a subscription delivers nothing either; the timer retries.
      .catch((error: unknown) => logger.warn({ err: error }, 'could not look up the tokens of open subscriptions'))
      .finally(() => (isChecking = false));
  }, checkIntervalMs).unref();
  return {
    watch: (admission) => {
      const controller = new AbortController();
      const { signal } = controller;
      const release = (): void => void watched.delete(controller);
      if (admission !== undefined && (admission.endsAt !== null || admission.tokenHash !== null)) {
        watched.set(controller, admission);
        signal.addEventListener('abort', release, { once: true });
      }
      return { signal, release };
    },
    check,
    close: () => clearInterval(timer),
  };
}
