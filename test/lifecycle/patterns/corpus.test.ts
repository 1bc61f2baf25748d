import { describe, expect, it } from 'vitest';
import { readEpisode } from '../../../src/lifecycle/consolidation/engines/patterns/read-episode.ts';
import { heldBack } from './corpus/held-back.ts';
import type { CorpusPart, LabelledText } from './corpus/labelled-text.ts';
import { addScores, day, precisionOf, recallOf, scoreTexts, type Score } from './corpus/score.ts';
import { writtenFirst } from './corpus/written-first.ts';
import { writtenLast } from './corpus/written-last.ts';
import { writtenSecond } from './corpus/written-second.ts';

const parts = [writtenFirst, writtenSecond, writtenLast, heldBack];

function textsOf({ statements, decoys, foreign }: CorpusPart): LabelledText[] {
  return [...statements, ...decoys, ...foreign];
}

function scoreOf(part: CorpusPart): Score {
  return scoreTexts(textsOf(part));
}

describe('the patterns, on a corpus of labelled episodes,', () => {
  it('have a corpus that is large enough, and half of it without anything to find', () => {
    const texts = parts.flatMap(textsOf);
    const withNothing = texts.filter(([, ...labels]) => labels.length === 0);

    expect(texts.length).toBeGreaterThanOrEqual(400);
    expect(withNothing.length).toBeGreaterThanOrEqual(0.45 * texts.length);
    expect(parts.flatMap(({ foreign }) => foreign).length).toBeGreaterThanOrEqual(60);
    expect(new Set(texts.map(([text]) => text)).size).toBe(texts.length);
  });

  it('are right in at least 95 of 100 of what they find', () => {
    const score = addScores(parts.map(scoreOf));

    expect(score.right).toBeGreaterThan(200);
    expect(precisionOf(score), score.wrong.join('\n')).toBeGreaterThanOrEqual(0.95);
  });

  it.each([
    ['that was written first', writtenFirst, 0.98],
    ['that was written second', writtenSecond, 0.98],
    ['that was written last', writtenLast, 0.85],
    ['that was held back', heldBack, 0.75],
  ] as const)('find as much as was recorded in the part %s', (_name, part, floor) => {
    const score = scoreOf(part);

    expect(precisionOf(score), score.wrong.join('\n')).toBeGreaterThanOrEqual(0.95);
    expect(recallOf(score), score.missed.join('\n')).toBeGreaterThanOrEqual(floor);
  });

  it.each(parts.flatMap(({ foreign }) => foreign))('learn no rule and no fact from what others wrote: %s', (text) => {
    expect(readEpisode(text, day)).toEqual([]);
  });

  it('learn nothing from what others wrote when the user speaks before it', () => {
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

  it('quote verbatim', () => {
    for (const [text] of parts.flatMap(textsOf)) {
      for (const { quote } of readEpisode(text, day)) {
        expect(text).toContain(quote);
        expect(quote.trim()).not.toBe('');
      }
    }
  });
});
