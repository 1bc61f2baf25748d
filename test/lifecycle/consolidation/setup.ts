import { claimEpisodes, type Claim, type ClaimInput } from '../../../src/lifecycle/consolidation/claim.ts';
import type { ConsolidationEngine, Extraction } from '../../../src/lifecycle/consolidation/engine.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import type { Episode } from '../../../src/memory/episodes/episodes.ts';
import type { Config } from '../../../src/config/schema.ts';
import { testConfig } from '../../support/config.ts';
import type { TestCore } from '../../support/core.ts';
import { ingestEpisodes } from '../../support/writes.ts';

export type ConsolidationSettings = Partial<Config['memory']['consolidation']>;

export function configWith(settings: ConsolidationSettings): Config {
  const config = testConfig();
  const { memory } = config;
  return { ...config, memory: { ...memory, consolidation: { ...memory.consolidation, ...settings } } };
}

/** The same context with other settings of consolidation. */
export function setTo(context: MemoryContext, settings: ConsolidationSettings): MemoryContext {
  return { ...context, config: configWith(settings) };
}

/** One a second, so that their order is that of the texts. */
export async function observe(core: TestCore, butler: string, ...contents: string[]): Promise<Episode[]> {
  const start = core.clock.now;
  const episodes: Episode[] = [];
  for (const [second, content] of contents.entries()) {
    core.clock.now = new Date(start.getTime() + second * 1000);
    episodes.push(...(await ingestEpisodes(core.context(), [{ butler, content }])));
  }
  core.clock.now = start;
  return episodes;
}

export async function claimNext(context: MemoryContext, input: Partial<ClaimInput> = {}): Promise<Claim> {
  const claim = await claimEpisodes(context, { engine: 'agent', worker: 'test', ...input });
  if (claim === null) throw new Error('nothing is due');
  return claim;
}

export function scripted(
  extract: (claim: Claim, signal: AbortSignal) => Extraction | Promise<Extraction>,
): ConsolidationEngine {
  return { name: 'llm', extract: async (_context, claim, signal) => extract(claim, signal) };
}

/** What is quoted of an episode is all of it. */
export function evidenceOf(...episodes: { id: string; content: string }[]): { episode_id: string; quote: string }[] {
  return episodes.map(({ id, content }) => ({ episode_id: id, quote: content }));
}

export function passSeconds(core: TestCore, count: number): void {
  core.clock.now = new Date(core.clock.now.getTime() + count * 1000);
}
