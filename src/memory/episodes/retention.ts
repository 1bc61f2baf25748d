import type { Config } from '../../config/schema.ts';
import { settingsOfTenant } from '../../config/tenant-settings.ts';
import { millisecondsPerDay } from '../../shared/durations.ts';
import type { MemoryContext } from '../context.ts';

export type Retention = Config['retention'];

/** For how many days a tenant keeps what; without a number, for ever. */
export function retentionOf({ config, principal }: Pick<MemoryContext, 'config' | 'principal'>): Retention {
  return settingsOfTenant(config, principal.tenantId, 'retention');
}

/** The end of a span of life that retention may cut short. */
export function endOfLife(from: Date, days: number, most: number | undefined): Date {
  return new Date(from.getTime() + Math.min(days, most ?? days) * millisecondsPerDay);
}

/** What is from this moment or before has been kept long enough; null where it is kept for ever. */
export function keptSince(now: Date, days: number | undefined): Date | null {
  return days === undefined ? null : new Date(now.getTime() - days * millisecondsPerDay);
}
