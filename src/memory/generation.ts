import type { Config } from '../config/schema.ts';
import type { Permanence } from './confidence.ts';
import type { Maturity } from './rules/rule-maturity.ts';

export const generations = ['eden', 'mid', 'long'] as const;
export type Generation = (typeof generations)[number];

export type Generational =
  | { type: 'episode' }
  | { type: 'fact'; permanence: Permanence }
  | { type: 'rule'; maturity: Maturity };

/** Derived, never stored: a second copy of what type, permanence and maturity say already would one day disagree. */
export function generationOf(memory: Generational): Generation {
  if (memory.type === 'episode') return 'eden';
  if (memory.type === 'rule') return memory.maturity === 'proven' ? 'long' : 'mid';
  return memory.permanence === 'permanent' || memory.permanence === 'stable' ? 'long' : 'mid';
}

/** How many memories of a generation one butler may have before the least recently referenced go. */
export function capacityPerButler(generation: Generation, memory: Config['memory']): number {
  return memory[generation].maxEntries;
}

/** How many episodes one tenant may have, over all its butlers. */
export function episodeCapacityPerTenant({ episodes }: Config['memory']): number {
  return episodes.maxEntries;
}
