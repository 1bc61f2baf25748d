import { describe, expect, it } from 'vitest';
import {
  characterLimit,
  ownSentences,
  sentenceLimit,
} from '../../../src/lifecycle/consolidation/engines/patterns/own-speech.ts';
import { readEpisode } from '../../../src/lifecycle/consolidation/engines/patterns/read-episode.ts';
import { day } from './corpus/score.ts';

const megabyte = 1_000_000;
const pieces = [
  'a',
  ' ',
  '\n',
  '.',
  '. ',
  '"',
  '`',
  ', ',
  'and ',
  'I ',
  'User ',
  'my ',
  'the ',
  'The Aa ',
  'Aa-',
  'not ',
  'user said that ',
  'I like a and ',
  'I live in A ',
  'my sister A ',
  'always use ',
  'whenever I ',
  'if ',
  ':',
  'a: ',
  '[',
  '{ "',
  '<a',
  '- ',
  '> ',
  '    ',
  "'",
  'é',
  '👍',
  '\u0301',
  'every day ',
  'next week ',
  'I am allergic to a, ',
  'the email ',
  'remember that ',
  'actually, ',
  'prefers a over ',
];

describe('a hostile text', () => {
  // A pattern that backtracks without end would not come back before the time limit of a test.
  it.each(pieces)('of a megabyte of %j is read to its end', (piece) => {
    const text = piece.repeat(Math.ceil(megabyte / piece.length));
    const sentence = piece.repeat(Math.floor(380 / piece.length));

    expect(readEpisode(text, day).length).toBeLessThan(characterLimit);
    for (const before of [
      'I live in ',
      'User said that she likes ',
      'My sister ',
      'Always use ',
      'User: I am a ',
      'From now on, ',
    ]) {
      expect(readEpisode(`${before}${sentence}!`, day).length).toBeLessThan(sentenceLimit);
      expect(readEpisode(before + text, day).length).toBeLessThan(characterLimit);
    }
  });

  it('is read as far as the limit, and what stands there is found', () => {
    const filler = 'Nothing of note. '.repeat(1000);

    const read = (text: string): string[] => readEpisode(text, day).map(({ statement }) => statement.content);
    expect(read(`${filler}I live in Lisbon.`)).toContain('User lives in Lisbon');
    expect(read(`${filler.repeat(3)}I live in Lisbon.`)).toEqual(['Nothing of note']);
  });

  it('of one sentence that is too long says nothing', () => {
    expect(ownSentences(`I live in Lisbon ${'and so on '.repeat(50)}`)).toEqual([]);
  });
});
