/** Ends what was acquired. Called again, it does nothing. */
export type Release = () => void;

/** The limit that was exceeded: that of one caller, or that of all callers together. */
export type Excess = 'caller' | 'all';

export interface ConcurrencyLimitOptions {
  /** How many run at one time, of one caller and of all. */
  maxPerCaller: number;
  max: number;
  /** How many may wait, of one caller and of all, and for how long. Without it, none waits. */
  queue?: { maxPerCaller: number; max: number; waitMs: number; late: () => Error };
  refuse: (excess: Excess) => Error;
}

interface Caller {
  running: number;
  /** Each starts one request that waits, the oldest first. */
  waiting: Set<() => void>;
}

/**
 * Bounds how much runs at one time, for each caller and for all. Waiting requests are started round-robin, one of each
 * caller: a caller that sends a thousand delays the next request of another by one of them.
 */
export class ConcurrencyLimit {
  readonly #options: ConcurrencyLimitOptions;
  /** By key, in the order of turns. */
  readonly #callers = new Map<string, Caller>();
  #running = 0;
  #waiting = 0;

  constructor(options: ConcurrencyLimitOptions) {
    this.#options = options;
  }

  /** Starts now; throws at the limit. */
  acquire(key: string): Release {
    const caller = this.#find(key);
    if (this.#hasRoomFor(caller)) return this.#start(key, caller);
    throw this.#options.refuse(caller.running >= this.#options.maxPerCaller ? 'caller' : 'all');
  }

  /** Waits at the limit while the queue has room. Rejects when a signal aborts the wait. */
  async acquireOrWait(key: string, aborts: readonly (AbortSignal | undefined)[]): Promise<Release> {
    const { queue, refuse } = this.#options;
    const caller = this.#find(key);
    if (queue === undefined || this.#hasRoomFor(caller)) return this.acquire(key);
    if (caller.waiting.size >= queue.maxPerCaller) throw refuse('caller');
    if (this.#waiting >= queue.max) throw refuse('all');
    const abort = AbortSignal.any(aborts.filter((signal) => signal !== undefined));
    abort.throwIfAborted();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => giveUp(queue.late()), queue.waitMs);
      const onAbort = (): void => giveUp(abort.reason);
      const leave = (): void => {
        clearTimeout(timer);
        abort.removeEventListener('abort', onAbort);
        caller.waiting.delete(start);
        this.#waiting -= 1;
      };
      const giveUp = (reason: unknown): void => {
        leave();
        this.#forgetIfIdle(key, caller);
        reject(reason);
      };
      // Counts as running at once: a request that arrives before the promise settles must not take its turn.
      const start = (): void => {
        leave();
        resolve(this.#start(key, caller));
      };
      abort.addEventListener('abort', onAbort, { once: true });
      caller.waiting.add(start);
      this.#callers.set(key, caller);
      this.#waiting += 1;
    });
  }

  #find(key: string): Caller {
    return this.#callers.get(key) ?? { running: 0, waiting: new Set() };
  }

  #hasRoomFor({ running }: Caller): boolean {
    return this.#running < this.#options.max && running < this.#options.maxPerCaller;
  }

  #start(key: string, caller: Caller): Release {
    this.#callers.set(key, caller);
    caller.running += 1;
    this.#running += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      caller.running -= 1;
      this.#running -= 1;
      this.#startNext();
      this.#forgetIfIdle(key, caller);
    };
  }

  #startNext(): void {
    for (const [key, caller] of this.#callers) {
      const [start] = caller.waiting;
      if (start === undefined || !this.#hasRoomFor(caller)) continue;
      // To the end: its next turn comes after those of all others.
      this.#callers.delete(key);
      return start();
    }
  }

  #forgetIfIdle(key: string, caller: Caller): void {
    if (caller.running === 0 && caller.waiting.size === 0) this.#callers.delete(key);
  }
}
