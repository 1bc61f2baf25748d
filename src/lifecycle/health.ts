import type { EngineName } from '../db/engines/engine.ts';
import { packageManifest } from '../shared/package-root.ts';

export const checkNames = ['database', 'migrations', 'model', 'queue', 'schedules'] as const;
export type CheckName = (typeof checkNames)[number];

export const healthStatuses = ['ok', 'starting', 'degraded', 'failed'] as const;
export type HealthStatus = (typeof healthStatuses)[number];

export interface HealthCheck {
  name: CheckName;
  status: HealthStatus;
  /** What is wrong, or what it waits for; null when the status is ok. */
  detail: string | null;
}

export interface Health {
  /** The worst of the checks. */
  status: HealthStatus;
  version: string;
  engine: EngineName;
  checks: HealthCheck[];
}

export interface HealthProbe {
  /** Cached for `keptMs`: anybody may call it, and the checks query the database. */
  read(): Promise<Health>;
  /** Discards the cached result. */
  forget(): void;
}

const keptMs = 1000;

type CheckFunction = () => Promise<Omit<HealthCheck, 'name'>>;

/** Runs all checks. A check that throws counts as failed, and does not hide the others. */
export function createHealthProbe(
  engine: EngineName,
  checks: Record<CheckName, CheckFunction>,
  now: () => Date,
): HealthProbe {
  const look = async (): Promise<Health> => {
    const results = await Promise.all(checkNames.map((name) => runCheck(name, checks[name])));
    return { status: worstOf(results), version: packageManifest.version, engine, checks: results };
  };
  let latest: { health: Promise<Health>; doneAt: Date | null } | undefined;
  const isFresh = (doneAt: Date | null): boolean =>
    // Absolute, so that a clock that is set back does not prolong the cache.
    doneAt === null || Math.abs(now().getTime() - doneAt.getTime()) < keptMs;
  return {
    read: () => {
      if (latest !== undefined && isFresh(latest.doneAt)) return latest.health;
      const started: typeof latest = { health: look(), doneAt: null };
      void started.health.then(() => (started.doneAt = now()));
      latest = started;
      return started.health;
    },
    forget: () => (latest = undefined),
  };
}

async function runCheck(name: CheckName, check: CheckFunction): Promise<HealthCheck> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    return { name, status: 'failed', detail: error instanceof Error ? error.message : String(error) };
  }
}

function worstOf(checks: HealthCheck[]): HealthStatus {
  const ranks = checks.map(({ status }) => healthStatuses.indexOf(status));
  return healthStatuses[Math.max(...ranks)] ?? 'failed';
}

/** Degraded still serves; starting and failed do not. */
export function isReady(health: Health): boolean {
  return health.status === 'ok' || health.status === 'degraded';
}
