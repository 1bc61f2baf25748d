import type { Config } from '../config/schema.ts';
import type { MemoryCore } from '../create-memory.ts';
import type { Database } from '../db/database.ts';
import { invalidInput, MemoryError } from '../shared/errors.ts';
import { createLogger } from '../shared/logger.ts';

/** What the commands share. */

export type Print = (line: string) => void;

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The actor in events and runs. */
export const actor = 'command line';

/** Prints one line and sets the exit code; a stack trace only for an unexpected error. */
export function reportFailure(error: unknown): void {
  process.exitCode = 1;
  const isExpected = error instanceof MemoryError;
  const hint = isExpected && error.hint !== undefined ? ` (${error.hint})` : '';
  const text = isExpected ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`butler-memory: ${text}${hint}\n`);
}

/** Opens the memory for one command, and closes it. */
export async function withCore(config: Config, work: (core: MemoryCore) => Promise<void>): Promise<void> {
  const { createMemory } = await import('../create-memory.ts');
  const core = await createMemory({ config, logger: createLogger(config, 'stderr') });
  try {
    await work(core);
  } finally {
    await core.close();
  }
}

/** Resolves at the first signal, for an orderly stop. A second one has Node's default effect. */
export async function waitForSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = (): void => {
      process.off('SIGTERM', stop).off('SIGINT', stop);
      resolve();
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
}

/** Returns the named tenant, or all of them. An unknown one is refused: work on it would look like work well done. */
export async function chooseTenants(db: Database, tenant: string | undefined): Promise<string[]> {
  const tenants = await db.listTenants();
  if (tenant === undefined) return tenants;
  if (tenants.includes(tenant) || (await hasHistory(db, tenant))) return [tenant];
  throw invalidInput('tenant', tenants.length === 0 ? 'none, as there is none yet' : tenants.join(', '), tenant);
}

/** Whether a tenant that stores nothing any more has events. */
async function hasHistory(db: Database, tenantId: string): Promise<boolean> {
  if (tenantId === '') return false;
  return (await db.forTenant(tenantId).client.eventChain.findFirst({ where: { tenantId } })) !== null;
}
