import { Prisma } from '../../generated/prisma/client.ts';
import type { TenantDatabase } from '../database.ts';
import { whereMemory, type MemoryFilter } from '../sql/memory-filter.ts';

/** What facts say about those whom a question may mean. */
export interface KnownPeople {
  /** Subjects that it names, as they are written. */
  subjects: string[];
  /** Facts about the user that say who somebody is or what the user is called. */
  own: { predicate: string; content: string }[];
  /** Facts with the words that introduce people: "User's daughter Silje is a nurse". */
  introductions: Introduction[];
  /** Keys of the subjects that all these facts name. */
  known: string[];
}

/** A fact that may say who somebody is. */
export interface Introduction {
  subject: string;
  content: string;
}

export interface PeopleQuery {
  filter: MemoryFilter;
  /** Keys of what may be a subject. */
  keys: readonly string[];
  /** Keys of the user's own subjects, and of the predicates that tell people. */
  ownSubjects: readonly string[];
  predicates: readonly string[];
  /** Words and phrases that introduce who is asked about: names and relations. */
  introducing: readonly string[];
  /** Of full-text search. */
  language: string;
}

const mostOwnFacts = 40;
const mostIntroductions = 60;
const charactersOfName = 100;
const charactersOfIntroduction = 160;

/**
 * Selects, as one JSON text, who is meant by a question. Null where no facts are searched, or those of the past. The OFFSET
 * keeps the planner from reading facts by their age until enough of them have the words.
 */
export function selectKnownPeople(query: PeopleQuery): Prisma.Sql | null {
  const { filter, keys, ownSubjects, predicates, introducing, language } = query;
  const conditions = filter.isPast ? null : whereMemory('fact', filter);
  if (conditions === null) return null;
  return Prisma.sql`
    WITH own AS MATERIALIZED (
      SELECT m.predicate_key, left(m.content, ${charactersOfName}::int) AS content FROM facts m
      WHERE ${conditions} AND m.subject_key = ANY (${[...ownSubjects]}::text[])
        AND m.predicate_key = ANY (${[...predicates]}::text[])
      ORDER BY m.created_at DESC, m.id LIMIT ${mostOwnFacts}::int),
    introducing AS MATERIALIZED (
      SELECT string_agg(word::text, ' | ')::tsquery AS words
      FROM (SELECT plainto_tsquery(memory_text_search(${language}), phrase) AS word
        FROM unnest(${[...introducing]}::text[]) phrase) phrases
      WHERE numnode(word) > 0),
    introduction AS MATERIALIZED (
      SELECT subject, content FROM (
        SELECT m.id, m.created_at, m.subject, left(m.content, ${charactersOfIntroduction}::int) AS content FROM facts m
        WHERE ${conditions} AND m.search_vector @@ (SELECT words FROM introducing) OFFSET 0) matching
      ORDER BY created_at DESC, id LIMIT ${mostIntroductions}::int),
    spoken AS MATERIALIZED (
      SELECT regexp_split_to_array(lower(text), '[^[:alnum:]]+') AS words
      FROM (SELECT content AS text FROM own UNION ALL SELECT subject || ' ' || content FROM introduction) said),
    names AS MATERIALIZED (
      SELECT words[place] AS key FROM spoken, generate_subscripts(words, 1) place
      UNION SELECT words[place] || '_' || words[place + 1] FROM spoken, generate_subscripts(words, 1) place)
    SELECT json_build_object(
      'subjects', coalesce((SELECT json_agg(DISTINCT m.subject) FROM facts m
        WHERE ${conditions} AND m.subject_key = ANY (${[...keys]}::text[])), '[]'),
      'own', coalesce((SELECT json_agg(json_build_object('predicate', predicate_key, 'content', content)) FROM own), '[]'),
      'introductions', coalesce((SELECT json_agg(json_build_object('subject', subject, 'content', content))
        FROM introduction), '[]'),
      'known', coalesce((SELECT json_agg(DISTINCT m.subject_key) FROM facts m
        WHERE ${conditions} AND m.subject_key = ANY (ARRAY(SELECT key FROM names))), '[]')
    )::text`;
}

export function readKnownPeople(answer: string | null | undefined): KnownPeople {
  return answer == null ? { subjects: [], own: [], introductions: [], known: [] } : (JSON.parse(answer) as KnownPeople);
}

/** Lists the lexemes of each word. */
export async function listLexemes(
  db: TenantDatabase,
  language: string,
  words: readonly string[],
): Promise<Map<string, string[]>> {
  const statement = Prisma.sql`
    SELECT json_object_agg(word, tsvector_to_array(to_tsvector(memory_text_search(${language}), word)))::text
    FROM unnest(${[...words]}::text[]) word`;
  const [answer] = await db.roundTrip([statement]);
  return new Map(Object.entries(JSON.parse(answer ?? '{}') as Record<string, string[]>));
}
