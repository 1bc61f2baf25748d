import type { MemoryContext } from '../../memory/context.ts';
import type { FactValues } from '../../memory/facts/fact-values.ts';
import { readsAsNote } from '../../memory/facts/note-key.ts';
import { listOutdatedFacts, type SaidEpisode } from '../../memory/outdated/find-outdated.ts';
import { findSayings, readText } from '../../memory/outdated/says.ts';
import { Refusal } from './output.ts';

type StatedValues = Pick<FactValues, 'subject' | 'predicate' | 'content'>;

export interface OutdatedGuard {
  /** Throws for a fact that says, under whatever name, what was forgotten after its evidence was observed. */
  requireCurrent(values: StatedValues, evidence: readonly string[]): void;
}

/**
 * Loads what was forgotten or superseded and may be said in episodes. What was forgotten is not learned again from anything
 * said before; of what was superseded, no note is kept. Said anew later, both are news.
 */
export async function loadOutdated(
  context: MemoryContext,
  butler: string,
  episodes: ReadonlyMap<string, SaidEpisode>,
): Promise<OutdatedGuard> {
  const facts = await listOutdatedFacts(context, butler, [...episodes.values()]);
  return {
    requireCurrent(values, evidence) {
      const saidAt = findLastSaid(episodes, evidence);
      const text = readText(toSentence(values));
      for (const fact of facts) {
        const endedAt = fact.endedAt ?? 0;
        const isMeant = fact.isForgotten ? endedAt >= saidAt : endedAt > saidAt && readsAsNote(values);
        if (!isMeant || findSayings(text, fact).length === 0) continue;
        const what = fact.isForgotten ? 'forgotten' : 'superseded';
        throw new Refusal(`content: the same fact was ${what} after this was observed`);
      }
    },
  };
}

function toSentence({ subject, predicate, content }: StatedValues): string {
  const text = readsAsNote({ subject, predicate })
    ? content
    : `${subject} ${predicate.replaceAll('_', ' ')} ${content}`;
  // One sentence: it is one statement.
  return text.replace(/[.!?;\n]+(?=\s|$)/gu, ',');
}

function findLastSaid(episodes: ReadonlyMap<string, SaidEpisode>, evidence: readonly string[]): number {
  const moments = evidence.map((id) => {
    const episode = episodes.get(id);
    return (episode?.observedAt ?? episode?.createdAt)?.getTime() ?? 0;
  });
  return Math.max(...moments);
}
