import type { MemoryContext } from '../../memory/context.ts';
import type { SweepOptions, SweepReport } from '../sweep.ts';
import { consolidateWith } from './consolidate-with.ts';
import { countDue, countWaiting } from './due.ts';
import { createEngine } from './engines/create-engine.ts';

/** Turns what is due into facts and rules, with the configured engine. Without one nothing is leased. */
export async function sweepConsolidation(context: MemoryContext, options: SweepOptions): Promise<SweepReport> {
  if (options.dryRun) return reportDue(context);
  const engine = createEngine(context.config);
  if (engine !== undefined) return consolidateWith(context, engine, options);
  const report = { waiting: await countWaiting(context) };
  const { engine: name } = context.config.memory.consolidation;
  context.logger.info({ engine: name, ...report }, 'consolidation: this server has no engine; nothing is claimed');
  return report;
}

async function reportDue(context: MemoryContext): Promise<SweepReport> {
  const counts = await countDue(context);
  const byButler = counts.map(({ butler, episodes }): [string, number] => [`due:${butler}`, episodes]);
  return { due: counts.reduce((sum, { episodes }) => sum + episodes, 0), ...Object.fromEntries(byButler) };
}
