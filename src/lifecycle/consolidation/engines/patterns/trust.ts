import { beginsOrder } from './clauses.ts';
import { isOrder } from './instructions.ts';
import type { Sentence } from './own-speech.ts';
import { tag } from './tags.ts';

/** What an episode is, as far as its sentences tell. */
export interface Origin {
  /** Somebody's notes about the user, and not a text that anyone may have written. */
  readonly isNotes: boolean;
  /** The writer is a butler who tells of the user: "I" is not the user. */
  readonly isTelling: boolean;
  /** The user's own words. */
  readonly isPlainSpeech: boolean;
}

/** The user's own words, or a greeting: "I", "my", a question, an instruction. */
const plain =
  /\b(?:I|i|my|me|I'm|I've|I'll|I'd|we|our)\b|^(?:hi|hello|hey|ok|okay|thanks|thank you|please|good (?:morning|evening|afternoon)|(?:can|could|would|will) you)\b|^(?:please )?(?:always|never|don't|do not|from now on|in future|going forward|only|stop|keep|whenever|every time|actually|also|remember)\b/i;

const firstPerson = /\b(?:I|i|my|me|we|our|us)\b/;

/** Whether it begins as the user's own words and hardly leaves them, or says "I" again and again. */
export function readsAsUsers(sentences: readonly Sentence[]): boolean {
  const count = (words: RegExp): number => sentences.filter(({ text }) => words.test(text)).length;
  const begins = plain.test(sentences[0]?.text ?? '') && count(plain) * 2 > sentences.length;
  return begins || (count(firstPerson) > 0 && count(firstPerson) * 4 >= sentences.length);
}

/** Notes say "she", or begin with what was done, and do not say who did it: "Drafted a reply". */
export function isOfNotes({ text }: Sentence): boolean {
  if (/\b(?:him|her|his|she|he)\b/i.test(text)) return true;
  const [first, second] = tag(text.slice(0, 60));
  return (
    first !== undefined &&
    first.pos === 'VERB' &&
    first.lower !== first.lemma &&
    !first.lower.endsWith('ing') &&
    second?.text !== ','
  );
}

/** The user says it in a line of theirs, or it stands in notes about the user. */
export function isTrusted({ voice, isAttributed }: Sentence, { isNotes, isTelling, isPlainSpeech }: Origin): boolean {
  return voice === 'user' ? isAttributed : isNotes || (!isTelling && isPlainSpeech);
}

/** "Weekly mileage in kilometres": notes say so what is wanted, while texts that anybody may have written give orders. */
export function isFragment({ voice, text }: Sentence): boolean {
  const tokens = tag(text).filter(({ pos, lower }) => !/^(?:PUNCT|CCONJ|INTJ)$/.test(pos) && lower !== 'please');
  const comma = text.indexOf(',');
  const isOrderAfter =
    /^(?:if|when|whenever|before|after|for|in|on|at|from|every|each|any|next)\b/i.test(text) &&
    comma > 0 &&
    beginsOrder(tag(text.slice(comma + 1).trim()));
  return voice === 'narrator' && !beginsOrder(tokens) && !isOrder(text) && !isOrderAfter;
}

/** An order that nobody can be named for: it may be somebody else's text. */
export function isUntrustedOrder(sentence: Sentence, text: string, origin: Origin): boolean {
  return isOrder(text) && !isTrusted(sentence, origin);
}
