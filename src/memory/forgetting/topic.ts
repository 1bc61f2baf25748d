import { invalidInput } from '../../shared/errors.ts';
import { splitSentences, type Sentence } from '../outdated/sentences.ts';
import { wordsOf } from '../outdated/says.ts';

/** What is to be forgotten, in words. */
export interface Topic {
  /** Without words that only ask to forget it. */
  text: string;
  words: ReadonlySet<string>;
  /** The word that names the thing itself: "wedding" in "my sister's wedding in June". Null where there is none. */
  head: string | null;
}

const request =
  /^\s*(?:please\s+)?(?:forget\s+|delete\s+|remove\s+)?(?:everything|anything|all|whatever|what)?(?:\s+(?:that\s+)?(?:you|we|i)\s+(?:\p{L}+\s+){1,3}?)?\s*(?:about|regarding|concerning|related to|to do with)\s+/iu;
/** Words that name no topic. */
const generic = wordsOf(
  'everything anything all something thing stuff topic matter subject regarding forget know please',
);
const preposition = /\s(?:of|on|in|at|to|for|with|about|from|by|during|since|before|after|and)\s/iu;

/** Throws for a text that names nothing: it would take everything or nothing. */
export function readTopic(about: string): Topic {
  const text = about.replace(/\s+/gu, ' ').replace(request, '').trim() || about.trim();
  const words = findKeyWords(text);
  if (words.size === 0) throw invalidInput('about', 'the words that name a topic, such as "the garage code"', about);
  const head = [...findKeyWords(text.split(preposition)[0] ?? '')].at(-1) ?? null;
  return { text, words, head };
}

function findKeyWords(text: string): Set<string> {
  return new Set([...wordsOf(text)].filter((word) => !generic.has(word)));
}

/** Share of a topic's words that a text must have, and the word of the thing itself with them. Of one or two, all. */
const leastShare = 2 / 3;

/** Tells whether words are about a topic: what shares only a name with it is not. */
export function isAbout({ words, head }: Topic, said: ReadonlySet<string>): boolean {
  if (head !== null && !said.has(head)) return false;
  return shareOf(words, said) >= (words.size < 3 ? 1 : leastShare);
}

/** Share of a topic's words that a text has. */
export function shareOf(words: ReadonlySet<string>, said: ReadonlySet<string>): number {
  return [...words].filter((word) => said.has(word)).length / words.size;
}

/** A sentence that goes on with what was said before it. */
const goesOn = /^(?:it|this|that|these|those|he|she|they)\b/iu;

/** Returns the sentences of a text that are about a topic, with what goes on with one or answers it. */
export function findSentencesAbout(text: string, topic: Topic): Sentence[] {
  const found: Sentence[] = [];
  let earlier: Sentence | undefined;
  for (const sentence of splitSentences(text)) {
    const last = found.at(-1);
    const isNext = last !== undefined && last === earlier;
    if (isAbout(topic, wordsOf(sentence.text)) || (isNext && (goesOn.test(sentence.text) || last.text.endsWith('?')))) {
      found.push(sentence);
    }
    earlier = sentence;
  }
  return found;
}
