import { Prisma } from '../../generated/prisma/client.ts';

export interface SearchSettings {
  /** Null when every row is read. */
  indexScan: { most: number; hasIterativeScan: boolean } | null;
  /** Whether the filter leaves a part of the rows that only the planner can estimate. */
  isNarrow: boolean;
}

/**
 * Sets what the planner cannot know. A statement is planned once for every tenant, with ten memories or a million: so rows
 * are found by an index, the nearest by that of their vectors and never by sorting all of them. With a filter that narrows,
 * either may be better, and the statement is planned each time. Just-in-time compilation takes longer than these
 * statements, and tables are in memory.
 */
export function setSearch({ indexScan, isNarrow }: SearchSettings): Prisma.Sql {
  const settings: Record<string, string> = {
    jit: 'off',
    random_page_cost: '1',
    plan_cache_mode: isNarrow ? 'force_custom_plan' : 'force_generic_plan',
    enable_seqscan: isNarrow ? 'on' : 'off',
    enable_sort: isNarrow ? 'on' : 'off',
  };
  if (indexScan !== null) {
    settings['hnsw.ef_search'] = String(Math.min(1000, Math.max(40, indexScan.most)));
    if (indexScan.hasIterativeScan) {
      // A filter cannot starve an iterative scan. Relaxed, because ranking orders candidates anyway, and a scan that
      // keeps its own order drops near ones that it meets late.
      settings['hnsw.iterative_scan'] = 'relaxed_order';
      settings['hnsw.max_scan_tuples'] = '200000';
    }
  }
  const set = Object.entries(settings).map(([name, value]) => Prisma.sql`set_config(${name}, ${value}, true)`);
  return Prisma.sql`SELECT ${Prisma.join(set)}`;
}
