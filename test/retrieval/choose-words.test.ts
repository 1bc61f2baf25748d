import { expect, it } from 'vitest';
import { selectFrequentCounts, type LexemeCounts } from '../../src/db/sql/search-plan.ts';
import { storeEpisode } from '../../src/memory/episodes/episodes.ts';
import { chooseWords } from '../../src/retrieval/plan/choose-words.ts';
import { createStatistics, type CorpusStatistics } from '../../src/retrieval/plan/corpus-statistics.ts';
import { completeFilter } from '../../src/retrieval/filter.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { newTenant, useRetrieval } from './setup.ts';

const retrieval = useRetrieval();
const { config } = loadConfig({ env: {}, workingDirectory: '/', homeDirectory: '/' });
const weight = 1000;

/** A million memories. Of each word how many have it, and, if it was sampled, which rows of the sample do. */
function statisticsOf(words: Record<string, { documents: number; marks?: number[] }>): CorpusStatistics {
  const at = new Date();
  const counted = { fact: { documents: 1_000_000, lexemes: 10_000_000, estimate: 1_000_000 } };
  const statistics = createStatistics(counted, { ...completeFilter(retrieval.context(), {}), at });
  for (const [lexeme, { documents, marks }] of Object.entries(words)) {
    statistics.documentsWith.set(lexeme, documents);
    if (marks !== undefined) statistics.sampled.set(lexeme, [{ type: 'fact', marks: Uint16Array.from(marks), weight }]);
  }
  return statistics;
}

function togetherOf(statistics: CorpusStatistics, lexemes: string[]): string[] {
  return chooseWords(lexemes, statistics, config.memory.retrieval, 100)?.together?.split(' | ') ?? [];
}

const rows = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, place) => from + place);

it('asks for two frequent words together where few memories have both', () => {
  const statistics = statisticsOf({
    piano: { documents: 20_000, marks: rows(0, 20) },
    stool: { documents: 20_000, marks: rows(19, 39) },
  });

  expect(togetherOf(statistics, ['piano', 'stool'])).toEqual([`('piano' & 'stool')`]);
});

it('passes over two that are always met together, which chance would not tell', () => {
  const statistics = statisticsOf({
    piano: { documents: 20_000, marks: rows(0, 20) },
    stool: { documents: 20_001, marks: rows(0, 20) },
    receipt: { documents: 20_002, marks: [...rows(0, 1), ...rows(100, 119)] },
  });

  // Each pair with "receipt" stands for a thousand, and a second one would be more than is looked at.
  expect(togetherOf(statistics, ['piano', 'stool', 'receipt'])).toEqual([`('piano' & 'receipt')`]);
});

it('asks for three of them where every two are met too often', () => {
  const statistics = statisticsOf({
    piano: { documents: 40_000, marks: rows(0, 40) },
    stool: { documents: 40_001, marks: [...rows(0, 20), ...rows(60, 80)] },
    receipt: { documents: 40_002, marks: [...rows(19, 40), ...rows(61, 80)] },
  });

  expect(togetherOf(statistics, ['piano', 'stool', 'receipt'])).toEqual([`('piano' & 'stool' & 'receipt')`]);
});

it('goes by chance where nothing was sampled, and asks for no three', () => {
  const known = { piano: { documents: 6000 }, stool: { documents: 6001 }, receipt: { documents: 900_000 } };

  expect(togetherOf(statisticsOf(known), ['piano', 'stool', 'receipt'])).toEqual([`('piano' & 'stool')`]);
});

it('asks for each rare word alone, as many memories as are worth a look for what is wanted', () => {
  const statistics = statisticsOf({ walnut: { documents: 200 }, piano: { documents: 250 }, stool: { documents: 300 } });
  const rareOf = (most: number): string | null | undefined =>
    chooseWords(['stool', 'piano', 'walnut'], statistics, config.memory.retrieval, most)?.rare;

  expect(rareOf(50)).toBe(`'walnut'`);
  expect(rareOf(100)).toBe(`'walnut' | 'piano'`);
  expect(rareOf(150)).toBe(`'walnut' | 'piano' | 'stool'`);
});

it('samples by marks that tell which rows have two words', async () => {
  const context = retrieval.context({ principal: newTenant() });
  for (const content of ['green tea', 'black tea', 'green coffee'])
    await storeEpisode(context, { butler: 'alfred', content });
  const filter = completeFilter(context, { types: ['episode'] });
  const statement = selectFrequentCounts(filter, ['green', 'tea', 'milk'], new Map([['episode', 1_000_000]]));
  const [answer] = await context.db.roundTrip([statement]);
  const counts = JSON.parse(answer ?? '[]') as LexemeCounts[];
  const [green, tea, milk] = ['green', 'tea', 'milk'].map((lexeme) => {
    const found = counts.find((one) => one.lexeme === lexeme);
    return { documents: found?.documents, marks: new Set(found?.sampled?.[0]) };
  });

  expect([green?.documents, tea?.documents, milk?.documents]).toEqual([[666_667], [666_667], [0]]);
  expect([green?.marks.size, tea?.marks.size, milk?.marks.size]).toEqual([2, 2, 0]);
  expect([...(green?.marks ?? [])].filter((mark) => tea?.marks.has(mark))).toHaveLength(1);
});
