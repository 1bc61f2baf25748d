import type { Candidate } from '../../db/queries/candidate.ts';

/** The memories just before each memory, by its id: of those that were learned from the same episode. */
export type Preceding = ReadonlyMap<string, readonly Candidate[]>;

/**
 * Finds what stands just before each candidate in the episodes that they were learned from. "New place from Saturday:
 * Solvoll" does not say of what: what was said just before it does.
 */
export function findPreceding(candidates: readonly Candidate[]): Preceding {
  const learned = new Map<string, { start: number; memory: Candidate }[]>();
  for (const memory of candidates)
    for (const [episode, start] of memory.sources ?? [])
      learned.set(episode, [...(learned.get(episode) ?? []), { start, memory }]);
  const preceding = new Map<string, Candidate[]>();
  for (const memories of learned.values()) {
    const ordered = memories.toSorted((a, b) => a.start - b.start);
    for (const [place, { start, memory }] of ordered.entries()) {
      const before = ordered[place - 1];
      // Two of one sentence: neither is before the other.
      if (before === undefined || before.start === start || before.memory === memory) continue;
      preceding.set(memory.id, [...(preceding.get(memory.id) ?? []), before.memory]);
    }
  }
  return preceding;
}
