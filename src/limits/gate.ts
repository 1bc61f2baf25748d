/** Gives a place back. Called again, it does nothing. */
export type Release = () => void;

/** Whether the limit of one caller or of all callers was exceeded. */
export type Excess = 'caller' | 'all';

export interface GateOptions {
  /** Places of one caller, and of all callers together. */
  maxPerCaller: number;
  max: number;
  /** How many requests of one caller, and of all, may wait for a place, and for how long. Without it, none waits. */
  queue?: { maxPerCaller: number; max: number; waitMs: number; late: () => Error };
  refuse: (excess: Excess) => Error;
}

interface Line {
  running: number;
  /** Each starts one request that waits, the oldest first. */
  waiting: Set<() => void>;
}

/**
 * Bounds how much runs at one time, for each caller and for all. Requests that wait are started round-robin: one of each
 * caller, then one of each again. So a caller that sends a thousand delays the next request of another by one of them.
 */
export class Gate {
  readonly #options: GateOptions;
  /** By caller, in the order of turns. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  #waiting = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Takes a place now; throws when there is none. */
  take(caller: string): Release {
    const line = this.#lineOf(caller);
    if (this.#hasRoomFor(line)) return this.#occupy(caller, line);
    throw this.#options.refuse(line.running >= this.#options.maxPerCaller ? 'caller' : 'all');
  }

  /** Takes a place, and waits for one while the queue has room. Rejects when a signal aborts the wait. */
  async enter(caller: string, signals: readonly AbortSignal[]): Promise<Release> {
    const { queue, refuse } = this.#options;
    const line = this.#lineOf(caller);
    if (queue === undefined || this.#hasRoomFor(line)) return this.take(caller);
    if (line.waiting.size >= queue.maxPerCaller) throw refuse('caller');
    if (this.#waiting >= queue.max) throw refuse('all');
    for (const signal of signals) signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const aborts = signals.map((signal) => [signal, () => giveUp(signal.reason)] as const);
      const timer = setTimeout(() => giveUp(queue.late()), queue.waitMs);
      const leave = (): void => {
        clearTimeout(timer);
        for (const [signal, abort] of aborts) signal.removeEventListener('abort', abort);
        line.waiting.delete(start);
        this.#waiting -= 1;
      };
      const giveUp = (reason: unknown): void => {
        leave();
        this.#forgetIfEmpty(caller, line);
        reject(reason);
      };
      // Takes the place at once: a request that arrives before the promise settles must not get it.
      const start = (): void => {
        leave();
        resolve(this.#occupy(caller, line));
      };
      for (const [signal, abort] of aborts) signal.addEventListener('abort', abort, { once: true });
      line.waiting.add(start);
      this.#lines.set(caller, line);
      this.#waiting += 1;
    });
  }

  #lineOf(caller: string): Line {
    return this.#lines.get(caller) ?? { running: 0, waiting: new Set() };
  }

  #hasRoomFor({ running }: Line): boolean {
    return this.#running < this.#options.max && running < this.#options.maxPerCaller;
  }

  #occupy(caller: string, line: Line): Release {
    this.#lines.set(caller, line);
    line.running += 1;
    this.#running += 1;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      line.running -= 1;
      this.#running -= 1;
      this.#startNext();
      this.#forgetIfEmpty(caller, line);
    };
  }

  #startNext(): void {
    for (const [caller, line] of this.#lines) {
      const [start] = line.waiting;
      if (start === undefined || !this.#hasRoomFor(line)) continue;
      // To the end: the next turn of this caller comes after those of all others.
      this.#lines.delete(caller);
      return start();
    }
  }

  #forgetIfEmpty(caller: string, line: Line): void {
    if (line.running === 0 && line.waiting.size === 0) this.#lines.delete(caller);
  }
}
