import { setTimeout as wait } from 'node:timers/promises';

const minuteMs = 60_000;
/** A server that fails without saying for how long is left alone for this long. */
const defaultQuietMs = minuteMs;
/** One that asks for more than this is asked again all the same. */
const longestQuietMs = 60 * minuteMs;

export interface Waiting {
  /** Milliseconds of a clock that nobody sets. */
  readonly clock: () => number;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const realWaiting: Waiting = {
  clock: () => performance.now(),
  wait: (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
};

/** What a process remembers of one server from request to request: how often it was asked, and when it may be again. */
export class ModelServer {
  readonly #waiting: Waiting;
  #starts: number[] = [];
  #quietUntil: Date | null = null;
  /** Whether it has ever given an answer: until then, what it refuses may well be how it is asked. */
  hasAnswered = false;

  constructor(waiting: Waiting = realWaiting) {
    this.#waiting = waiting;
  }

  /** Waits until a request would not be more than so many within a minute, and counts it. */
  async takeTurn(requestsPerMinute: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const now = this.#waiting.clock();
      this.#starts = this.#starts.filter((start) => start > now - minuteMs);
      const earliest = this.#starts.at(-requestsPerMinute);
      if (earliest === undefined) break;
      await this.#waiting.wait(earliest + minuteMs - now, signal);
    }
    this.#starts.push(this.#waiting.clock());
  }

  /** How long that is, in milliseconds. */
  leaveAlone(now: Date, askedMs: number | undefined): number {
    const quietMs = Math.min(askedMs ?? defaultQuietMs, longestQuietMs);
    this.#quietUntil = new Date(now.getTime() + quietMs);
    return quietMs;
  }

  findObstacle(now: Date): string | null {
    if (this.#quietUntil === null || this.#quietUntil <= now) return null;
    return `the model's server is left alone until ${this.#quietUntil.toISOString()}, as it was too busy or failed`;
  }
}

const servers = new Map<string, ModelServer>();

/** The same one for every engine of this process that asks there. */
export function modelServerAt(baseUrl: string): ModelServer {
  const known = servers.get(baseUrl) ?? new ModelServer();
  servers.set(baseUrl, known);
  return known;
}
