import { hostname } from 'node:os';
import { v7 as uuidv7 } from 'uuid';
import { isOutage, MemoryError } from '../../shared/errors.ts';
import type { ConsolidationRun } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import type { SweepOptions, SweepReport } from '../sweep.ts';
import { applyOutput } from './apply.ts';
import { claimEpisodes, countDue, countWaiting, type Claim } from './claim.ts';
import { EngineError, type ConsolidationEngine } from './engine.ts';
import { createEngine } from './engines/create-engine.ts';
import { failRun, releaseRun, type FailedRun, type RunFailure } from './fail.ts';
import { untilAborted, withLease } from './lease.ts';
import type { Usage } from './run.ts';

/** Identifies this process in its runs. */
const worker = `${hostname()}:${process.pid}:${uuidv7()}`;

/** Turns due episodes into facts and rules with the configured engine. Without one nothing is claimed. */
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

/** After this many failures in a row a butler waits for the next sweep: the cause is not one episode. */
const mostFailuresInARow = 3;

/**
 * Consolidates claim after claim until as many episodes are done as were due at the start, the signal is aborted or the
 * engine cannot work. Episodes that are stored meanwhile are left to the next sweep, or a busy butler would never let this
 * one end. A failure stops no other claim. If the episodes of a butler cannot be claimed, the sweep fails at its end.
 */
export async function consolidateWith(
  context: MemoryContext,
  engine: ConsolidationEngine,
  { signal, progress, rest }: Pick<SweepOptions, 'signal' | 'progress' | 'rest'>,
): Promise<SweepReport> {
  const report = emptyReport();
  const failures = new Map<string, number>();
  const exceptButlers = new Set<string>();
  const exceptEpisodes = new Set<string>();
  const unclaimed: unknown[] = [];
  const failed = (butler: string, error: unknown): void => {
    exceptButlers.add(butler);
    unclaimed.push(error);
  };
  let total: number | null = null;
  while ((total === null || report.episodes < total) && (await mayGoOn(context, engine, report, signal))) {
    const startedAt = performance.now();
    const claim = await claimEpisodes(context, {
      engine: engine.name,
      worker,
      exceptButlers,
      exceptEpisodes,
      failed,
    });
    if (claim === null) break;
    // Counted after the claim, which first gives back the episodes of lost runs.
    total ??= claim.episodes.length + (await countWaiting(context));
    const outcome = await runEngine(context, engine, claim, signal);
    tally(report, outcome);
    if (outcome === 'released') break;
    const failuresInARow = isRun(outcome) ? 0 : (failures.get(claim.butler) ?? 0) + 1;
    failures.set(claim.butler, failuresInARow);
    if (failuresInARow >= mostFailuresInARow || outcome === 'stuck') exceptButlers.add(claim.butler);
    if (isFailure(outcome)) for (const id of outcome.stuck) exceptEpisodes.add(id);
    progress?.(report.episodes, Math.max(total, report.episodes));
    await rest?.(performance.now() - startedAt);
  }
  if (unclaimed.length > 0) throw unclaimed[0];
  return { ...report };
}

async function mayGoOn(
  context: MemoryContext,
  engine: ConsolidationEngine,
  report: Report,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (signal?.aborted === true) return false;
  const obstacle = (await engine.findObstacle?.(context)) ?? null;
  if (obstacle === null) return true;
  report.waiting = await countWaiting(context);
  context.logger.warn(
    { engine: engine.name, obstacle, waiting: report.waiting },
    'consolidation: the engine cannot work',
  );
  return false;
}

type Report = ReturnType<typeof emptyReport>;

// oxlint-disable-next-line typescript/explicit-function-return-type -- the type is that of the literal
function emptyReport() {
  return {
    runs: 0,
    episodes: 0,
    factsCreated: 0,
    factsUpdated: 0,
    rulesCreated: 0,
    confirmations: 0,
    linksCreated: 0,
    refused: 0,
    failedRuns: 0,
    lostRuns: 0,
    /** Episodes that were passed over because they could not be written. */
    failed: 0,
    waiting: 0,
  };
}

function tally(report: Report, outcome: Outcome): void {
  report.runs++;
  if (outcome === 'released' || outcome === 'stuck') report.failedRuns++;
  else if (outcome === 'lost') report.lostRuns++;
  else if (isFailure(outcome)) {
    report.failedRuns++;
    report.failed += outcome.stuck.length;
  } else {
    report.episodes += outcome.episodeCount;
    for (const name of countNames) report[name] += outcome[name];
    report.refused += (outcome.refusedItems as unknown[]).length;
  }
}

const countNames = ['factsCreated', 'factsUpdated', 'rulesCreated', 'confirmations', 'linksCreated'] as const;

/** What became of a run: its record if it succeeded, `stuck` when not even its end could be written. */
type Outcome = ConsolidationRun | FailedRun | 'lost' | 'released' | 'stuck';

function isFailure(outcome: Outcome): outcome is FailedRun {
  return typeof outcome === 'object' && 'stuck' in outcome;
}

function isRun(outcome: Outcome): outcome is ConsolidationRun {
  return typeof outcome === 'object' && !('stuck' in outcome);
}

async function runEngine(
  context: MemoryContext,
  engine: ConsolidationEngine,
  claim: Claim,
  outerSignal: AbortSignal | undefined,
): Promise<Outcome> {
  let usage: Usage | undefined;
  const work = async (signal: AbortSignal): Promise<ConsolidationRun> => {
    const { output, ...details } = await untilAborted(engine.extract(context, claim, signal), signal);
    usage = details;
    return (await applyOutput(context, claim.runId, output, details)).value;
  };
  try {
    return await withLease(context, claim, work, outerSignal);
  } catch (error) {
    return endRun(context, claim, { error, usage, isStopping: outerSignal?.aborted === true });
  }
}

interface Ending {
  error: unknown;
  usage: Usage | undefined;
  isStopping: boolean;
}

/** Records the end of a run that did not succeed. After a lost lease the episodes are another worker's. */
async function endRun(context: MemoryContext, claim: Claim, ending: Ending): Promise<Outcome> {
  const { error, isStopping } = ending;
  const { runId, butler } = claim;
  try {
    if (isLost(error)) return 'lost';
    if (isStopping) {
      await releaseRun(context, runId, { reason: 'the server stopped', usage: ending.usage });
      return 'released';
    }
    if (error instanceof EngineError && error.isUnavailable) {
      await releaseRun(context, runId, { reason: error.message, usage: error.usage });
      const reason = createRedactor(context).mask(error.message);
      context.logger.warn({ runId, butler, reason }, 'consolidation: the engine cannot work');
      return 'released';
    }
    const { value: failed } = await failRun(context, runId, describeFailure(context, claim, ending));
    context.logger.warn({ runId, butler, reason: failed.run.error }, 'consolidation: a run failed');
    return failed;
  } catch (failure) {
    if (isLost(failure)) return 'lost';
    if (isOutage(failure)) throw failure;
    context.logger.error({ err: failure, runId, butler }, 'could not write the end of a consolidation run');
    return 'stuck';
  }
}

function isLost(error: unknown): boolean {
  return error instanceof MemoryError && error.code === 'CONFLICT';
}

function describeFailure(context: MemoryContext, claim: Claim, { error, usage }: Ending): RunFailure {
  if (error instanceof EngineError) {
    const { message: reason, retryable, retryAfterMs } = error;
    return { reason, retryable, retryAfterMs, usage: error.usage ?? usage };
  }
  if (error instanceof MemoryError) return { reason: error.message, retryable: true, usage };
  // The message may contain anything, so it goes to the log and not to the table, which callers can read.
  context.logger.error({ err: error, runId: claim.runId, butler: claim.butler }, 'consolidation: an unexpected error');
  return { reason: 'an unexpected error, which the log of the server describes', retryable: true, usage };
}
