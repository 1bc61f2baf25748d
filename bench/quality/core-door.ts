import type { MemoryContext } from '../../src/memory/context.ts';
import { ingestEpisodes } from '../../src/memory/episodes/episodes.ts';
import { storeFact } from '../../src/memory/facts/facts.ts';
import { storeRule } from '../../src/memory/rules/rules.ts';
import { searchMemories } from '../../src/retrieval/search.ts';
import type { QualityDoor } from './ask.ts';

/** The same without a server. */
export function createCoreDoor(context: MemoryContext): QualityDoor {
  return {
    storeFact: async ({ subject, predicate, content, scope }) =>
      (await storeFact(context, { subject, predicate, content, scope })).value.id,
    storeRule: async ({ content }) => (await storeRule(context, { content })).value.id,
    storeSession: async ({ sessionId, episodes }) => {
      const inputs = episodes.map(({ butler, content, observedAt }) => ({ butler, content, observedAt, sessionId }));
      return (await ingestEpisodes(context, inputs)).value.map(({ id }) => id);
    },
    search: async ({ text, scope }, mode, limit) => {
      const { results } = await searchMemories(context, { query: text, mode, limit, scope });
      return results.map(({ memory }) => memory.row.id);
    },
  };
}
