import pgvector from 'pgvector';
import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantDatabase } from '../database.ts';
import type { MemoryType } from '../tables.ts';
import { milliseconds } from '../sql/moments.ts';
import { whereMemory } from '../sql/memory-filter.ts';
import { pastRows } from '../sql/search-rows.ts';
import type { Candidate, CandidateQuery } from './candidate.ts';
import { askedNames, readByIndexes, readEachRow, type CandidateSource } from '../sql/search-candidate-sources.ts';
import { endsWithQuestion, selectLentEpisodes, withPastNeighbours } from '../sql/search-neighbours.ts';
import { setSearch, type SearchSettings } from '../sql/search-settings.ts';

export interface CandidateSearch {
  query: CandidateQuery;
  /** Null leaves the planner alone. */
  settings: SearchSettings | null;
}

/** Finds the candidates of several searches in one round trip: one statement for all channels and types of a search. */
export async function findCandidates(
  db: Pick<TenantDatabase, 'roundTrip'>,
  searches: readonly CandidateSearch[],
): Promise<Candidate[][]> {
  const planned = searches.flatMap(({ query, settings }, place) => {
    const statement = selectCandidates(query);
    return statement === null ? [] : [{ place, settings, statement }];
  });
  // A setting holds until the end of the round trip, so searches without any come first.
  const ordered = planned.toSorted((a, b) => Number(a.settings !== null) - Number(b.settings !== null));
  const found: Candidate[][] = searches.map(() => []);
  if (ordered.length === 0) return found;
  const statements = ordered.flatMap(({ settings, statement }) =>
    settings === null ? [statement] : [setSearch(settings), statement],
  );
  const answers = await db.roundTrip(statements);
  for (const { place, statement } of ordered) {
    found[place] = readCandidates(answers[statements.indexOf(statement)]);
  }
  return found;
}

/** Null when nothing is searched for or no type can match. */
function selectCandidates(query: CandidateQuery): Prisma.Sql | null {
  const { filter, semantic, keyword, required, excluded } = query;
  if (semantic === null && keyword === null) return null;
  const phrases = [
    ...required.map((phrase) => Prisma.sql`m.search_vector @@ ${phrase}::tsquery`),
    ...excluded.map((phrase) => Prisma.sql`NOT m.search_vector @@ ${phrase}::tsquery`),
  ];
  const types = filter.types.flatMap((type) => {
    const conditions = whereMemory(type, filter);
    return conditions === null ? [] : [selectOfType(type, Prisma.join([conditions, ...phrases], ' AND '), query)];
  });
  if (types.length === 0) return null;
  const [vector, whole] = [semantic?.vector ?? null, semantic?.whole ?? null].map(asVector);
  const asked = Prisma.sql`asked AS MATERIALIZED (
    SELECT ${vector}::vector AS vector, ${whole}::vector AS whole, ${selectNames(query)} AS names)`;
  const pastVectors = semantic === null ? null : { version: semantic.version, ofTexts: semantic.pastTexts };
  return Prisma.sql`
    WITH ${Prisma.join([asked, ...pastRows(filter, pastVectors)])}
    SELECT json_build_object(${aggregateColumns(query)})::text FROM (${Prisma.join(types, ' UNION ALL ')}) c`;
}

function asVector(vector: Float32Array | null): string | null {
  return vector === null ? null : (pgvector.toSql(Array.from(vector)) as string);
}

/** Any of the names, as a tsquery. */
function selectNames({ about }: CandidateQuery): Prisma.Sql {
  if (about === null) return Prisma.sql`NULL::tsquery`;
  return Prisma.sql`(
    SELECT string_agg(name::text, ' | ')::tsquery
    FROM (SELECT plainto_tsquery(memory_text_search(${about.language}), name) AS name
      FROM unnest(${[...about.names]}::text[]) name) names
    WHERE numnode(name) > 0)`;
}

/** Unites what either channel brought of one type: `matched` by words, `lent` by the words of neighbours, and the nearest. */
function selectOfType(type: MemoryType, conditions: Prisma.Sql, query: CandidateQuery): Prisma.Sql {
  const source = (query.exact.has(type) ? readEachRow : readByIndexes)(type, conditions, query);
  const isLent = type === 'episode' && query.keyword !== null;
  const lent = isLent
    ? selectLentEpisodes(conditions, query.filter, { join: source.join('matched'), similarity: source.similarity })
    : selectNothingLent;
  return Prisma.sql`(
    WITH ${source.rows}
      matched AS MATERIALIZED (${source.matched}),
      ${isLent ? withPastNeighbours(query.filter) : Prisma.empty}
      lent AS (${lent}),
      found AS (
        SELECT id, bool_or(is_nearest) AS is_nearest, ${isLent ? aggregateLenders : noLenders}
        FROM (
          SELECT id, score, NULL::float8 AS share, NULL::float8 AS similarity, NULL::float8[] AS words, false AS is_nearest
          FROM matched
          UNION ALL SELECT id, score, share, similarity, words, false FROM lent
          UNION ALL SELECT id, 0, NULL, NULL, NULL, true FROM (${source.nearest}) nearest
        ) brought
        GROUP BY id
      )
    SELECT ${selectColumns(type, query, source)}
    FROM found ${source.join('found')}
    WHERE found.is_nearest OR found.place <= ${query.most})`;
}

/** Only what is lent can bring more than the channel was asked for: then the best by all words are kept. */
const aggregateLenders = Prisma.sql`
  array_agg(share) FILTER (WHERE share IS NOT NULL) AS lender_shares,
  array_agg(similarity) FILTER (WHERE share IS NOT NULL) AS lender_similarities,
  array_agg(words) FILTER (WHERE share IS NOT NULL) AS lender_words,
  row_number() OVER (ORDER BY sum(score) DESC, id) AS place`;
const noLenders = Prisma.sql`
  NULL::float8[] AS lender_shares, NULL::float8[] AS lender_similarities, NULL::float8[] AS lender_words, 1 AS place`;

const selectNothingLent = Prisma.sql`
  SELECT NULL::uuid AS id, NULL::float8 AS score, NULL::float8 AS share, NULL::float8 AS similarity, NULL::float8[] AS words
  WHERE false`;

/** The columns of a candidate as SQL over row `m`, by the names that they have in here. Times are milliseconds since 1970. */
function rankingColumns(type: MemoryType): Record<string, string> {
  const [isEpisode, isFact, isRule] = [type === 'episode', type === 'fact', type === 'rule'];
  return {
    type: `'${type}'`,
    id: 'm.id',
    createdAt: milliseconds('m.created_at'),
    happenedAt: milliseconds(isRule ? 'm.created_at' : 'coalesce(m.observed_at, m.created_at)'),
    lastReferencedAt: milliseconds('m.last_referenced_at'),
    lastConfirmedAt: isEpisode ? 'NULL::float8' : milliseconds('m.last_confirmed_at'),
    importance: 'm.importance',
    confidence: isEpisode ? '1::float8' : 'm.confidence',
    decayRate: isEpisode ? '0::float8' : 'm.decay_rate',
    maturity: isRule ? 'm.maturity' : 'NULL::text',
    subjectKey: isFact ? 'm.subject_key' : 'NULL::text',
    predicateKey: isFact ? 'm.predicate_key' : 'NULL::text',
    hasName: isFact ? `m.subject ~ '^[[:upper:]]'` : 'false',
    sessionId: isEpisode ? 'm.session_id' : 'NULL::uuid',
  };
}

function shownColumns(type: MemoryType): Record<string, string> {
  const [isEpisode, isFact, isRule] = [type === 'episode', type === 'fact', type === 'rule'];
  return {
    version: 'm.version',
    content: 'm.content',
    scope: isEpisode ? 'NULL::text' : 'm.scope',
    permanence: isEpisode ? 'NULL::text' : 'm.permanence',
    subject: isFact ? 'm.subject' : 'NULL::text',
    predicate: isFact ? 'm.predicate' : 'NULL::text',
    kind: isFact ? 'm.kind' : 'NULL::text',
    observedAt: isRule ? 'NULL::float8' : milliseconds('m.observed_at'),
    validFrom: isFact ? milliseconds('m.valid_from') : 'NULL::float8',
    validTo: isFact ? milliseconds('m.valid_to') : 'NULL::float8',
    askedByUserAt: isRule ? milliseconds('m.asked_by_user_at') : 'NULL::float8',
    consolidationStatus: isEpisode ? 'm.consolidation_status' : 'NULL::text',
    hiddenSpans: isEpisode ? 'm.hidden_spans' : 'NULL::jsonb',
    sealedContent: isFact ? 'm.sealed_content::text' : 'NULL::text',
    dataKeyId: isFact ? 'm.data_key_id' : 'NULL::uuid',
  };
}

function storedColumns(type: MemoryType, { toShow }: CandidateQuery): Record<string, string> {
  return toShow ? { ...rankingColumns(type), ...shownColumns(type) } : rankingColumns(type);
}

function selectColumns(type: MemoryType, query: CandidateQuery, source: CandidateSource): Prisma.Sql {
  const stored = Object.entries(storedColumns(type, query)).map(([name, value]) => `${value} AS "${name}"`);
  return Prisma.sql`${Prisma.raw(stored.join(', '))},
    ${type === 'episode' ? endsWithQuestion : Prisma.sql`false`} AS asks, ${tellsTime(query)} AS "tellsTime",
    ${mentions(type, query)} AS mentions, ${namesSomebody(type, query)} AS "namesSomebody",
    ${tellsAmount(query)} AS "tellsAmount", ${selectSources(type, query)} AS sources,
    ${source.similarity} AS similarity, ${source.wholeSimilarity} AS "wholeSimilarity", found.is_nearest AS "isNearest", ${source.words} AS words,
    found.lender_shares AS "lenderShares", found.lender_words AS "lenderWords",
    found.lender_similarities AS "lenderSimilarities"`;
}

function tellsTime({ timeWords }: CandidateQuery): Prisma.Sql {
  if (timeWords === null) return Prisma.sql`false`;
  return Prisma.sql`(m.content ~ '[0-9]' OR m.search_vector @@ ${timeWords}::tsquery)`;
}

/** A word with a capital letter that does not begin a sentence, or one at the beginning that stands alone. */
function namesSomebody(type: MemoryType, { asksWho }: CandidateQuery): Prisma.Sql {
  return !asksWho || type === 'episode'
    ? Prisma.sql`false`
    : Prisma.sql`(m.content ~ '[^.!?[:space:]][[:space:]]["''(]?[[:upper:]][[:lower:]]' OR m.content ~ '^[[:upper:]][[:lower:]]+(,| and |$)')`;
}

/**
 * The places in episodes that a memory quotes; no other link has places. The type of the target is not asked for: a plan
 * for all tenants would go through every link to an episode, for each candidate. Links have no past: a look at the past
 * reads none.
 */
function selectSources(type: MemoryType, { readsSources, filter }: CandidateQuery): Prisma.Sql {
  if (!readsSources || type === 'episode' || filter.isPast) return Prisma.sql`NULL::json`;
  return Prisma.sql`(
    SELECT json_agg(json_build_array(l.target_id, l.spans->0->0) ORDER BY l.target_id) FROM memory_links l
    WHERE l.tenant_id = ${filter.tenantId} AND l.source_type = ${type} AND l.source_id = m.id
      AND l.relation = 'derived_from' AND l.spans <> '[]')`;
}

function tellsAmount({ asksAmount }: CandidateQuery): Prisma.Sql {
  if (!asksAmount) return Prisma.sql`false`;
  return Prisma.sql`m.content ~* '[0-9]|\m(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(thir|four|fif|six|seven|eigh|nine)teen|(twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|once|twice|half)\M'`;
}

function mentions(type: MemoryType, { about }: CandidateQuery): Prisma.Sql {
  return about === null || about.names.length === 0 || type === 'episode'
    ? Prisma.sql`false`
    : Prisma.sql`m.search_vector @@ ${askedNames}`;
}

/**
 * One list of values for each column, under its name. To write a value of JSON the database looks up its type, but only
 * once for a whole list: an object for each candidate takes several times as long.
 */
function aggregateColumns(query: CandidateQuery): Prisma.Sql {
  const stored = Object.keys(storedColumns('fact', query));
  const names = [
    ...stored,
    'asks',
    'tellsTime',
    'mentions',
    'namesSomebody',
    'tellsAmount',
    'similarity',
    'wholeSimilarity',
    'isNearest',
  ];
  const lists = names.map((name) => `'${name}', array_agg(c."${name}")`);
  if (query.readsSources) lists.push(`'sources', json_agg(c.sources)`);
  // Lists of lists: all of `words` have one length, while lenders are more or fewer.
  const lenders = ['lenderShares', 'lenderWords', 'lenderSimilarities'];
  if (query.keyword !== null) {
    lists.push(`'words', array_agg(c.words)`, ...lenders.map((name) => `'${name}', json_agg(c."${name}")`));
  }
  return Prisma.raw(lists.join(', '));
}

const moments = new Set([
  'createdAt',
  'happenedAt',
  'lastReferencedAt',
  'lastConfirmedAt',
  'observedAt',
  'validFrom',
  'validTo',
  'askedByUserAt',
]);

/** Makes an object of each place of the lists, list by list: object by object takes five times as long. */
function readCandidates(answer: string | null | undefined): Candidate[] {
  const lists = JSON.parse(answer ?? '{}') as Record<string, unknown[] | null>;
  const candidates = (lists['id'] ?? []).map((): Record<string, unknown> => ({
    words: [],
    sources: null,
    lenderShares: null,
    lenderWords: null,
    lenderSimilarities: null,
  }));
  for (const [name, values] of Object.entries(lists)) {
    const isMoment = moments.has(name);
    for (const [place, candidate] of candidates.entries()) {
      const value = values?.[place] ?? null;
      candidate[name] = isMoment && value !== null ? new Date(value as number) : value;
    }
  }
  return candidates as unknown as Candidate[];
}
