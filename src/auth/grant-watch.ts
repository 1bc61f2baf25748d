import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { Admission } from './admission.ts';

/** Ends what stays open for long (a feed, a socket) soon after its token has expired or was revoked. */
export interface GrantWatch {
  /** The signal is aborted once the admission has ended; `release` stops watching. */
  watch(admission: Admission | undefined): { signal: AbortSignal; release: () => void };
  /** Checks everything watched now instead of at the next interval. */
  check(): Promise<void>;
  close(): void;
}

interface Sources {
  db: Pick<Database, 'findToken'>;
  now: () => Date;
  logger: Logger;
}

/** A feed outlives its token by at most this, and the time of one lookup. */
const checkIntervalMs = 10_000;

export function createGrantWatch({ db, now, logger }: Sources): GrantWatch {
  const watched = new Map<AbortController, Admission>();
  const end = (isOver: (admission: Admission) => boolean): void => {
    for (const [controller, admission] of watched) if (isOver(admission)) controller.abort();
  };
  const check = async (): Promise<void> => {
    const at = now();
    end(({ endsAt }) => endsAt !== null && endsAt <= at);
    // Looks each token up once, however many feeds it has open.
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
      .catch((error: unknown) => logger.warn({ err: error }, 'could not look up the tokens of open feeds'))
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
