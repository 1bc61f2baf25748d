import type { Config } from '../../config/schema.ts';
import type { MemoryContext } from '../../memory/context.ts';

export type ModelSettings = Config['memory']['consolidation']['llm'];

export interface Tokens {
  input: number;
  output: number;
}

/** Dollars. */
function priceTokens({ input, output }: Tokens, { inputCostPerMillion, outputCostPerMillion }: ModelSettings): number {
  return (input * inputCostPerMillion + output * outputCostPerMillion) / 1_000_000;
}

/**
 * Why one more request of this size, at most, must not be made today; null when it may. What a run has cost that is under
 * way or lost is not known: it counts as a request of the largest size, so that the limit holds among processes too.
 */
export async function findCostObstacle(
  context: MemoryContext,
  next: Tokens,
  exceptRun: string | null,
): Promise<string | null> {
  const { llm, maxPromptTokens } = context.config.memory.consolidation;
  const { maxCostPerDayUsd: ceiling } = llm;
  if (ceiling === undefined) return null;
  const { tokens, unsettledRuns } = await readSpending(context, exceptRun);
  const largest = priceTokens({ input: maxPromptTokens, output: llm.maxOutputTokens }, llm);
  const spent = priceTokens(tokens, llm) + unsettledRuns * largest;
  const more = priceTokens(next, llm);
  if (spent + more <= ceiling) return null;
  return (
    `the day's limit is reached: max_cost_per_day_usd is ${dollars(ceiling)}, ${dollars(spent)} are spent, ` +
    `and one more request may cost ${dollars(more)}`
  );
}

async function readSpending(
  context: MemoryContext,
  exceptRun: string | null,
): Promise<{ tokens: Tokens; unsettledRuns: number }> {
  const midnight = new Date(context.now());
  midnight.setUTCHours(0, 0, 0, 0);
  const { rows } = await context.db.database.queueQuery('SELECT * FROM consolidation_spending($1, $2)', [
    midnight,
    exceptRun,
  ]);
  const [row] = rows as { input_tokens: string; output_tokens: string; unsettled_runs: string }[];
  return {
    tokens: { input: Number(row?.input_tokens ?? 0), output: Number(row?.output_tokens ?? 0) },
    unsettledRuns: Number(row?.unsettled_runs ?? 0),
  };
}

function dollars(amount: number): string {
  return `$${Number(amount.toFixed(4))}`;
}
