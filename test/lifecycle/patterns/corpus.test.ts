import { describe, expect, it } from 'vitest';
import { readEpisode } from '../../../src/lifecycle/consolidation/engines/patterns/read-episode.ts';
import { heldBack } from './corpus/held-back.ts';
import type { CorpusPart, LabelledText } from './corpus/labelled-text.ts';
import { day, findMissed } from './corpus/score.ts';
import { writtenFirst } from './corpus/written-first.ts';
import { writtenLast } from './corpus/written-last.ts';
import { writtenSecond } from './corpus/written-second.ts';

const parts = [writtenFirst, writtenSecond, writtenLast, heldBack];

function textsOf({ statements, decoys, foreign }: CorpusPart): LabelledText[] {
  return [...statements, ...decoys, ...foreign];
}

describe('the reader, on a corpus of labelled episodes,', () => {
  it('finds at least 90 of 100 of what is labelled', () => {
    const statements = parts.flatMap((part) => part.statements);
    const labels = statements.flatMap(([, ...those]) => those).length;
    const missed = findMissed(statements);

    expect(missed.length / labels, missed.join('\n')).toBeLessThanOrEqual(0.1);
  });

  it.each(parts.flatMap(({ foreign }) => foreign))('learns no rule and no fact from what others wrote: %s', (text) => {
    expect(readEpisode(text, day)).toEqual([]);
  });

  it('learns nothing from what others wrote when the user speaks before it', () => {
    for (const [text] of parts.flatMap(({ foreign }) => foreign)) {
      const found = readEpisode(`User: I live in Lisbon. What does this mean?\n${text}`, day);
      expect(
        found.map(({ statement }) => statement.says),
        text,
      ).not.toContain('rule');
      expect(
        found.filter(({ quote }) => quote !== 'I live in Lisbon.'),
        text,
      ).toEqual([]);
    }
  });

  it('quotes verbatim', () => {
    for (const [text] of parts.flatMap(textsOf)) {
      for (const { quote } of readEpisode(text, day)) {
        expect(text).toContain(quote);
        expect(quote.trim()).not.toBe('');
      }
    }
  });
});
