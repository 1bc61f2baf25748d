import { describe, expect, it } from 'vitest';
import { findQuote } from '../../src/memory/spans.ts';

describe('a quote', () => {
  it('is found whatever characters it holds', () => {
    for (const code of Array.from({ length: 0x250 }, (_, index) => index).filter((index) => index > 0x20)) {
      const character = String.fromCodePoint(code);
      if (character.trim() === '') continue;
      expect(findQuote(`say a${character}b now`, `a${character}b`), character).toEqual([[4, 7]]);
    }
  });

  it('is found with other blanks and quotation marks', () => {
    expect(findQuote('He said “well -\n done” twice', '"well - done"')).toEqual([[8, 22]]);
  });
});
