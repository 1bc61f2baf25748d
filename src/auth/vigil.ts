import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import type { Admission } from './admission.ts';

/** What is open for long (a feed, a socket) must not outlive what its caller was let in by. */
export interface Vigil {
  /** The signal is aborted soon after the admission has ended. `release` is for who has ended before that. */
  watch(admission: Admission | undefined): { signal: AbortSignal; release: () => void };
  /** Looks at all that is watched now, and not when the time has come. */
  check(): Promise<void>;
  close(): void;
}

interface Sources {
  db: Pick<Database, 'findToken'>;
  now: () => Date;
  logger: Logger;
}

/** So long at most does a feed go on after its token was revoked or has expired, but for the time of one lookup. */
const checkIntervalMs = 10_000;

export function createVigil({ db, now, logger }: Sources): Vigil {
  const watched = new Map<AbortController, Admission>();
  const end = (isOver: (admission: Admission) => boolean): void => {
    for (const [controller, admission] of watched) if (isOver(admission)) controller.abort();
  };
  const check = async (): Promise<void> => {
    const at = now();
    end(({ endsAt }) => endsAt !== null && endsAt <= at);
    // One lookup for all that came with the same token.
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
      // Without the database a feed brings nothing either; the next look is soon.
      .catch((error: unknown) => logger.warn({ err: error }, 'tokens of open feeds could not be looked up'))
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
