import { EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { TenantDatabase } from '../../db/database.ts';
import { isLater, positionOf, scanActivity, type ActivityScan, type EventPosition, type EventRow } from './activity.ts';

export interface TailOptions {
  db: TenantDatabase;
  logger: Logger;
  /** At or before the position of every reader that is up to date. */
  start: EventPosition;
  pollIntervalMs: number;
}

/** Events kept for readers that are nearly up to date; a reader further behind reads the table. */
const recentLimit = 100;
const pageLimit = 50;
/** Pause after each read, so that a burst of commits is read in pages and not one by one. */
const readGapMs = 20;
const firstHeldBackMs = 25;

/**
 * The newest events of a tenant, read once for all who follow it. Reads when a commit is announced, and at intervals
 * because an announcement between processes may be lost.
 */
export class ActivityTail {
  readonly #options: TailOptions;
  readonly #unsubscribe: () => void;
  readonly #readers = new EventEmitter().setMaxListeners(0);
  /** All events later than `#from` and not later than `#to`. */
  #recent: EventRow[] = [];
  #from: EventPosition;
  #to: EventPosition;
  #isAnnounced = false;
  #isClosed = false;
  #hasFailed = false;
  /** Ends the present sleep of the reading loop. */
  #wake: () => void = () => undefined;

  constructor(options: TailOptions) {
    const { db, start } = options;
    this.#options = options;
    this.#from = start;
    this.#to = start;
    this.#unsubscribe = db.database.events.subscribe(db.tenantId, () => {
      this.#isAnnounced = true;
      this.#wake();
    });
    void this.#keepReading();
  }

  /** Returns the events after the position; undefined if some of them are no longer kept and the table has to be read. */
  readAfter(position: EventPosition): Pick<ActivityScan, 'events' | 'position'> | undefined {
    if (isLater(this.#from, position)) return undefined;
    const events = this.#recent.filter((event) => isLater(event, position));
    return { events, position: isLater(this.#to, position) ? this.#to : position };
  }

  /** Resolves when there are events later than the position, and when the signal is aborted. */
  async waitBeyond(position: EventPosition, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.#hasBeyond(position)) {
      await once(this.#readers, 'events', { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#wake();
  }

  #hasBeyond(position: EventPosition): boolean {
    const last = this.#recent.at(-1);
    return isLater(this.#from, position) || (last !== undefined && isLater(last, position));
  }

  async #keepReading(): Promise<void> {
    const { pollIntervalMs } = this.#options;
    let heldBackMs = firstHeldBackMs;
    while (!this.#isClosed) {
      this.#isAnnounced = false;
      const scan = await this.#read();
      await wait(readGapMs);
      if (scan?.isComplete === false) continue;
      // No commit is announced when an older transaction ends that wrote no event here, such as one of another database.
      heldBackMs = scan?.isHeldBack === true ? Math.min(heldBackMs * 2, pollIntervalMs) : firstHeldBackMs;
      await this.#sleep(scan?.isHeldBack === true ? heldBackMs : pollIntervalMs);
    }
  }

  /** Waits that long, or until a commit is announced or the tail is closed. */
  async #sleep(milliseconds: number): Promise<void> {
    if (this.#isAnnounced || this.#isClosed) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Reads one page. Returns null when the database cannot be read: readers wait, and continue when it is back. */
  async #read(): Promise<ActivityScan | null> {
    const { db, logger } = this.#options;
    try {
      const scan = await scanActivity({ db, conditions: {} }, this.#to, pageLimit);
      this.#keep(scan);
      this.#hasFailed = false;
      return scan;
    } catch (error) {
      const isFirst = !this.#hasFailed && !this.#isClosed;
      if (isFirst) logger.warn({ err: error, tenantId: db.tenantId }, 'the activity feed cannot be read');
      this.#hasFailed = true;
      return null;
    }
  }

  #keep({ events, position }: ActivityScan): void {
    this.#to = position;
    this.#recent.push(...events);
    const dropped = this.#recent.splice(0, Math.max(0, this.#recent.length - recentLimit)).at(-1);
    if (dropped !== undefined) this.#from = positionOf(dropped);
    if (events.length > 0) this.#readers.emit('events');
  }
}
