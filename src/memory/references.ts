import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { bumpReferencesOf, type ReferenceCount } from '../db/sql/bump-references.ts';
import { memoryTypes, type MemoryType } from '../db/sql/memory-snapshot.ts';
import type { MemoryContext } from './context.ts';
import type { MemoryReference } from './links.ts';
import { isReadOnly } from './permissions.ts';

/**
 * Memories that were returned to someone who asked: one more reference each, and referenced now. One statement a type.
 * No event tells it: an event for each look would bury those that tell of a change.
 */
export async function bumpReferences(context: MemoryContext, references: readonly MemoryReference[]): Promise<void> {
  const pending = new PendingReferences();
  pending.add(references, context.now());
  await pending.write(context.db, context.principal.tenantId);
}

/** References of one tenant that are not written yet. Those of the same memory become one. */
class PendingReferences {
  readonly #byType: Record<MemoryType, Map<string, ReferenceCount>> = {
    episode: new Map(),
    fact: new Map(),
    rule: new Map(),
  };

  /** One call's answer counts each memory once, however often it is in it. */
  add(references: readonly MemoryReference[], at: Date): void {
    const once = new Map(references.map(({ type, id }) => [`${type} ${id}`, { type, id }]));
    for (const { type, id } of once.values()) this.#count(type, { id, count: 1, at });
  }

  merge(other: PendingReferences): void {
    for (const type of memoryTypes) for (const reference of other.#byType[type].values()) this.#count(type, reference);
  }

  get size(): number {
    return memoryTypes.reduce((total, type) => total + this.#byType[type].size, 0);
  }

  async write(db: Database, tenantId: string): Promise<void> {
    const types = memoryTypes.filter((type) => this.#byType[type].size > 0);
    if (types.length === 0) return;
    await db.roundTrip(
      tenantId,
      types.map((type) => bumpReferencesOf(type, tenantId, [...this.#byType[type].values()])),
    );
  }

  #count(type: MemoryType, { id, count, at }: ReferenceCount): void {
    const known = this.#byType[type].get(id);
    const latest = known !== undefined && known.at > at ? known.at : at;
    this.#byType[type].set(id, { id, count: (known?.count ?? 0) + count, at: latest });
  }
}

/** Memories whose references wait while the database cannot be reached; beyond them the oldest answers are dropped. */
const mostPending = 100_000;

/** Long enough that an answer is sent before it, and that those of a busy moment are written together. */
const writeAfterMs = 100;

/**
 * Writes references after the answer was sent, so that nobody waits for them. What arrives while a write is under way
 * goes with the next one. A failed write is logged and tried again with the next; `stop` writes all that is left.
 */
export class ReferenceQueue {
  readonly #db: Database;
  readonly #logger: Logger;
  #pending = new Map<string, PendingReferences>();
  #writing: Promise<void> | null = null;
  #scheduled: NodeJS.Timeout | null = null;

  constructor({ db, logger }: { db: Database; logger: Logger }) {
    this.#db = db;
    this.#logger = logger;
  }

  enqueue({ principal, now }: Pick<MemoryContext, 'principal' | 'now'>, references: readonly MemoryReference[]): void {
    // The memories of a tenant are not kept for a visitor, and a role that changes nothing counts as nobody.
    if (references.length === 0 || principal.visit !== undefined || isReadOnly(principal.role)) return;
    this.#pendingOf(principal.tenantId).add(references, now());
    this.#scheduled ??= setTimeout(() => {
      this.#scheduled = null;
      void this.flush();
    }, writeAfterMs);
  }

  /** Resolves when all that was enqueued before is written, or has failed once more. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#pending.size === 0) return;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
    await this.#writing;
  }

  async stop(): Promise<void> {
    if (this.#scheduled !== null) clearTimeout(this.#scheduled);
    this.#scheduled = null;
    // A write under way took what was pending at its start: what came after needs one of its own.
    await this.flush();
    await this.flush();
    const lost = [...this.#pending.values()].reduce((total, { size }) => total + size, 0);
    if (lost > 0) this.#logger.error({ memories: lost }, 'references could not be written before the stop');
  }

  #pendingOf(tenantId: string): PendingReferences {
    const pending = this.#pending.get(tenantId) ?? new PendingReferences();
    this.#pending.set(tenantId, pending);
    return pending;
  }

  async #writeAll(): Promise<void> {
    const batch = this.#pending;
    this.#pending = new Map();
    for (const [tenantId, references] of batch) {
      await references.write(this.#db, tenantId).catch((error: unknown) => {
        this.#logger.error({ err: error, tenantId, memories: references.size }, 'references were not written');
        this.#keep(tenantId, references);
      });
    }
  }

  #keep(tenantId: string, references: PendingReferences): void {
    const pending = this.#pendingOf(tenantId);
    if (pending.size + references.size <= mostPending) pending.merge(references);
  }
}
