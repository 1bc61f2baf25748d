import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import { pendingMigrations } from '../db/migrate.ts';
import type { Embedder } from '../embedding/embedder.ts';
import type { HealthCheck } from './health.ts';
import type { ModelHealth } from './model-health.ts';
import { describeTroubles, readSchedules } from './schedules.ts';

/** The checks that health and doctor share: what one calls broken, so does the other. */
export type CheckResult = Omit<HealthCheck, 'name'>;

export const ok: CheckResult = { status: 'ok', detail: null };
export const starting: CheckResult = { status: 'starting', detail: 'not started yet' };

export async function checkMigrations(db: Pick<Database, 'asOwner'>): Promise<CheckResult> {
  const pending = await pendingMigrations(db);
  return pending.length === 0 ? ok : { status: 'failed', detail: `not applied: ${pending.join(', ')}` };
}

/** A job that does not run is no reason to send requests elsewhere, but somebody should look. */
export async function checkSchedules(context: {
  db: Pick<Database, 'queueQuery'>;
  config: Config;
  now: () => Date;
}): Promise<CheckResult> {
  const schedules = await readSchedules(context, null);
  const isUnhealthy = schedules.some(({ status }) => status === 'missed' || status === 'failing');
  return { status: isUnhealthy ? 'degraded' : 'ok', detail: describeTroubles(schedules) };
}

/** Checks that a loaded model made the vectors that it is asked to compare with. */
export async function checkModel(embedder: Embedder, modelHealth: ModelHealth): Promise<CheckResult> {
  const { state, detail } = embedder.status();
  if (state === 'failed') return { status: 'failed', detail };
  if (state !== 'ready') return { status: 'starting', detail: `the embedding model is ${state}` };
  return checkVectors(modelHealth);
}

export async function checkVectors(modelHealth: ModelHealth): Promise<CheckResult> {
  const differences = await modelHealth.read();
  return differences.length === 0 ? ok : { status: 'degraded', detail: differences.join('; ') };
}
