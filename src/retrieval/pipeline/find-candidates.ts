import type { Candidate, CandidateQuery, SemanticQuery } from '../../db/queries/candidate.ts';
import { readKnownPeople, selectKnownPeople } from '../../db/queries/known-people.ts';
import { findCandidates, type CandidateSearch } from '../../db/queries/search-candidates.ts';
import type { MemoryType } from '../../db/tables.ts';
import { isNarrow } from '../../db/sql/memory-filter.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { widenFilter } from '../../memory/filter.ts';
import { chooseWords, lookUpEveryMatch, weighWords } from '../plan/choose-words.ts';
import { countDocuments } from '../plan/corpus-statistics.ts';
import { planSearches, type SearchPlan } from '../plan/plan.ts';
import type { PreparedSearch } from '../plan/prepared-search.ts';
import { loadGlossLexemes } from '../query/gloss-lexemes.ts';
import { timeWords } from '../query/intent.ts';
import { chooseSemantic, embedEarly, type SemanticChannel } from '../query/query-vector.ts';
import { ownSubjects, resolveWhom, type Whom } from '../query/whom.ts';
import type { Evidence } from './evidence.ts';
import { findPreceding } from './lend.ts';
import type { Stopwatch } from './stopwatch.ts';

export interface FoundCandidates {
  candidates: Candidate[];
  semanticChannel: SemanticChannel;
  evidence: Evidence;
}

/**
 * Finds the candidates of both channels. However many searches there are, their texts are embedded while one round trip
 * plans them, and one more reads all of their candidates. The statements of `also` go with the plans, and their answers
 * come back.
 */
export async function findAllCandidates(
  context: MemoryContext,
  searches: readonly PreparedSearch[],
  stopwatch: Stopwatch,
  also: readonly Prisma.Sql[],
): Promise<{ found: FoundCandidates[]; answers: (string | null)[] }> {
  const people = searches.map((search) => describePeople(context, search));
  const statements = [...also, ...people.filter((statement) => statement !== null)];
  const [{ plans, answers }, early, findGlossLexemes] = await Promise.all([
    stopwatch.time('plan', () => planSearches(context, searches, statements)),
    stopwatch.time('embed', () => Promise.all(searches.map((search) => embedEarly(context, search)))),
    searches.some(({ question }) => question !== null) ? loadGlossLexemes(context) : () => new Set<string>(),
  ]);
  const planned = await Promise.all(
    searches.map(async (search, place) => {
      const plan = plans[place] as SearchPlan;
      const statement = people[place] ?? null;
      const known = readKnownPeople(statement === null ? null : answers[statements.indexOf(statement)]);
      const whom = search.question === null ? null : resolveWhom(search.question, known);
      const {
        semantic,
        tokens = null,
        wholeTokens = null,
        channel,
      } = await chooseSemantic(context, search, plan, early[place] ?? null, whom?.meaning);
      const asked =
        semantic === null || tokens === null ? null : { tokens, whole: wholeTokens, version: semantic.version };
      return { search, plan, channel, whom, asked, query: describeQuery(context, search, plan, semantic, whom) };
    }),
  );
  const candidates = await stopwatch.time('candidates', () => readCandidates(context, planned));
  const found = planned.map(({ channel, whom, asked, plan, query }, place): FoundCandidates => ({
    candidates: candidates[place] ?? [],
    semanticChannel: channel,
    evidence: {
      whom,
      expected: searches[place]?.question?.expected ?? null,
      words: listWords(plan, query),
      findGlossLexemes,
      preceding: findPreceding(candidates[place] ?? []),
      documents: countDocuments(plan.statistics),
      asked,
      tokenSimilarities: new Map(),
      isCrossEncoded: context.reranker !== undefined,
    },
  }));
  return { found, answers: answers.slice(0, also.length) };
}

/** Selects who is meant by a question. */
function describePeople({ config }: MemoryContext, { question, filter }: PreparedSearch): Prisma.Sql | null {
  if (question === null) return null;
  const { keys, predicates, introducing } = question;
  return selectKnownPeople({
    filter: widenFilter(filter),
    keys,
    ownSubjects: [...ownSubjects],
    predicates,
    introducing,
    language: config.memory.retrieval.language,
  });
}

/** Lists the words of a question, with the place of their scores in a candidate. */
function listWords({ lexemes, statistics }: SearchPlan, { keyword }: CandidateQuery): Evidence['words'] {
  const places = new Map(keyword?.words.map(({ lexeme }, place) => [lexeme, place]));
  return weighWords(lexemes, statistics).map((word) => ({ ...word, place: places.get(word.lexeme) ?? -1 }));
}

function describeQuery(
  { config }: MemoryContext,
  search: PreparedSearch,
  plan: SearchPlan,
  semantic: SemanticQuery | null,
  whom: Whom | null,
): CandidateQuery {
  const { language } = config.memory.retrieval;
  const { most, mode, filter, routing } = search;
  return {
    filter,
    most,
    semantic,
    keyword: mode === 'semantic' ? null : chooseWords(plan.lexemes, plan.statistics, most),
    exact: plan.exact,
    required: plan.phrases,
    excluded: plan.exclusions,
    timeWords: routing.asksTime && language === 'english' ? timeWords : null,
    asksWho: search.question?.expected.who ?? false,
    asksAmount: search.question?.expected.amount ?? false,
    toShow: search.toShow,
    readsSources: search.question !== null,
    about: whom === null ? null : { subjects: [...whom.subjects], names: whom.names, language },
  };
}

interface PlannedSearch {
  search: PreparedSearch;
  plan: SearchPlan;
  query: CandidateQuery;
}

/** Reads candidates, and once more without shortcuts where these found too few. */
async function readCandidates({ db }: MemoryContext, planned: readonly PlannedSearch[]): Promise<Candidate[][]> {
  const first = await findCandidates(db, planned.map(describeSearch));
  const fuller = planned.map((one, place) => widen(one, first[place] ?? []));
  const repeated = fuller.filter((one) => one !== null);
  const second = await findCandidates(db, repeated.map(describeSearch));
  return fuller.map((one, place) => (one === null ? first[place] : second[repeated.indexOf(one)]) ?? []);
}

/** The past has no indexes that a planner could miss. */
function describeSearch(planned: PlannedSearch): CandidateSearch {
  const { search, plan, query } = planned;
  if (search.filter.isPast) return { query, settings: null };
  const { hasIterativeScan, phrases } = plan;
  const indexScan = usesIndexes(planned) ? { most: query.most, hasIterativeScan } : null;
  return { query, settings: { indexScan, isNarrow: isNarrow(search.filter) || phrases.length > 0 } };
}

function usesIndexes({ search, plan }: PlannedSearch): boolean {
  return search.filter.types.some((type) => !plan.exact.has(type));
}

/**
 * Returns the search without its shortcuts if these left the limit unfilled: an index may stop before it has found enough
 * rows that pass the filter, and rare words may find too few. Null if there is nothing to gain.
 */
function widen(planned: PlannedSearch, found: readonly Candidate[]): PlannedSearch | null {
  const { query, search } = planned;
  const { keyword, exact } = query;
  if (!usesIndexes(planned)) return null;
  const starved = listStarvedTypes(planned, found);
  const matched = found.filter((candidate) => candidate.words.some((score) => score > 0)).length;
  const needsWords = keyword?.isPartial === true && matched < search.limit;
  if (starved.length === 0 && !needsWords) return null;
  return {
    ...planned,
    query: {
      ...query,
      exact: new Set([...exact, ...starved]),
      keyword: keyword !== null && needsWords ? lookUpEveryMatch(keyword) : keyword,
    },
  };
}

/**
 * Returns the types of which the vector index found fewer neighbours than wanted, although there are more rows: it holds
 * those of all tenants, and a scan ends after so many. How many rows have a required phrase is not known: if they fill the
 * limit, they are enough.
 */
function listStarvedTypes({ query, search, plan }: PlannedSearch, found: readonly Candidate[]): MemoryType[] {
  const { semantic, exact, required, filter, most } = query;
  const nearest = found.filter(({ isNearest }) => isNearest);
  if (semantic === null || (required.length > 0 && nearest.length >= search.limit)) return [];
  return filter.types.filter((type) => {
    const wanted = Math.min(most, plan.statistics.byType[type]?.documents ?? 0);
    return !exact.has(type) && nearest.filter((candidate) => candidate.type === type).length < wanted;
  });
}
