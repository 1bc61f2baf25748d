import type { MemoryType } from '../../db/tables.ts';
import {
  readCandidates,
  selectCandidates,
  setSearch,
  type CandidateQuery,
  type CandidateRow,
} from '../../db/sql/search-candidates.ts';
import { isNarrow } from '../../db/sql/search-filter.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { chooseWords, leavesMatchesOut, withEveryMatch } from '../plan/choose-words.ts';
import { fuse, type Match } from './fuse.ts';
import { timeWords } from '../query/intent.ts';
import { planSearches, type PreparedSearch, type SearchPlan, type SemanticChannel } from '../plan/plan.ts';
import { chooseSemantic, embedEarly } from '../query/query-vector.ts';
import { rerankMatches } from './cross-encode.ts';
import { routeMatches } from './route.ts';
import type { Stopwatch } from './stopwatch.ts';

export interface FoundMatches {
  matches: Match[];
  semanticChannel: SemanticChannel;
}

/**
 * Both channels, fused: what search, recall and context have in common. However many searches there are, their texts are
 * embedded together while one round trip plans them, and one more brings all of their candidates. `also` are statements
 * that go with the plans; their answers come back.
 */
export async function findMatches(
  context: MemoryContext,
  searches: readonly PreparedSearch[],
  stopwatch: Stopwatch,
  also: readonly Prisma.Sql[] = [],
): Promise<{ found: FoundMatches[]; answers: (string | null)[] }> {
  const [{ plans, answers }, early] = await Promise.all([
    stopwatch.time('plan', () => planSearches(context, searches, also)),
    stopwatch.time('embed', () => Promise.all(searches.map((search) => embedEarly(context, search)))),
  ]);
  const planned = await Promise.all(
    searches.map(async (search, place) => {
      const plan = plans[place] as SearchPlan;
      const { semantic, channel } = await chooseSemantic(context, search, plan, early[place] ?? null);
      return { search, plan, channel, query: queryOf(context, search, plan, semantic) };
    }),
  );
  const candidates = await stopwatch.time('candidates', () => findCandidates(context, planned));
  const ranked = await stopwatch.time('fuse', async () =>
    planned.map(({ search }, place) => ({ search, matches: rank(context, search, candidates[place] ?? []) })),
  );
  const { reranker } = context;
  const matches =
    reranker === undefined
      ? ranked.map((one) => one.matches)
      : await stopwatch.time('rerank', () => rerankMatches(context, reranker, ranked));
  const found = planned.map(({ channel }, place): FoundMatches => ({
    matches: matches[place] ?? [],
    semanticChannel: channel,
  }));
  return { found, answers };
}

function rank({ config }: MemoryContext, { mode, routing }: PreparedSearch, candidates: CandidateRow[]): Match[] {
  const fused = fuse(candidates, mode, config.memory.retrieval);
  // The two plain modes answer with what their channel says and nothing else.
  return mode === 'hybrid' ? routeMatches(fused, routing) : fused;
}

function queryOf(
  { config }: MemoryContext,
  { most, mode, filter, routing, toShow }: PreparedSearch,
  plan: SearchPlan,
  semantic: CandidateQuery['semantic'],
): CandidateQuery {
  const { retrieval } = config.memory;
  return {
    filter,
    most,
    semantic,
    keyword: mode === 'semantic' ? null : chooseWords(plan.lexemes, plan.statistics, retrieval, most),
    exact: plan.exact,
    required: plan.phrases,
    excluded: plan.exclusions,
    timeWords: routing.asksTime && retrieval.language === 'english' ? timeWords : null,
    toShow,
  };
}

interface PlannedSearch {
  search: PreparedSearch;
  plan: SearchPlan;
  query: CandidateQuery;
}

async function findCandidates(context: MemoryContext, planned: readonly PlannedSearch[]): Promise<CandidateRow[][]> {
  const first = await readAll(context, planned);
  const fuller = planned.map((one, place) => {
    const query = usesIndexes(one) ? findFuller(one, first[place] ?? []) : null;
    return { ...one, query };
  });
  const again = fuller.filter((one): one is PlannedSearch => one.query !== null);
  const second = await readAll(context, again);
  return first.map((candidates, place) => {
    const repeated = again.indexOf(fuller[place] as PlannedSearch);
    return repeated === -1 ? candidates : (second[repeated] ?? []);
  });
}

/** In one round trip. What is set stays set, so those that set nothing come first. */
async function readAll({ db }: MemoryContext, planned: readonly PlannedSearch[]): Promise<CandidateRow[][]> {
  const asked = planned.flatMap((one, place) => {
    const statement = isSearched(one.query) ? selectCandidates(one.query) : null;
    return statement === null ? [] : [{ place, statements: [...settingsOf(one), statement] }];
  });
  const answered = asked.toSorted((a, b) => a.statements.length - b.statements.length);
  const candidates: CandidateRow[][] = planned.map(() => []);
  if (answered.length === 0) return candidates;
  const answers = await db.roundTrip(answered.flatMap(({ statements }) => statements));
  let end = 0;
  for (const { place, statements } of answered) {
    end += statements.length;
    candidates[place] = readCandidates(answers[end - 1]);
  }
  return candidates;
}

function isSearched({ semantic, keyword }: CandidateQuery): boolean {
  return semantic !== null || keyword !== null;
}

function usesIndexes({ search, plan }: PlannedSearch): boolean {
  return search.filter.types.some((type) => !plan.exact.has(type));
}

/** The past has no indexes that a planner could miss. */
function settingsOf(planned: PlannedSearch): Prisma.Sql[] {
  const { search, plan, query } = planned;
  if (search.filter.isPast) return [];
  const { hasIterativeScan, phrases } = plan;
  const indexScan = usesIndexes(planned) ? { most: query.most, hasIterativeScan } : null;
  return [setSearch({ indexScan, isNarrow: isNarrow(search.filter) || phrases.length > 0 })];
}

/**
 * An index may stop before it has found enough rows that pass the filter, and rare words alone may find too few. Then
 * the search is made once more without either shortcut, so that the limit is filled whenever there is enough to fill it.
 */
function findFuller(planned: PlannedSearch, found: readonly CandidateRow[]): CandidateQuery | null {
  const { query, search } = planned;
  const { keyword, exact } = query;
  const starved = starvedTypes(planned, found);
  const matched = found.filter((candidate) => candidate.words.some((value) => value > 0)).length;
  const needsWords = keyword !== null && leavesMatchesOut(keyword) && matched < search.limit;
  if (starved.length === 0 && !needsWords) return null;
  return {
    ...query,
    exact: new Set([...exact, ...starved]),
    keyword: keyword !== null && needsWords ? withEveryMatch(keyword) : keyword,
  };
}

/**
 * The types of which an index found fewer neighbours than wanted, although there are more rows: it holds those of all
 * tenants, and a scan ends after so many. How many rows have a phrase is not known: if they fill the limit, they are enough.
 */
function starvedTypes({ query, search, plan }: PlannedSearch, found: readonly CandidateRow[]): MemoryType[] {
  const { semantic, exact, required, filter, most } = query;
  const nearest = found.filter((candidate) => candidate.nearest);
  if (semantic === null || (required.length > 0 && nearest.length >= search.limit)) return [];
  return filter.types.filter((type) => {
    const wanted = Math.min(most, plan.statistics.byType[type]?.documents ?? 0);
    return !exact.has(type) && nearest.filter((candidate) => candidate.type === type).length < wanted;
  });
}
