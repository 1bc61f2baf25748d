import { MemoryError } from '../../shared/errors.ts';
import type { ConsolidationRun } from '../../generated/prisma/client.ts';
import { nameActor, type MemoryContext } from '../../memory/context.ts';
import { createReport, mutate, type Written } from '../../memory/mutation.ts';
import { authorize } from '../../memory/permissions.ts';
import { applyOutput } from './apply.ts';
import { claimEpisodes, type Claim } from './claim.ts';
import { failEpisodes } from './episode-states.ts';
import { failRun } from './fail.ts';
import { parseOutput } from './output.ts';
import { buildPrompt, type ConsolidationPrompt } from './prompt.ts';
import { changeRun, finishRun, getRun, lockRunningRun } from './run.ts';

export interface AgentClaimInput {
  butler?: string | null | undefined;
  limit?: number | null | undefined;
}

export interface AgentClaim {
  claim: Claim;
  prompt: ConsolidationPrompt;
}

/**
 * Claims episodes for an agent that does the work itself, with the prompt for its model. Episodes that do not fit into the
 * prompt are given back at once. Returns null when nothing is due.
 */
export async function claimForAgent(
  context: MemoryContext,
  input: AgentClaimInput,
): Promise<Written<AgentClaim | null>> {
  authorize(context, 'mutation claimConsolidation');
  refuseIfOff(context);
  for (;;) {
    const claim = await claimEpisodes(context, { ...input, engine: 'agent', worker: nameActor(context) });
    if (claim === null) return { ...createReport(), value: null };
    const prompt = await buildPrompt(context, claim);
    const narrowed = await narrowClaim(context, claim, prompt);
    if (narrowed.episodes.length > 0)
      return { ...createReport(), eventId: claim.eventId, value: { claim: narrowed, prompt } };
  }
}

function refuseIfOff({ config }: MemoryContext): void {
  if (config.memory.consolidation.engine !== 'off') return;
  throw new MemoryError('INVALID_TRANSITION', 'consolidation is off here: nothing is claimed', {
    hint: 'Set butler.memory.consolidation.engine to "agent", or to an engine of the server.',
  });
}

async function narrowClaim(context: MemoryContext, claim: Claim, prompt: ConsolidationPrompt): Promise<Claim> {
  const { runId } = claim;
  const { episodeIds, tooLong } = prompt;
  const episodes = claim.episodes.filter(({ id }) => episodeIds.includes(id));
  if (episodes.length === claim.episodes.length) return claim;
  await mutate(context, async (mutation) => {
    const run = await lockRunningRun(mutation, runId);
    const reason = 'the episode is too long for a prompt';
    await failEpisodes(mutation, tooLong, { runId, reason, retryable: false });
    if (episodes.length === 0) return finishRun(mutation, run, 'failed', { error: reason });
    const values = { episodeIds: episodes.map(({ id }) => id), episodeCount: episodes.length };
    await changeRun(mutation, run, 'consolidation_run.narrowed', values);
  });
  return { ...claim, episodes };
}

/** Stores the output of an agent. Unusable output fails the run, as it does for every engine. */
export async function submitOutput(
  context: MemoryContext,
  runId: string,
  output: unknown,
): Promise<Written<ConsolidationRun>> {
  authorize(context, 'mutation submitConsolidation');
  const run = await getRun(context, runId);
  if (run.status === 'running') await failUnlessUsable(context, run.id, output);
  return applyOutput(context, run.id, output);
}

async function failUnlessUsable(context: MemoryContext, runId: string, output: unknown): Promise<void> {
  try {
    parseOutput(output);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    await failRun(context, runId, { reason: error.message, retryable: true });
    throw new MemoryError(error.code, error.message, {
      hint: 'The run has failed, and nothing of it was stored. Its episodes are tried again later: claim again.',
    });
  }
}
