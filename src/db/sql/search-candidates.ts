import pgvector from 'pgvector';
import { Prisma } from '../../generated/prisma/client.ts';
import type { MemoryType } from '../tables.ts';
import { columnsToShow } from './memories-to-show.ts';
import { milliseconds } from './moments.ts';
import { rowConditions, type RowFilter } from './search-filter.ts';
import { pastRows, rowsToSearch, type PastVectors } from './search-rows.ts';

export interface CandidateQuery {
  filter: RowFilter;
  /** Candidates that each channel brings, of each type. */
  most: number;
  /** Null when no vector is searched. */
  semantic: SemanticQuery | null;
  /** Null when no word is searched. */
  keyword: KeywordQuery | null;
  /** Types whose rows are few enough to look at each of them; the others are found through their indexes. */
  exact: ReadonlySet<MemoryType>;
  /** Phrases that a memory must have and must not have, as tsqueries. */
  required: readonly string[];
  excluded: readonly string[];
  /** Words that tell a time, as a tsquery, if it matters who tells one. */
  timeWords: string | null;
  /** Whether what is shown of a memory comes with it. */
  toShow: boolean;
}

export interface SemanticQuery {
  vector: Float32Array;
  version: PastVectors['version'];
  /** Of a search of the past: the vectors of texts that have changed since. */
  pastTexts: PastVectors['ofTexts'];
}

export interface KeywordQuery {
  /** All words, as a tsquery: what makes a memory a candidate where each is looked at. */
  any: string;
  /** What makes it one where an index finds it: words that few memories have. Null without any. */
  rare: string | null;
  /** And others that it has together, for the newest such memories; or null. */
  together: string | null;
  mostTogether: number;
  /** Taken as well, for the newest memories only, where the rare words find few; or null. */
  common: string | null;
  mostCommon: number;
  /** Whether so many memories have that word that its newest ones are soon found among the newest of all. */
  isCommonFrequent: boolean;
  words: readonly WordWeight[];
  k1: number;
  b: number;
  averageLength: number;
  neighbours: NeighbourWeights;
}

/** The share at which a word counts for an episode when it stands in another one of the session. */
export interface NeighbourWeights {
  previous: number;
  secondPrevious: number;
  next: number;
  secondNext: number;
  /** Instead of `previous`, where the episode before it asks something. */
  reply: number;
}

export interface WordWeight {
  /** A tsquery of one lexeme. */
  wanted: string;
  inverseFrequency: number;
}

/** One memory that a channel brought, with what ranking needs of it. Times in milliseconds since 1970. */
export interface CandidateRow {
  type: MemoryType;
  id: string;
  created_at: number;
  happened_at: number;
  referenced_at: number | null;
  confirmed_at: number | null;
  importance: number;
  confidence: number;
  decay_rate: number;
  maturity: string | null;
  subject_key: string | null;
  predicate_key: string | null;
  /** Cosine similarity, or null without a vector of the version that is searched. */
  similarity: number | null;
  /** Whether it is among the nearest of its type. */
  nearest: boolean;
  /** BM25 of its own, by word in the order given. */
  words: number[];
  /** The same of its neighbours in the session, and the share at which it counts here. */
  lenders: Lender[] | null;
  /** Of an episode, or null. */
  session_id: string | null;
  /** Whether it is an episode that asks something, at its end. */
  asks: boolean;
  /** Whether it names a day, a date or another time; false when that was not asked. */
  tells_time: boolean;
  /** What is shown of it, by the names that rows have in here; null when that was not asked. */
  shown: Record<string, unknown> | null;
}

export interface Lender {
  share: number;
  words: number[];
  /** Of a question, for the episode that replies to it; null otherwise. */
  similarity: number | null;
}

/** Candidates of both channels and all types in one statement. Null when no type can match. */
export function selectCandidates(query: CandidateQuery): Prisma.Sql | null {
  const parts = query.filter.types.flatMap((type) => {
    const conditions = rowConditions(type, query.filter);
    if (conditions === null) return [];
    return [candidatesOf(type, Prisma.join([conditions, ...textConditions(query)], ' AND '), query)];
  });
  if (parts.length === 0) return null;
  return Prisma.sql`
    WITH ${Prisma.join([asked(query), ...pastRows(query.filter, pastVectorsOf(query))])}
    SELECT coalesce(json_agg(json_build_array(${listed(query)})), '[]')::text AS candidates FROM (${Prisma.join(parts, ' UNION ALL ')}) c`;
}

/**
 * A candidate comes as one list of texts, one of numbers and those that are lists themselves: to write a value of JSON the
 * database looks up its type each time, but only once for a list. For hundreds of candidates that is the longer part of it.
 */
const texts = ['type', 'id', 'maturity', 'subject_key', 'predicate_key', 'session_id'];
const times = ['created_at', 'happened_at', 'referenced_at', 'confirmed_at'];
const numbers = [...times, 'importance', 'confidence', 'decay_rate', 'similarity', 'nearest', 'asks', 'tells_time'];

/** What comes besides of one that may be shown. */
const sealing = ['sealed_content', 'data_key_id'];
const textsToShow = ['content', 'scope', 'permanence', 'subject', 'predicate', 'kind', ...sealing];
const numbersToShow = ['version', 'observed_at', 'valid_to'];

function listed({ toShow }: CandidateQuery): Prisma.Sql {
  const list = (names: readonly string[], type: string): string =>
    `ARRAY[${names.map((name) => `c.${name}::${type}`).join(', ')}]`;
  const [said, measured] = toShow
    ? [
        [...texts, ...textsToShow],
        [...numbers, ...numbersToShow],
      ]
    : [texts, numbers];
  return Prisma.raw(`${list(said, 'text')}, ${list(measured, 'float8')}, c.words, c.lenders`);
}

/** As `listed` lists them. */
type ListedCandidate = [
  texts: [MemoryType, string, ...(string | null)[]],
  numbers: [number, number, number | null, number | null, number, number, number, number | null, ...number[]],
  words: number[],
  lenders: (number | null)[][] | null,
];

/** What the statement answered. */
export function readCandidates(answer: string | null | undefined): CandidateRow[] {
  return (JSON.parse(answer ?? '[]') as ListedCandidate[]).map(readCandidate);
}

function readCandidate([said, measured, words, lenders]: ListedCandidate): CandidateRow {
  return {
    type: said[0],
    id: said[1],
    maturity: said[2] as string | null,
    subject_key: said[3] as string | null,
    predicate_key: said[4] as string | null,
    session_id: said[5] as string | null,
    created_at: measured[0],
    happened_at: measured[1],
    referenced_at: measured[2],
    confirmed_at: measured[3],
    importance: measured[4],
    confidence: measured[5],
    decay_rate: measured[6],
    similarity: measured[7],
    nearest: measured[8] === 1,
    asks: measured[9] === 1,
    tells_time: measured[10] === 1,
    words,
    lenders: lenders?.map(readLender) ?? null,
    shown: said.length > texts.length ? readShown(said, measured) : null,
  };
}

/** What its type does not have is null. */
function readShown(said: ListedCandidate[0], measured: ListedCandidate[1]): Record<string, unknown> {
  return {
    id: said[1],
    version: measured[11],
    content: said[6],
    importance: measured[4],
    createdAt: new Date(measured[0]),
    lastReferencedAt: asMoment(measured[2]),
    scope: said[7],
    permanence: said[8],
    confidence: measured[5],
    decayRate: measured[6],
    lastConfirmedAt: asMoment(measured[3]),
    maturity: said[2],
    subject: said[9],
    predicate: said[10],
    kind: said[11],
    sealedContent: said[12],
    dataKeyId: said[13],
    observedAt: asMoment(measured[12] ?? null),
    validTo: asMoment(measured[13] ?? null),
  };
}

function asMoment(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}

function readLender([share, similarity, ...words]: (number | null)[]): Lender {
  return { share: share as number, similarity: similarity as number | null, words: words as number[] };
}

function asked({ semantic }: CandidateQuery): Prisma.Sql {
  const vector = semantic === null ? null : (pgvector.toSql(Array.from(semantic.vector)) as string);
  return Prisma.sql`asked AS MATERIALIZED (SELECT ${vector}::vector AS vector)`;
}

function pastVectorsOf({ semantic }: CandidateQuery): PastVectors | null {
  return semantic === null ? null : { version: semantic.version, ofTexts: semantic.pastTexts };
}

const askedVector = Prisma.sql`(SELECT vector FROM asked)`;

export interface SearchSettings {
  /** Null when every row is looked at. */
  indexScan: { most: number; hasIterativeScan: boolean } | null;
  /** Whether the filter leaves a part of the rows that only the planner can tell the size of. */
  isNarrow: boolean;
}

/**
 * What the planner cannot know. A statement is planned once, for every tenant, the one with ten memories and the one with a
 * million: so rows are found by an index, the nearest ones by that of their vectors and never by sorting all of them. With a
 * filter that narrows, either may be better, and it is planned each time. No compiler for statements of milliseconds; and
 * tables are in memory.
 */
export function setSearch({ indexScan, isNarrow }: SearchSettings): Prisma.Sql {
  const settings: Record<string, string> = {
    jit: 'off',
    random_page_cost: '1',
    plan_cache_mode: isNarrow ? 'force_custom_plan' : 'force_generic_plan',
    enable_seqscan: isNarrow ? 'on' : 'off',
    enable_sort: isNarrow ? 'on' : 'off',
  };
  // So that a filter cannot starve the scan.
  if (indexScan !== null) {
    settings['hnsw.ef_search'] = String(Math.min(1000, Math.max(40, indexScan.most)));
    if (indexScan.hasIterativeScan) {
      // Ranking orders the candidates: a scan that keeps them in order itself drops the near ones that it meets late.
      settings['hnsw.iterative_scan'] = 'relaxed_order';
      settings['hnsw.max_scan_tuples'] = '200000';
    }
  }
  const set = Object.entries(settings).map(([name, value]) => Prisma.sql`set_config(${name}, ${value}, true)`);
  return Prisma.sql`SELECT ${Prisma.join(set)}`;
}

function textConditions({ required, excluded }: CandidateQuery): Prisma.Sql[] {
  return [
    ...required.map((phrase) => Prisma.sql`m.search_vector @@ ${phrase}::tsquery`),
    ...excluded.map((phrase) => Prisma.sql`NOT m.search_vector @@ ${phrase}::tsquery`),
  ];
}

function candidatesOf(type: MemoryType, conditions: Prisma.Sql, query: CandidateQuery): Prisma.Sql {
  const source = (query.exact.has(type) ? measuredRows : indexedRows)(type, conditions, query);
  return Prisma.sql`(
    WITH ${source.prepared} matched AS MATERIALIZED (${source.matched}), ${pastNeighbours(type, query)}
      brought AS (
        SELECT id, score, NULL::float8[] AS lender, false AS nearest FROM matched
        UNION ALL SELECT id, score, lender, false FROM (${type === 'episode' ? lentRows(conditions, query, source) : nothingLent}) lent
        UNION ALL SELECT id, 0, NULL, true FROM (${source.nearest}) nearest
      ),
      found AS (
        SELECT id, bool_or(nearest) AS nearest, array_agg(lender) FILTER (WHERE lender IS NOT NULL) AS lenders,
          ${placeOf(type)} AS place
        FROM brought GROUP BY id
      )
    SELECT ${columnsOf(type)}, ${source.similarity} AS similarity, found.nearest::int,
      ${source.words} AS words, found.lenders, ${conversationOf(type)},
      ${tellsTime(query)}::int AS tells_time ${shownOf(type, query)}
    FROM found ${source.join('found')}
    WHERE found.nearest OR found.place <= ${query.most})`;
}

/** Only what is lent can bring more than the channel was asked for. */
function placeOf(type: MemoryType): Prisma.Sql {
  return type === 'episode' ? Prisma.sql`row_number() OVER (ORDER BY sum(score) DESC, id)` : Prisma.sql`1`;
}

/** Where the rows of a type are found, and how they are measured as `m`. */
interface Source {
  /** For the WITH, with a comma behind it. */
  prepared: Prisma.Sql;
  /** Joins the row `m` to each of these, by its id. */
  join: (name: 'found' | 'matched') => Prisma.Sql;
  similarity: Prisma.Sql;
  words: Prisma.Sql;
  matched: Prisma.Sql;
  nearest: Prisma.Sql;
}

function indexedRows(type: MemoryType, conditions: Prisma.Sql, query: CandidateQuery): Source {
  return {
    prepared: Prisma.empty,
    join: (name) => lookUp(type, Prisma.sql`m.tenant_id = ${query.filter.tenantId}`, query, name),
    similarity: similarityOf(distanceOf(query.semantic)),
    words: keywordScores(query.keyword),
    matched: matchedRows(type, conditions, query),
    nearest: nearestRows(type, conditions, query),
  };
}

/**
 * Row by row, through the key: hence the OFFSET, which keeps it from becoming a join. The planner, who cannot know how few
 * an index found nor that they are in memory, would rather read a table of thousands for them.
 */
function lookUp(
  type: MemoryType,
  conditions: Prisma.Sql,
  { filter }: CandidateQuery,
  name: 'found' | 'matched' | 'w',
): Prisma.Sql {
  return Prisma.sql`CROSS JOIN LATERAL (
    SELECT * FROM ${rowsToSearch(type, filter)} m WHERE ${conditions} AND m.id = ${Prisma.raw(name)}.id OFFSET 0) m`;
}

/** Where each is looked at: once, for all that is asked of it. */
function measuredRows(type: MemoryType, conditions: Prisma.Sql, query: CandidateQuery): Source {
  const { keyword, semantic, most, filter } = query;
  const columns = [
    ...columnsToShow(type),
    ...columnsToRank[type],
    ...(query.timeWords === null ? [] : ['search_vector']),
  ];
  const matched = Prisma.sql`
    SELECT id, ${sessionOf(type)}, created_at, words, ${sumOf(keyword)} AS score FROM measured m WHERE words IS NOT NULL
    ORDER BY score DESC, created_at DESC, id LIMIT ${most}`;
  const nearest = Prisma.sql`SELECT id FROM measured WHERE distance IS NOT NULL ORDER BY distance, id LIMIT ${most}`;
  return {
    prepared: Prisma.sql`measured AS MATERIALIZED (
      SELECT ${Prisma.raw(columns.map((name) => `m.${name}`).join(', '))},
        ${distanceOf(semantic)} AS distance, ${wordsOfMatching(keyword)} AS words
      FROM ${rowsToSearch(type, filter)} m WHERE ${conditions}),`,
    join: (name) => Prisma.sql`JOIN measured m ON m.id = ${Prisma.raw(name)}.id`,
    similarity: similarityOf(Prisma.sql`m.distance`),
    words: wordsOrNone(keyword),
    matched: keyword === null ? matchedNothing : matched,
    nearest: semantic === null ? nothing : nearest,
  };
}

/** Besides what is shown. */
const columnsToRank: Record<MemoryType, readonly string[]> = {
  episode: ['session_id'],
  fact: ['subject_key', 'predicate_key'],
  rule: [],
};

function sessionOf(type: MemoryType): Prisma.Sql {
  return type === 'episode' ? Prisma.sql`m.session_id` : Prisma.sql`NULL::uuid AS session_id`;
}

function distanceOf(semantic: CandidateQuery['semantic']): Prisma.Sql {
  if (semantic === null) return Prisma.sql`NULL::float8`;
  const column = vectorColumn(semantic);
  return Prisma.sql`CASE WHEN m.${column}_version_id = ${semantic.version.id}::uuid THEN m.${column} <=> ${askedVector} END`;
}

function wordsOfMatching(keyword: KeywordQuery | null): Prisma.Sql {
  if (keyword === null) return Prisma.sql`NULL::float8[]`;
  return Prisma.sql`CASE WHEN m.search_vector @@ ${keyword.any}::tsquery THEN ${keywordScores(keyword)} END`;
}

function wordsOrNone(keyword: KeywordQuery | null): Prisma.Sql {
  return Prisma.sql`coalesce(m.words, array_fill(0::float8, ARRAY[${padded(keyword?.words ?? []).length}::int]))`;
}

const nothing = Prisma.sql`SELECT NULL::uuid AS id WHERE false`;
const nothingLent = Prisma.sql`SELECT NULL::uuid AS id, NULL::float8 AS score, NULL::float8[] AS lender WHERE false`;

function tellsTime({ timeWords }: CandidateQuery): Prisma.Sql {
  if (timeWords === null) return Prisma.sql`false`;
  return Prisma.sql`(m.content ~ '[0-9]' OR m.search_vector @@ ${timeWords}::tsquery)`;
}

/** For the end of a SELECT. */
function shownOf(type: MemoryType, { toShow }: CandidateQuery): Prisma.Sql {
  if (!toShow) return Prisma.empty;
  const there = columnsToShow(type);
  const columns = (names: readonly string[], empty: string): string[] =>
    names.map((name) => `${there.includes(name) ? valueOf(name) : empty} AS ${name}`);
  return Prisma.raw([``, ...columns(textsToShow, 'NULL::text'), ...columns(numbersToShow, 'NULL::float8')].join(', '));
}

function valueOf(name: string): string {
  if (name === 'version') return 'm.version::float8';
  return numbersToShow.includes(name) ? milliseconds(`m.${name}`) : `m.${name}::text`;
}

/** Nothing but emoji, quotation marks and remarks in brackets stands after the question mark. */
const asks = Prisma.sql`right(m.content, 1000) ~ ${String.raw`[?？؟](\[[^]]*\]|\([^)]*\)|[^[:alnum:]])*$`}`;

function conversationOf(type: MemoryType): Prisma.Sql {
  return type === 'episode'
    ? Prisma.sql`m.session_id, (${asks})::int AS asks`
    : Prisma.sql`NULL::uuid AS session_id, 0 AS asks`;
}

function columnsOf(type: MemoryType): Prisma.Sql {
  const common = `'${type}' AS type, m.id, ${milliseconds('m.created_at')} AS created_at,
    ${milliseconds('m.last_referenced_at')} AS referenced_at, m.importance`;
  const happened = `${milliseconds(type === 'rule' ? 'm.created_at' : 'coalesce(m.observed_at, m.created_at)')} AS happened_at`;
  const decaying =
    type === 'episode'
      ? 'NULL::float8 AS confirmed_at, 1::float8 AS confidence, 0::float8 AS decay_rate'
      : `${milliseconds('m.last_confirmed_at')} AS confirmed_at, m.confidence, m.decay_rate`;
  const maturity = `${type === 'rule' ? 'm.maturity' : 'NULL::text'} AS maturity`;
  const key =
    type === 'fact' ? 'm.subject_key, m.predicate_key' : 'NULL::text AS subject_key, NULL::text AS predicate_key';
  return Prisma.raw([common, happened, decaying, maturity, key].join(', '));
}

/** The memories with the best scores of their own words. */
function matchedRows(type: MemoryType, conditions: Prisma.Sql, query: CandidateQuery): Prisma.Sql {
  if (query.keyword === null) return matchedNothing;
  return Prisma.sql`
    SELECT id, session_id, created_at, words, ${sumOf(query.keyword)} AS score FROM (
      SELECT m.id, ${sessionOf(type)}, m.created_at, ${keywordScores(query.keyword)} AS words
      FROM (${indexMatches(type, query.keyword, query.filter)}) w(id) ${lookUp(type, conditions, query, 'w')}
      OFFSET 0
    ) matching
    ORDER BY score DESC, created_at DESC, id LIMIT ${query.most}`;
}

const matchedNothing = Prisma.sql`
  SELECT NULL::uuid AS id, NULL::uuid AS session_id, NULL::timestamptz AS created_at, NULL::float8[] AS words,
    NULL::float8 AS score
  WHERE false`;

function indexMatches(type: MemoryType, keyword: KeywordQuery, filter: RowFilter): Prisma.Sql {
  const scopes = filter.visibleScopes === null ? null : [...filter.visibleScopes];
  const matches = (wanted: string, most: number | null, name = 'memory_matches'): Prisma.Sql => Prisma.sql`
    SELECT ${Prisma.raw(name)}(${type}, ${wanted}::tsquery, ${filter.visibleButler}::text, ${scopes}::text[],
      ${filter.at}::timestamptz, ${most}::int)`;
  const { rare, together, mostTogether, common, mostCommon, isCommonFrequent } = keyword;
  const newest = isCommonFrequent ? 'memory_newest_matches' : 'memory_matches';
  const sources = [
    ...(rare === null ? [] : [matches(rare, null)]),
    ...(together === null ? [] : [matches(together, mostTogether)]),
    ...(common === null ? [] : [matches(common, mostCommon, newest)]),
  ];
  return Prisma.join(sources, ' UNION ');
}

/**
 * BM25, by word. PostgreSQL has no function that counts a lexeme in a document, but ts_rank of a single lexeme is
 * (1/1² + 1/2² + … + 1/n²) / (π²/6) for n occurrences, and that sum falls short of π²/6 by nearly 1 / (n + 1/2):
 * rounding gives n back exactly, some ten times faster than unnesting the document.
 */
function keywordScores(keyword: KeywordQuery | null): Prisma.Sql {
  if (keyword === null) return Prisma.sql`'{}'::float8[]`;
  const { k1, b, averageLength, words } = keyword;
  const perLexeme = (k1 * b) / Math.max(averageLength, 1);
  // Never nothing, by which one could not divide.
  const norm = Prisma.sql`(${Math.max(k1 * (1 - b), 1e-9)}::float8 + ${perLexeme}::float8 * length(m.search_vector))`;
  const scores = padded(words).map(({ wanted, inverseFrequency }) => {
    const occurrences = Prisma.sql`round(1 / (1.64493406685 * (1 - ts_rank('{1,1,1,1}', m.search_vector, ${wanted}::tsquery)::float8)) - 0.5)`;
    return Prisma.sql`${inverseFrequency * (k1 + 1)}::float8 * (1 - 1 / (1 + ${occurrences} / ${norm}))`;
  });
  return Prisma.sql`ARRAY[${Prisma.join(scores)}]`;
}

/**
 * To a multiple of four, by words that no memory has: a statement is planned anew for each number of words that it has
 * room for, on each connection, and kept there.
 */
function padded(words: readonly WordWeight[]): WordWeight[] {
  const missing = (4 - (words.length % 4)) % 4;
  return [...words, ...Array.from({ length: missing }, () => ({ wanted: "' '", inverseFrequency: 0 }))];
}

/** Spelled out: to unnest an array for each row takes longer than its scores took. Null where there is no array. */
function sumOf(keyword: KeywordQuery | null): Prisma.Sql {
  if (keyword === null) return Prisma.sql`NULL::float8`;
  return Prisma.raw(
    `(${padded(keyword.words)
      .map((_word, index) => `words[${index + 1}]`)
      .join(' + ')})`,
  );
}

/**
 * What is said just before and after a word is about the same thing, and a reply is about what was asked. Each lender is
 * looked at once and not for each of its neighbours: hence the OFFSET.
 */
function lentRows(conditions: Prisma.Sql, { keyword, filter }: CandidateQuery, source: Source): Prisma.Sql {
  if (keyword === null) return nothingLent;
  const { previous, secondPrevious, next, secondNext, reply } = keyword.neighbours;
  if (Math.max(previous, secondPrevious, next, secondNext, reply) === 0) return nothingLent;
  const afterwards = Prisma.sql`CASE WHEN lender.asks THEN ${reply}::float8 ELSE ${previous}::float8 END`;
  return Prisma.sql`
    SELECT m.id, m.share * lender.score AS score,
      ARRAY[m.share, CASE WHEN m.replies THEN lender.similarity END] || lender.words AS lender
    FROM (
      SELECT matched.*, ${asks} AS asks, ${source.similarity} AS similarity
      FROM matched ${source.join('matched')}
      OFFSET 0
    ) lender CROSS JOIN LATERAL (
      ${neighboursOf(filter, '<', [Prisma.sql`${next}::float8`, secondNext])}
      UNION ALL ${neighboursOf(filter, '>', [afterwards, secondPrevious])}
    ) m
    WHERE ${conditions} AND m.share > 0`;
}

/** The two episodes on one side of the lender. Those before it hear the word from the next one, those after from the previous. */
function neighboursOf(filter: RowFilter, side: '<' | '>', [first, second]: [Prisma.Sql, number]): Prisma.Sql {
  const order = side === '<' ? 'DESC' : 'ASC';
  const byAge = `n.created_at ${order}, n.id ${order}`;
  const byDistance = Prisma.raw(byAge);
  return Prisma.sql`(
    SELECT n.*, CASE row_number() OVER (ORDER BY ${byDistance}) WHEN 1 THEN ${first} ELSE ${second}::float8 END AS share,
      ${Prisma.raw(side === '>' ? `lender.asks AND row_number() OVER (ORDER BY ${byAge}) = 1` : 'false')} AS replies
    FROM ${Prisma.raw(filter.isPast ? 'past_neighbours' : 'episodes')} n
    WHERE n.tenant_id = ${filter.tenantId} AND n.session_id = lender.session_id
      AND (n.created_at, n.id) ${Prisma.raw(side)} (lender.created_at, lender.id)
      AND n.forgotten_at IS NULL AND n.expires_at > ${filter.at}::timestamptz
    ORDER BY ${byDistance} LIMIT 2)`;
}

/** The past has no index of sessions: those that may lend are set apart once, and not sought for each lender. */
function pastNeighbours(type: MemoryType, { filter }: CandidateQuery): Prisma.Sql {
  if (type !== 'episode' || !filter.isPast) return Prisma.empty;
  return Prisma.sql`past_neighbours AS MATERIALIZED (
    SELECT * FROM ${rowsToSearch(type, filter)} WHERE session_id IN (SELECT session_id FROM matched)),`;
}

function nearestRows(type: MemoryType, conditions: Prisma.Sql, query: CandidateQuery): Prisma.Sql {
  if (query.semantic === null) return nothing;
  const table = rowsToSearch(type, query.filter);
  const column = vectorColumn(query.semantic);
  const where = Prisma.sql`${conditions} AND m.${column}_version_id = ${query.semantic.version.id}::uuid`;
  return Prisma.sql`
    SELECT m.id FROM ${table} m WHERE ${where} ORDER BY m.${column} <=> ${askedVector} LIMIT ${query.most}`;
}

function similarityOf(distance: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`nullif(1 - ${distance}, 'NaN')`;
}

function vectorColumn({ version }: NonNullable<CandidateQuery['semantic']>): Prisma.Sql {
  return Prisma.raw(version.slot === 'primary' ? 'embedding' : 'alternate_embedding');
}
