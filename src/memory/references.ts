import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database, TenantDatabase } from '../db/database.ts';
import { addReferences, type ReferenceCount } from '../db/queries/references.ts';
import { memoryTypes, type MemoryType } from '../db/tables.ts';
import type { MemoryContext } from './context.ts';
import type { MemoryReference } from './links/links.ts';
import { isReadOnly } from './permissions.ts';

type Reader = Pick<MemoryContext, 'principal' | 'now'>;

/** Returns a digest of the session that reads. Without an id, a session is one butler on one UTC day. */
function digestSession({ principal, now }: Reader, sessionId: string | null): string {
  return hash('sha256', sessionId ?? `${principal.butler ?? ''} ${now().toISOString().slice(0, 10)}`).slice(0, 16);
}

/** Promotion asks for no more sessions than these, so no more are kept. */
function countSessionsToKeep({ config }: Pick<MemoryContext, 'config'>): number {
  return config.memory.mid.promoteAfterSessions;
}

/** The references of one memory that are not written yet. */
interface Pending extends ReferenceCount {
  sessions: string[];
}

/** References of one tenant that are not written yet. Those of the same memory become one. */
class PendingReferences {
  readonly #byType: Record<MemoryType, Map<string, Pending>> = {
    episode: new Map(),
    fact: new Map(),
    rule: new Map(),
  };

  /** One call's answer counts each memory once, however often it is in it. */
  count(references: readonly MemoryReference[], at: Date, session: string): void {
    const sessions = [session];
    for (const { type, id } of distinct(references)) this.#add(type, { id, count: 1, at, sessions, shownAt: null });
  }

  /** A context shows what it chose by itself: that is no reference. */
  show(references: readonly MemoryReference[], shownAt: Date): void {
    for (const { type, id } of distinct(references)) {
      this.#add(type, { id, count: 0, at: null, sessions: [], shownAt });
    }
  }

  merge(other: PendingReferences): void {
    for (const type of memoryTypes) for (const pending of other.#byType[type].values()) this.#add(type, pending);
  }

  get size(): number {
    return memoryTypes.reduce((total, type) => total + this.#byType[type].size, 0);
  }

  async write(db: TenantDatabase, mostSessions: number): Promise<void> {
    const types = memoryTypes.filter((type) => this.#byType[type].size > 0);
    const byType = new Map(types.map((type) => [type, [...this.#byType[type].values()]]));
    await addReferences(db, byType, mostSessions);
  }

  #add(type: MemoryType, { id, count, at, sessions, shownAt }: Pending): void {
    const known = this.#byType[type].get(id);
    this.#byType[type].set(id, {
      id,
      count: (known?.count ?? 0) + count,
      at: latest(known?.at, at),
      sessions: [...new Set([...(known?.sessions ?? []), ...sessions])].slice(0, mostSessionsPending),
      shownAt: latest(known?.shownAt, shownAt),
    });
  }
}

/** As many as the configuration can ask for. */
const mostSessionsPending = 100;

function distinct(references: readonly MemoryReference[]): Iterable<MemoryReference> {
  return new Map(references.map(({ type, id }) => [`${type} ${id}`, { type, id }])).values();
}

function latest(known: Date | null | undefined, given: Date | null): Date | null {
  if (known == null || given === null) return known ?? given;
  return known > given ? known : given;
}

/** Memories whose references wait while the database cannot be reached; beyond them the oldest answers are dropped. */
const mostPending = 100_000;

/** Long enough that an answer is sent before it, and that those of a busy moment are written together. */
const writeAfterMs = 100;

/**
 * Writes references after the answer was sent, one statement for each type, and without an event: an event for each read
 * would bury the changes. References that arrive during a write go with the next one. A failed write is logged and
 * retried with the next; `stop` writes all that is left.
 */
export class ReferenceQueue {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #mostSessions: number;
  #pending = new Map<string, PendingReferences>();
  #writing: Promise<void> | null = null;
  #scheduled: NodeJS.Timeout | null = null;

  constructor(core: Pick<MemoryContext, 'logger' | 'config'> & { db: Database }) {
    this.#db = core.db;
    this.#logger = core.logger;
    this.#mostSessions = countSessionsToKeep(core);
  }

  /** Counts memories that were returned to someone who asked, in the session of that id. */
  enqueue(reader: Reader, references: readonly MemoryReference[], sessionId: string | null): void {
    const session = digestSession(reader, sessionId);
    this.#enqueue(reader, references, (pending) => pending.count(references, reader.now(), session));
  }

  /** Notes memories that a context showed: they are evicted later. */
  enqueueShown(reader: Reader, references: readonly MemoryReference[]): void {
    this.#enqueue(reader, references, (pending) => pending.show(references, reader.now()));
  }

  #enqueue(
    { principal }: Reader,
    references: readonly MemoryReference[],
    add: (pending: PendingReferences) => void,
  ): void {
    // Reads of a visitor from another tenant and of a role that changes nothing are not references.
    if (references.length === 0 || principal.visit !== undefined || isReadOnly(principal.role)) return;
    add(this.#pendingOf(principal.tenantId));
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
      await references.write(this.#db.forTenant(tenantId), this.#mostSessions).catch((error: unknown) => {
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
