import type { Logger } from 'pino';
import type { Config } from '../src/config/schema.ts';
import type { Database } from '../src/db/database.ts';
import type { Embedder } from '../src/embedding/embedder.ts';
import type { TenantSweep } from '../src/lifecycle/job-runs.ts';
import type { SweepOptions, SweepReport } from '../src/lifecycle/sweep.ts';
import type { MemoryContext } from '../src/memory/context.ts';
import type { Vault } from '../src/memory/vault.ts';
import { newRequestContext } from '../src/shared/request-context.ts';

/** What a job may use. It works for all tenants, visiting each within its own boundary. */
export interface JobContext {
  readonly db: Database;
  readonly embedder: Embedder;
  readonly vault: Vault;
  readonly config: Config;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Done for each tenant apart, so that several workers share the tenants and one that fails leaves the others alone. */
export interface TenantJob extends TenantSweep {
  readonly for: 'tenant';
}

/** Done once for the whole server. */
export interface ServerJob {
  readonly name: string;
  readonly for: 'server';
  readonly run: (context: JobContext, work: ServerWork) => Promise<SweepReport>;
}

export interface ServerWork extends SweepOptions {
  /** Asks for a tenant's job to be done soon. One that is waiting or under way already is not asked for twice. */
  readonly request: (name: string, tenantId: string) => Promise<void>;
}

/** Its name is that of its entry in [butler.schedule], with hyphens. */
export type Job = TenantJob | ServerJob;

/** Of a job that nobody asked for, in one tenant. */
export function contextOfTenant(context: JobContext, tenantId: string): MemoryContext {
  const { embedder, vault, config, logger, now } = context;
  const db = context.db.forTenant(tenantId);
  const principal = { tenantId, butler: null, role: 'admin' } as const;
  return { db, embedder, vault, config, logger, now, principal, requestContext: newRequestContext() };
}
