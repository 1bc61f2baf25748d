import type { ConsolidationEngine } from '../../../src/lifecycle/consolidation/engine.ts';
import type { ConsolidationOutput } from '../../../src/lifecycle/consolidation/output.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';

/** Has an engine read one episode, and stores nothing. */
export async function propose(
  context: MemoryContext,
  engine: ConsolidationEngine,
  content: string,
  observedAt: string,
): Promise<ConsolidationOutput> {
  const at = new Date(observedAt);
  const episode = {
    id: 'episode',
    sessionId: null,
    content,
    segments: [],
    importance: 5,
    createdAt: at,
    observedAt: at,
  };
  const claim = { runId: 'run', butler: 'home', worker: 'bench', engine: engine.name, leaseExpiresAt: at };
  const { output } = await engine.extract(context, { ...claim, episodes: [episode] }, new AbortController().signal);
  return output as ConsolidationOutput;
}
