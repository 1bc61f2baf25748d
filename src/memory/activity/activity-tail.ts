import type { Logger } from 'pino';
import type { TenantDatabase } from '../../db/database.ts';
import { isLater, positionOf, scanActivity, type ActivityScan, type EventPosition, type EventRow } from './activity.ts';

export interface TailOptions {
  db: TenantDatabase;
  logger: Logger;
  /** Where to begin: at or before the place of every reader that is up to date. */
  start: EventPosition;
  pollIntervalMs: number;
}

/** Events kept for readers that are nearly up to date; who is further behind reads the table. */
const recentLimit = 100;
const pageLimit = 50;
/** Between two reads, so that a storm of commits is read in pages and not one by one. */
const readGapMs = 20;
const firstHeldBackMs = 25;

/**
 * The newest events of a tenant, read once for all who follow it. Reads when it is told that there are new ones, and
 * now and then by itself, as the word may get lost between processes.
 */
export class ActivityTail {
  readonly #options: TailOptions;
  readonly #unsubscribe: () => void;
  readonly #poll: NodeJS.Timeout;
  readonly #waiting = new Set<() => void>();
  #recent: EventRow[] = [];
  /** All events later than `#from` and not later than `#to` are in `#recent`. */
  #from: EventPosition;
  #to: EventPosition;
  #isReading = false;
  #isToldAgain = false;
  #heldBackMs = firstHeldBackMs;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;
  #hasFailed = false;

  constructor(options: TailOptions) {
    this.#options = options;
    this.#from = options.start;
    this.#to = options.start;
    this.#unsubscribe = options.db.database.events.subscribe(options.db.tenantId, () => this.#tell());
    this.#poll = setInterval(() => this.#tell(), options.pollIntervalMs).unref();
    // What was committed since the start was found has been told to nobody.
    this.#tell();
  }

  /** What is known to come after the position; undefined if the table has to be asked. */
  readAfter(position: EventPosition): Pick<ActivityScan, 'events' | 'position'> | undefined {
    if (isLater(this.#from, position)) return undefined;
    const events = this.#recent.filter((event) => isLater(event, position));
    return { events, position: isLater(this.#to, position) ? this.#to : position };
  }

  /** Resolves when there are events later than the position, and when it is aborted. */
  async waitBeyond(position: EventPosition, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#hasBeyond(position)) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        this.#waiting.add(wake);
        signal.addEventListener('abort', wake);
      });
    }
  }

  #hasBeyond(position: EventPosition): boolean {
    const last = this.#recent.at(-1);
    return isLater(this.#from, position) || (last !== undefined && isLater(last, position));
  }

  #tell(): void {
    if (this.#isClosed) return;
    this.#isToldAgain = true;
    if (!this.#isReading) void this.#readAll();
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#isToldAgain && !this.#isClosed) {
      this.#isToldAgain = false;
      try {
        this.#take(await this.#scan());
        this.#hasFailed = false;
      } catch (error) {
        this.#report(error);
      }
      await new Promise((resolve) => setTimeout(resolve, readGapMs));
    }
    this.#isReading = false;
  }

  async #scan(): Promise<ActivityScan> {
    const { db } = this.#options;
    return scanActivity({ db, conditions: {} }, this.#to, pageLimit);
  }

  #take({ events, position, isComplete, isHeldBack }: ActivityScan): void {
    this.#to = position;
    this.#recent.push(...events);
    const dropped = this.#recent.splice(0, Math.max(0, this.#recent.length - recentLimit)).at(-1);
    if (dropped !== undefined) this.#from = positionOf(dropped);
    if (!isComplete) this.#isToldAgain = true;
    this.#lookAgainSoon(isHeldBack);
    if (events.length > 0) for (const wake of this.#waiting) wake();
  }

  /** An older transaction that ends without an event of its own, such as one of another database, is told to nobody. */
  #lookAgainSoon(isHeldBack: boolean): void {
    clearTimeout(this.#retry);
    this.#heldBackMs = isHeldBack ? Math.min(this.#heldBackMs * 2, this.#options.pollIntervalMs) : firstHeldBackMs;
    if (isHeldBack) this.#retry = setTimeout(() => this.#tell(), this.#heldBackMs).unref();
  }

  /** Once an outage: readers wait, and go on when the database is back. */
  #report(error: unknown): void {
    const { logger, db } = this.#options;
    if (!this.#hasFailed && !this.#isClosed)
      logger.warn({ err: error, tenantId: db.tenantId }, 'the activity feed cannot be read');
    this.#hasFailed = true;
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    clearInterval(this.#poll);
    clearTimeout(this.#retry);
  }
}
