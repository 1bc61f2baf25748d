import { invalidInput } from '../../shared/errors.ts';
import { searchable } from '../../memory/text.ts';

export interface QueryReading {
  /** What a message about it calls it. */
  field: string;
  /** Whether quotation marks and leading hyphens have a meaning. */
  isExpression: boolean;
}

export interface QueryText {
  /** As it is embedded and shown: cleaned, cut, with its quotation marks and exclusions. */
  text: string;
  /** As it is embedded: without what is excluded. */
  meaning: string;
  /** What the words of the keyword channel are taken from. */
  words: string;
  phrases: string[];
  exclusions: string[];
}

/** A prompt may be as long as it likes; what comes after this many characters does not change what is found. */
const queryCharacterLimit = 4000;

/**
 * Reads a query as people type it: "quoted words" must stand together, -word and -"some words" must not occur. In a
 * question the words in quotation marks are a title or what someone said: they need not stand in the answer. A long text
 * is no search expression at all: there quotation marks and hyphens are only punctuation.
 */
export function readQuery(given: string, { field, isExpression }: QueryReading): QueryText {
  const text = cut(searchable(given).replace(/\s+/g, ' ').trim());
  if (text === '') throw invalidInput(field, 'text that is not blank', given);
  if (!isExpression || text.length > expressionLimit)
    return { text, meaning: text, words: withVariants(text), phrases: [], exclusions: [] };
  const exclusions: string[] = [];
  const kept = text.replace(exclusion, (_, before: string, phrase: string | undefined, word: string | undefined) => {
    exclusions.push(phrase ?? word ?? '');
    return before;
  });
  const phrases = kept.endsWith('?') ? [] : [...kept.matchAll(quotation)].map((match) => match[1] ?? '');
  const remaining = kept.replace(/["“”]/g, ' ').trim();
  // Nothing but exclusions says what is not wanted and not what is: then they are all there is to go by.
  const meaning = remaining === '' ? text : remaining;
  return { text, meaning, words: withVariants(remaining), phrases, exclusions };
}

const expressionLimit = 200;
const quotation = /["“”]([^"“”]+)["“”]/g;
/** A hyphen that starts a word. Before a digit it is a sign, before another hyphen an option. */
const exclusion = /(^|\s)-(?:["“”]([^"“”]+)["“”]|(\p{L}[^\s"“”]*))/gu;

/**
 * PostgreSQL's parser keeps paths, addresses and signed numbers whole, depending on what stands beside them: TX-4711 has
 * the lexeme -4711. The text is given a second time as bare words, so that an identifier is found in either form.
 */
function withVariants(text: string): string {
  const bare = text.replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ');
  const numbers = [...text.matchAll(/\d+/g)].map(([digits]) => `-${digits}`);
  const paths = [...text.matchAll(/(?<=^|\s)[\w.-]+\/[^\s]+/g)].map(([path]) => `/${path}`);
  return [text, bare, ...numbers, ...paths].join('\n');
}

function cut(text: string): string {
  return text.length <= queryCharacterLimit ? text : text.slice(0, queryCharacterLimit).toWellFormed();
}
