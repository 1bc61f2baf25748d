import type { EventChannel } from './event-channel.ts';

/**
 * The word that there may be new events. It says neither which nor how many: listeners read the table, so a
 * signal that is lost or comes twice does no harm.
 */
export interface EventSignal {
  /** Calls `listener` after events of the tenant were committed, by whichever process. Returns the way to stop. */
  subscribe(tenantId: string, listener: () => void): () => void;
}

export class EventHub implements EventSignal {
  readonly #channel: EventChannel | undefined;
  readonly #listeners = new Map<string, Set<() => void>>();

  constructor(channel: EventChannel | undefined) {
    this.#channel = channel;
  }

  subscribe(tenantId: string, listener: () => void): () => void {
    // Not before someone wants to know: a command that stores and ends needs no connection for it.
    this.#channel?.listen((tenant) => this.#wake(tenant));
    const listeners = this.#listeners.get(tenantId) ?? new Set();
    this.#listeners.set(tenantId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(tenantId) === listeners) this.#listeners.delete(tenantId);
    };
  }

  raise(tenantId: string): void {
    this.#wake(tenantId);
    this.#channel?.send(tenantId);
  }

  #wake(tenantId: string | undefined): void {
    const woken = tenantId === undefined ? [...this.#listeners.values()] : [this.#listeners.get(tenantId) ?? []];
    for (const listeners of woken) for (const listener of listeners) listener();
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await this.#channel?.close();
  }
}

const withEvents = new WeakSet<object>();

/** Marks a transaction that has written events, so that its commit is announced. */
export function announceEvents(transaction: object): void {
  withEvents.add(transaction);
}

export function hasEvents(transaction: object): boolean {
  return withEvents.has(transaction);
}
