import { findVerb, isFinite } from './clauses.ts';
import { thirdPerson } from './grammar.ts';
import { joinTokens, type Token } from './tags.ts';

/** A being that clauses speak of. */
export interface Being {
  /** Subject of the facts about it. */
  readonly name: string;
  /** As the subject of a sentence. */
  readonly label: string;
  readonly gender: 'f' | 'm' | null;
  /** A thing of the user: no pronoun for persons means it. */
  readonly isThing?: boolean;
  /** It wants and says nothing: where the user may be meant, it is not certain that "he" is the animal. */
  readonly isAnimal?: boolean;
}

export const userBeing: Being = { name: 'user', label: 'User', gender: null };

const firstPerson: Readonly<Record<string, string>> = {
  i: 'the user',
  we: 'the user',
  me: 'the user',
  us: 'the user',
  my: "the user's",
  our: "the user's",
  mine: "the user's",
  ours: "the user's",
  myself: 'themselves',
  ourselves: 'themselves',
};

const butlerPerson: Readonly<Record<string, string>> = { i: 'the butler', me: 'the butler', my: "the butler's" };

/** Says of the butler what it tells of itself: "I am to read it" becomes "the butler is to read it". */
export function asButler(tokens: readonly Token[]): Token[] {
  return inThirdPerson(tokens, false, butlerPerson);
}

/** Says of the user what they say of themselves: "I take my pills" becomes "the user takes the user's pills". */
export function inThirdPerson(tokens: readonly Token[], subjectIsUser: boolean, person = firstPerson): Token[] {
  const verb = findVerb(tokens);
  let isUsers = subjectIsUser;
  let isPresent = subjectIsUser;
  const opensCondition = /^(?:if|when|whenever)$/.test(tokens[0]?.lower ?? '');
  return tokens.map((token, place) => {
    // "Šiška" is split into three words, one of them "i".
    const isWord = place === 0 || token.space !== '';
    const replacement = isWord ? person[token.lower] : undefined;
    if (replacement !== undefined && /^(?:i|we)$/.test(token.lower)) isUsers = isPresent = !isOneOfTwo(tokens, place);
    else if (token.text === ',' && opensCondition) isUsers = false;
    else if (/^(?:he|she|they|you|who|it)$/.test(token.lower) && place < tokens.length - 1) isUsers = false;
    if (replacement !== undefined && !(token.lower === 'us' && token.text === 'US'))
      return { ...token, text: replacement, lower: replacement };
    if (!isUsers || !/^(?:AUX|VERB)$/.test(token.pos)) return token;
    if (token.lower === 'am') return { ...token, text: 'is', lower: 'is' };
    const isMain =
      isFinite(tokens, place) &&
      (place === verb || followsSubject(tokens, place) || tokens[place - 1]?.lower === 'and');
    if (!isMain) return token;
    const isBase = token.lemma === token.lower || /^(?:am|are|were|have|do)$/.test(token.lower);
    if (!isBase || !isPresent) return token;
    const before = tokens
      .slice(Math.max(0, place - 3), place)
      .some(({ pos, lower }) => pos === 'AUX' && !/^(?:and)$/.test(lower));
    if (before && tokens[place - 1]?.lower !== 'and') return token;
    if (token.pos === 'VERB' && isModalBefore(tokens, place)) return token;
    const text = thirdPerson(token.text);
    return { ...token, text, lower: text.toLowerCase() };
  });
}

/** "my wife and I live": the verb is in the plural; not so in "it rains and I stay". */
function isOneOfTwo(tokens: readonly Token[], place: number): boolean {
  return tokens[place - 1]?.lower === 'and' && !tokens.slice(0, place).some((_, at) => isFinite(tokens, at));
}

function followsSubject(tokens: readonly Token[], place: number): boolean {
  for (let at = place - 1; at >= 0; at -= 1) {
    if (/^(?:i|we)$/.test(tokens[at]?.lower ?? '')) return true;
    if (tokens[at]?.pos !== 'ADV') return false;
  }
  return false;
}

function isModalBefore(tokens: readonly Token[], place: number): boolean {
  for (let at = place - 1; at >= 0; at -= 1) {
    const { lower = '', pos = 'X' } = tokens[at] ?? {};
    if (/^(?:i|we|user)$/.test(lower)) return false;
    if (/^(?:will|would|can|cannot|could|must|shall|should|may|might|do|does|did|to|not)$/.test(lower)) return true;
    if (pos === 'PUNCT') return false;
  }
  return false;
}

/** The sentence that is kept: capital first, no mark last, the user by one name. */
export function toSentence(tokens: readonly Token[]): string {
  const text = joinTokens(tokens)
    .replace(/^(?:(?:and|but|so|also|because|then)[ ,]+|(?:well|yes|no|oh|ok|okay|now|actually|luckily),? ?,+ ?)/i, '')
    .replace(/^the user(?='s\b| )/i, 'User')
    .replace(/,? ?\b(?:by the way|btw|of course|please|I mean it this time)\b(?=,|$)|\b(?:please|btw) /gi, '')
    .replace(/\s+([,.;:!?])/g, '$1')
    .replace(/\s{2,}/g, ' ')
    .replace(/^[\s,:;–—-]+|[\s.,;:!–—-]+$/g, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
