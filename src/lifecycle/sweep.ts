/** How a sweep of one tenant is to go about it. */
export interface SweepOptions {
  /** Counts what it would do, and writes nothing. */
  readonly dryRun: boolean;
  /** Asked between batches: what is done stays done, and the next run goes on from there. */
  readonly signal?: AbortSignal | undefined;
  /** Told after each batch; the total is null where counting it would cost as much as the work. */
  readonly progress?: ((done: number, total: number | null) => void) | undefined;
  /** Waited for after each batch that took so long, where nobody waits for the end: callers come first. */
  readonly rest?: ((workedMs: number) => Promise<void>) | undefined;
}

/** What it did, or would do, by camel-case names: `{ fading: 3, expired: 1 }`. */
export type SweepReport = Record<string, number>;
