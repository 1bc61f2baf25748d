import { createRequire } from 'node:module';
import type { Document, Model, PartOfSpeech, WinkMethods } from 'wink-nlp';

/** A word or mark of a sentence with its part of speech. */
export interface Token {
  readonly text: string;
  readonly lower: string;
  readonly pos: PartOfSpeech;
  readonly lemma: string;
  /** Blanks before it. */
  readonly space: string;
}

interface Tagger {
  readonly methods: WinkMethods;
  /** Words that are not in the lexicon get ids from here on. */
  readonly firstUnknown: number;
  readings: number;
}

let tagger: Tagger | null = null;
/** The tagger remembers each new word that it reads: after so many sentences it is loaded anew. */
const readingLimit = 50_000;

/** Loads the tagger at the first call: it takes 35 MB and 150 ms, which a server that never consolidates saves. */
function loadTagger(): Tagger {
  if (tagger !== null && (tagger.readings += 1) < readingLimit) return tagger;
  const require = createRequire(import.meta.url);
  const create = require('wink-nlp') as (model: Model, pipeline: string[]) => WinkMethods;
  const methods = create(require('wink-eng-lite-web-model') as Model, ['sbd', 'pos']);
  tagger = { methods, firstUnknown: idOf(methods, 'zzqxvk'), readings: 0 };
  return tagger;
}

type Feature = 'value' | 'pos' | 'lemma' | 'precedingSpaces' | 'uniqueId';

/** One feature of each word. The typings of the library do not know that it answers with a list. */
function listOf<T>({ its }: WinkMethods, words: ReturnType<Document['tokens']>, feature: Feature): T[] {
  return words.out(its[feature] as never) as unknown as T[];
}

function idOf(methods: WinkMethods, word: string): number {
  return listOf<number>(methods, methods.readDoc(word).tokens(), 'uniqueId')[0] ?? 0;
}

/** Verb forms that the tagger takes for nouns. */
const verbs =
  /^(?:lives|works|plays|walks|takes|drinks|runs|visits|stays|plans|needs|wants|hates|loves|likes|moves|starts|comes|leaves|sleeps|uses|sings|cooks|bakes|swims|drives|studies|trains|rents|pays|owes|flies|arrives|dances|fences|roast|call|order|swim|cook|bake|run|mirror|rent|work|live|plan|drink|walk|start|play|need|use)$/;
const beforeVerb = /^(?:PROPN|NOUN|PRON|CCONJ|ADV|PUNCT|)$/;
const afterVerb = /^(?:ADP|DET|ADV|PRON|ADJ|NUM|PROPN|PART|)$/;

/** Returns the words of a sentence with their parts of speech. */
export function tag(sentence: string): Token[] {
  const { methods } = loadTagger();
  const words = methods.readDoc(sentence).tokens();
  const texts = listOf<string>(methods, words, 'value');
  const parts = listOf<PartOfSpeech>(methods, words, 'pos');
  const lemmas = listOf<string>(methods, words, 'lemma');
  const spaces = listOf<string>(methods, words, 'precedingSpaces');
  const tagged = texts.map((text, place): Token => {
    const lower = text.toLowerCase();
    const pos = parts[place] ?? 'X';
    const followsPronoun =
      /^(?:i|he|she|we|they|who|user)$/.test(texts[place - 1]?.toLowerCase() ?? '') &&
      pos === 'NOUN' &&
      lower.endsWith('s') &&
      lemmas[place] !== lower;
    const isVerb =
      followsPronoun ||
      ((pos === 'NOUN' || (place === 0 && pos === 'PROPN')) &&
        verbs.test(lower) &&
        beforeVerb.test(parts[place - 1] ?? '') &&
        afterVerb.test(parts[place + 1] ?? ''));
    const lemma = isVerb && lower.endsWith('s') ? lower.slice(0, -1) : (lemmas[place] ?? lower);
    return { text, lower, pos: isVerb ? 'VERB' : pos, lemma, space: spaces[place] ?? '' };
  });
  return tagged.some(({ pos, lower }) => pos === 'AUX' || (pos === 'VERB' && !lower.endsWith('ing')))
    ? tagged
    : findLostVerb(tagged);
}

/** "User parks his car": without another verb, a word in -s after its subject is one. */
function findLostVerb(tokens: readonly Token[]): Token[] {
  const lost = tokens.findIndex(
    ({ pos, lower, lemma }, place) =>
      pos === 'NOUN' &&
      lower.endsWith('s') &&
      lemma !== lower &&
      beforeVerb.test(tokens[place - 1]?.pos ?? 'X') &&
      place > 0 &&
      afterVerb.test(tokens[place + 1]?.pos ?? 'NOUN'),
  );
  return tokens.map((token, place) => (place === lost ? { ...token, pos: 'VERB' } : token));
}

/** Whether a word is in the lexicon of the tagger; most names are not. */
export function isCommonWord(word: string): boolean {
  const { methods, firstUnknown } = loadTagger();
  return idOf(methods, word.toLowerCase()) < firstUnknown;
}

export function joinTokens(tokens: readonly Token[]): string {
  return tokens
    .map(({ space, text }) => space + text)
    .join('')
    .trim();
}
