import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileSchema } from '../../src/config/schema.ts';
import { fitBudget, type Fitted, type Line } from '../../src/retrieval/pipeline/fit.ts';
import type { SectionName } from '../../src/retrieval/context/sections.ts';
import { loadTokenizer, type Tokenizer } from '../../src/retrieval/context/tokenizers.ts';
import { testConfig } from '../support/config.ts';

const settings = testConfig().memory.retrieval.context;
const tokenizer = await loadTokenizer(testConfig());

const line = (text: string, isReserved = false): Line => ({
  text,
  longest: text.length,
  isReserved,
  isCrowded: false,
  isAside: false,
});
const words = (count: number, first = 'tea'): Line =>
  line(`- ${[first, ...Array<string>(count).fill('so')].join(' ')}`);

function fit(
  lines: Partial<Record<SectionName, Line[]>>,
  budget: number,
  shares: Partial<typeof settings> = {},
  by: Tokenizer = tokenizer,
): Fitted<Line> {
  return fitBudget({ facts: [], rules: [], episodes: [], ...lines }, budget, { ...settings, ...shares }, by, true);
}

const textsOf = ({ shown }: Fitted<Line>, name: SectionName): string[] => shown[name].map(({ line: { text } }) => text);

describe('fitting a block into a budget', () => {
  it('never exceeds it, for any text and any budget', () => {
    const anyLine = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => line(`- ${text.replace(/\s/gu, ' ')}`));
    const lines = fc.array(anyLine, { maxLength: 8 });
    const property = fc.property(lines, lines, lines, fc.nat(400), (facts, rules, episodes, budget) => {
      const { text, tokensUsed } = fit({ facts, rules, episodes }, budget);
      expect(tokensUsed).toBe(tokenizer.count(text));
      expect(tokensUsed).toBeLessThanOrEqual(budget);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('holds even for a tokenizer whose whole is more than its parts', () => {
    const strange: Tokenizer = {
      name: 'model',
      count: (text) => text.length + text.split('\n').length ** 2,
      countWithin: (text, most) => (text.length > most ? null : text.length),
    };
    const facts = Array.from({ length: 20 }, (_, place) => words(5, `tea${place}`));
    const { text, shown, dropped } = fit({ facts }, 1000, {}, strange);

    expect(strange.count(text)).toBeLessThanOrEqual(1000);
    expect(shown.facts.length).toBeGreaterThan(0);
    expect(shown.facts.length + dropped.length).toBe(20);
    expect(textsOf({ shown } as Fitted<Line>, 'facts')).toEqual(
      facts.slice(0, shown.facts.length).map(({ text: shownText }) => shownText),
    );
  });

  it('gives each section its share when all want more', () => {
    const many = Array.from({ length: 200 }, () => words(8));
    const { shown } = fit({ facts: many, rules: many, episodes: many }, 1000);
    const tokens = (name: SectionName): number => shown[name].reduce((sum, one) => sum + one.tokens, 0);

    expect(tokens('facts') / 1000).toBeCloseTo(0.5, 1);
    expect(tokens('rules') / 1000).toBeCloseTo(0.3, 1);
    expect(tokens('episodes') / 1000).toBeCloseTo(0.2, 1);
  });

  it('gives what is left to facts first, then to rules, then to episodes', () => {
    const many = Array.from({ length: 200 }, () => words(8));
    const few = [words(8)];
    const counts = (lines: Partial<Record<SectionName, Line[]>>): number[] => {
      const { shown } = fit(lines, 1000);
      return [shown.facts.length, shown.rules.length, shown.episodes.length];
    };
    const [facts = 0, rules = 0, episodes = 0] = counts({ facts: many, rules: many, episodes: many });
    const [moreFacts = 0, ownRules] = counts({ facts: many, rules: many, episodes: few });
    const [, moreRules = 0, ownEpisodes] = counts({ facts: few, rules: many, episodes: many });
    const [, , moreEpisodes = 0] = counts({ facts: few, rules: few, episodes: many });

    expect(moreFacts).toBeGreaterThan(facts);
    expect(ownRules).toBe(rules);
    expect(moreRules).toBeGreaterThan(rules);
    expect(ownEpisodes).toBe(episodes);
    expect(moreEpisodes).toBeGreaterThan(episodes);
  });

  it('uses what the shares leave out of the whole', () => {
    const many = Array.from({ length: 200 }, () => words(8));
    const { tokensUsed } = fit({ facts: many }, 1000, { factsShare: 0.1, rulesShare: 0, episodesShare: 0 });

    expect(tokensUsed).toBeGreaterThan(950);
  });

  it('skips a line that is too long and tries those after it', () => {
    const { shown, dropped } = fit({ facts: [words(5, 'first'), words(500, 'long'), words(5, 'last')] }, 120);

    expect(shown.facts.map(({ line: { text } }) => text.slice(2, 7))).toEqual(['first', 'last ']);
    expect(dropped).toMatchObject([{ stage: 'too_long' }]);
  });

  it('drops the lowest-ranked lines first', () => {
    const facts = Array.from({ length: 30 }, (_, place) => words(8, `tea${place}`));
    const result = fit({ facts }, 200);
    const expected = facts.slice(0, result.shown.facts.length).map(({ text }) => text);

    expect(result.shown.facts.length).toBeGreaterThan(2);
    expect(textsOf(result, 'facts')).toEqual(expected);
    expect(result.dropped.every(({ stage }) => stage === 'budget')).toBe(true);
  });

  it('shows reserved lines within their share, however low they rank', () => {
    const usual = Array.from({ length: 100 }, () => words(8));
    const reserved = Array.from({ length: 100 }, () => line(words(8, 'me').text, true));
    const { shown } = fit({ facts: [...usual, ...reserved], rules: usual, episodes: usual }, 1000);
    const count = shown.facts.filter(({ line: { isReserved } }) => isReserved).length;

    expect(count / shown.facts.length).toBeGreaterThan(0.25);
    expect(count / shown.facts.length).toBeLessThan(0.45);
  });

  it('lets crowded lines wait for what the others leave, and keeps their place', () => {
    const crowded = (count: number): Line[] =>
      Array.from({ length: count }, (_, place) => ({ ...words(8, `tea${place}`), isCrowded: place > 0 }));
    const others = Array.from({ length: 100 }, (_, place) => words(8, `milk${place}`));
    const full = fit({ facts: [...crowded(100), ...others], rules: others, episodes: others }, 1000);
    const roomy = fit({ facts: [...crowded(3), words(8, 'milk')] }, 1000);

    expect(textsOf(full, 'facts').filter((text) => text.includes('tea'))).toEqual([words(8, 'tea0').text]);
    expect(full.dropped[0]).toMatchObject({ stage: 'cluster' });
    expect(textsOf(roomy, 'facts').map((text) => text.split(' ')[1])).toEqual(['tea0', 'tea1', 'tea2', 'milk']);
  });

  it('leaves out a text without any break, which would take seconds to count', () => {
    for (const text of ['漢'.repeat(20_000), '!'.repeat(20_000), '😀'.repeat(9000)]) {
      expect(fit({ facts: [line(`- ${text}`), words(3)] }, 100_000)).toMatchObject({
        shown: { facts: [{ line: words(3) }] },
        dropped: [{ stage: 'too_long', reason: expect.stringContaining('without a blank') as string }],
      });
    }
  });
});

describe('the shares of a context', () => {
  const isAccepted = (context: object): boolean =>
    fileSchema.safeParse({ butler: { memory: { retrieval: { context } } } }).success;

  it('are refused when they sum to more than the whole', () => {
    expect(isAccepted({ facts_share: 0.5, rules_share: 0.3, episodes_share: 0.2 })).toBe(true);
    expect(isAccepted({ facts_share: 0.1, rules_share: 0, episodes_share: 0 })).toBe(true);
    expect(isAccepted({ facts_share: 0.6 })).toBe(false);
  });
});
