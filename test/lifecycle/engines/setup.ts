import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../../../src/config/schema.ts';
import type { Claim, ClaimedEpisode } from '../../../src/lifecycle/consolidation/claim.ts';
import type { EngineName } from '../../../src/lifecycle/consolidation/run.ts';
import { EngineError } from '../../../src/lifecycle/consolidation/engine.ts';
import { testConfig } from '../../support/config.ts';

type Consolidation = Config['memory']['consolidation'];

interface Overrides extends Partial<Omit<Consolidation, 'llm' | 'command'>> {
  llm?: Partial<Consolidation['llm']>;
  command?: Partial<Consolidation['command']>;
}

/** The test configuration with other values in the table of the consolidation. */
export function consolidationConfig({ llm, command, ...rest }: Overrides): Config {
  const config = testConfig();
  const { consolidation } = config.memory;
  return {
    ...config,
    memory: {
      ...config.memory,
      consolidation: {
        ...consolidation,
        ...rest,
        llm: { ...consolidation.llm, ...llm },
        command: { ...consolidation.command, ...command },
      },
    },
  };
}

/** A claim that was never made of the database: enough for an engine, which writes nothing. */
export function claimOf(contents: readonly string[], engine: EngineName = 'llm'): Claim {
  return {
    runId: uuidv7(),
    butler: 'health',
    worker: 'worker-1',
    engine,
    leaseExpiresAt: new Date('2026-03-01T12:05:00.000Z'),
    episodes: contents.map(episodeOf),
  };
}

function episodeOf(content: string, place: number): ClaimedEpisode {
  const createdAt = new Date(Date.UTC(2026, 1, 28, 9, place));
  return { id: uuidv7(), sessionId: null, content, segments: [], importance: 5, createdAt, observedAt: null };
}

/** What stands between the tags of a prompt, read back. */
export function dataOf(prompt: string, tag: string): Record<string, unknown>[] {
  const block = new RegExp(`^<${tag}>\n(.*?)^</${tag}>$`, 'ms').exec(prompt)?.[1] ?? 'none';
  const lines = block.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The error of an engine that must not have answered. */
export async function failureOf(work: Promise<unknown>): Promise<EngineError> {
  const error: unknown = await work.then(
    () => new Error('it answered'),
    (failure: unknown) => failure,
  );
  if (error instanceof EngineError) return error;
  throw error;
}

export const neverAborted: AbortSignal = new AbortController().signal;
