import { readEpisode } from '../../../../src/lifecycle/consolidation/engines/patterns/read-episode.ts';
import type { LabelledText } from './labelled-text.ts';

export const day = new Date('2026-03-01T12:00:00.000Z');

/** The labels of texts that the reader does not find, before the judge: a rule or fact with the words of the label. */
export function findMissed(texts: readonly LabelledText[]): string[] {
  return texts.flatMap(([text, ...labels]) => {
    const found = readEpisode(text, day).map(({ statement }) => statement);
    return labels.filter((label) => {
      const parts = label.split(' | ');
      const words = (parts.at(-1) ?? '').toLowerCase();
      const isRule = parts.length === 2;
      return !found.some(({ says, content }) => (says === 'rule') === isRule && content.toLowerCase().includes(words));
    });
  });
}
