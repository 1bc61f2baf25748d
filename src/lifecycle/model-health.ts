import type { Database } from '../db/database.ts';
import type { Embedder } from '../embedding/embedder.ts';
import type { MemoryContext } from '../memory/context.ts';
import { describeModel, isSameModel, type VersionInUse } from '../memory/embedding-versions.ts';
import { readProgress, type VersionProgress } from './embedding-progress.ts';

/** Cached, because counting rows takes a while and health is polled. */
const keptForMs = 10_000;

/** Describes tenants whose vectors are not of the configured model. */
export class ModelHealth {
  readonly #db: Database;
  readonly #embedder: Embedder;
  #last: { readAt: number; lines: Promise<string[]> } | null = null;

  constructor({ db, embedder }: { db: Database; embedder: Embedder }) {
    this.#db = db;
    this.#embedder = embedder;
  }

  async read(): Promise<string[]> {
    const isFresh = this.#last !== null && performance.now() - this.#last.readAt < keptForMs;
    if (this.#last === null || !isFresh) this.#last = { readAt: performance.now(), lines: this.#describe() };
    const { lines } = this.#last;
    return lines.catch((error: unknown) => {
      // A failure is not cached: the database may be back for the next call.
      if (this.#last?.lines === lines) this.#last = null;
      throw error;
    });
  }

  async #describe(): Promise<string[]> {
    const unfinished: VersionProgress[] = [];
    const lines = new Set<string>();
    for (const tenantId of await this.#db.listTenants()) {
      const context = {
        db: this.#db.forTenant(tenantId),
        principal: { tenantId, butler: null, role: 'admin' } as const,
      };
      const versions = await readVersions(context);
      const active = versions.find(({ status }) => status === 'active');
      const building = versions.find(({ status }) => status === 'building');
      if (building !== undefined) unfinished.push(await readProgress(context, building));
      if (active !== undefined) {
        for (const line of await this.#describeActive(active, building !== undefined)) lines.add(line);
      }
    }
    return [...(unfinished.length === 0 ? [] : [describeProgress(unfinished)]), ...lines];
  }

  async #describeActive(version: VersionInUse, isBuilding: boolean): Promise<string[]> {
    if (isSameModel(version, this.#embedder.model)) return [];
    const lines: string[] = [];
    if (!isBuilding) {
      lines.push(
        `vectors are of ${describeModel(version)}, configured is ${describeModel(this.#embedder.model)}: re-embedding has not begun`,
      );
    }
    if ((await this.#embedder.findFor(version)) === null) {
      lines.push(`${describeModel(version)} is not on this machine: until the switch, search has the words alone`);
    }
    return lines;
  }
}

async function readVersions({ db }: Pick<MemoryContext, 'db'>): Promise<VersionInUse[]> {
  const versions = db.client.embeddingVersion;
  return (await versions.findMany({ where: { status: { not: 'retired' } } })) as VersionInUse[];
}

const inNumbers = new Intl.NumberFormat('en-US');

function describeProgress(unfinished: readonly VersionProgress[]): string {
  const sum = (pick: (one: VersionProgress) => number): string =>
    inNumbers.format(unfinished.reduce((total, one) => total + pick(one), 0));
  return `re-embedding: ${sum(({ done }) => done)} of ${sum(({ total }) => total)}`;
}
