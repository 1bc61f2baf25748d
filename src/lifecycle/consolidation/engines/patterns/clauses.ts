import type { Token } from './tags.ts';

/** A part of a sentence with a verb of its own. */
export interface Clause {
  readonly tokens: readonly Token[];
  /** The word that joins it to the one before: and, but, because, so, who, or a mark. */
  readonly link: string;
  /** It has a verb and no subject: that of the clause before. */
  readonly sharesSubject: boolean;
  /** An order, such as "…, call Luigi". */
  readonly isOrder: boolean;
  /** The words before "who". */
  readonly antecedent: readonly Token[];
}

const links = /^(?:and|but|because|so|therefore|who|whereas)$/;
const subordinators =
  /^(?:if|when|whenever|while|since|after|before|once|until|unless|as|although|though|because|whether|that|what|how|where|why|for|every|each|next|in|should)$/;
const pointers = /^(?:it|its|this|that|there|these|those|him|them|which)$/;

/** Cuts a sentence where another statement begins; a part that points back ("it", "there") stays with what it points to. */
export function splitClauses(tokens: readonly Token[]): Clause[] {
  const clauses: Clause[] = [];
  let start = 0;
  let link = '';
  let sharesSubject = false;
  let isOrder = false;
  let antecedent: readonly Token[] = [];
  let depth = 0;
  for (let place = 1; place < tokens.length - 1; place += 1) {
    depth += depthOf(tokens[place]?.text ?? '', depth);
    if (depth > 0) continue;
    const cut = findCut(tokens, start, place);
    if (cut === null) continue;
    clauses.push({ tokens: tokens.slice(start, place), link, sharesSubject, isOrder, antecedent });
    antecedent = cut.link === 'who' ? lastPhrase(tokens.slice(start, place)) : [];
    ({ link, sharesSubject, isOrder } = cut);
    start = cut.next;
    place = cut.next;
  }
  clauses.push({ tokens: tokens.slice(start), link, sharesSubject, isOrder, antecedent });
  return clauses;
}

/** The noun phrase at the end of a clause. */
function lastPhrase(tokens: readonly Token[]): Token[] {
  const before = tokens.findLastIndex(({ pos, lower }) => /^(?:VERB|AUX|ADP)$/.test(pos) || lower === 'about');
  return tokens.slice(before + 1);
}

function depthOf(text: string, depth: number): number {
  if (text === '(') return 1;
  if (text === ')') return depth > 0 ? -1 : 0;
  return text === '"' ? (depth > 0 ? -1 : 1) : 0;
}

interface Cut {
  readonly next: number;
  readonly link: string;
  readonly sharesSubject: boolean;
  readonly isOrder: boolean;
}

function findCut(tokens: readonly Token[], start: number, place: number): Cut | null {
  const mark = tokens[place]?.lower ?? '';
  const isMark = /^[,;:]$/.test(mark) || (/^[–—-]$/.test(mark) && tokens[place]?.space !== '');
  if (!isMark && !links.test(mark)) return null;
  const left = tokens.slice(start, place);
  const last = left.at(-1);
  if (
    mark === 'who' &&
    (/^(?:VERB|AUX)$/.test(last?.pos ?? '') || /^(?:one|ones|someone|anyone|those|people)$/.test(last?.lower ?? ''))
  )
    return null;
  if (!left.some((_, at) => isFinite(left, at))) return null;
  let next = place + 1;
  let link = mark;
  while (
    next < tokens.length &&
    (links.test(tokens[next]?.lower ?? '') || /^(?:then|also|therefore)$/.test(tokens[next]?.lower ?? ''))
  ) {
    if (links.test(tokens[next]?.lower ?? '')) link = tokens[next]?.lower ?? link;
    next += 1;
  }
  if (link === ',' && subordinators.test(tokens[start]?.lower ?? '')) return null;
  const right = tokens.slice(next);
  if (link !== ';' && pointsBack(right)) return null;
  if (
    mark === 'and' &&
    /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december)$/.test(
      right[0]?.lower ?? '',
    )
  )
    return null;
  const isConditional = /^(?:if|when|whenever)$/.test(right[0]?.lower ?? '') && /^(?:so|and|but)$/.test(link);
  const opening = isConditional ? 'order' : link === 'who' ? 'verb' : openingOf(right);
  if (opening === null) return null;
  // A time named at the start holds for the rest of the sentence.
  if (
    opening === 'verb' &&
    link === 'and' &&
    left.some(({ lower }) => /^(?:until|till|while|during|meanwhile)$/.test(lower))
  )
    return null;
  if (mark === ':' && opening !== 'subject') return null;
  if (opening === 'order' && link === 'and' && right[0]?.pos === 'VERB') return null;
  return { next, link, sharesSubject: opening === 'verb', isOrder: opening === 'order' };
}

/** Whether a part speaks of "it" before it names anything: it stays with what it points to. */
function pointsBack(tokens: readonly Token[]): boolean {
  const pointer = tokens.findIndex(({ lower }) => pointers.test(lower));
  if (pointer < 0 || pointer > 6) return false;
  const isDeterminer =
    /^(?:this|that|these|those)$/.test(tokens[pointer]?.lower ?? '') &&
    /^(?:NOUN|ADJ|PROPN|VERB|AUX)$/.test(tokens[pointer + 1]?.pos ?? '');
  if (isDeterminer && pointer > 0) return false;
  const verb = findVerb(tokens);
  return pointer === 0 || !tokens.slice(Math.max(0, verb), pointer).some(({ pos }) => /^(?:NOUN|PROPN|ADJ)$/.test(pos));
}

/** How a clause begins: with a subject and its verb, or with a verb; null when it is none. */
function openingOf(tokens: readonly Token[]): 'subject' | 'verb' | 'order' | null {
  let place = 0;
  while (/^(?:ADV|PART|INTJ)$/.test(tokens[place]?.pos ?? '') && place < 3) place += 1;
  if (beginsOrder(tokens)) return 'order';
  if (isTensed(tokens, place)) return 'verb';
  if (!/^(?:PRON|DET|PROPN|NOUN|ADJ)$/.test(tokens[place]?.pos ?? '')) return null;
  for (let at = place + 1; at < Math.min(place + 8, tokens.length); at += 1) {
    const { pos = 'X', lower = '' } = tokens[at] ?? {};
    if (isFinite(tokens, at)) return 'subject';
    if (pos === 'PUNCT' && lower !== '-' && lower !== "'") return null;
    if (pos === 'CCONJ' && !/^(?:and|&)$/.test(lower)) return null;
    if (pos === 'SCONJ' || subordinators.test(lower)) return null;
  }
  return null;
}

/** Whether a verb may carry its clause: not an infinitive, a participle or a gerund. */
export function isFinite(tokens: readonly Token[], place: number): boolean {
  const { pos, lower } = tokens[place] ?? { pos: 'X', lower: '' };
  const before = tokens[place - 1];
  if (before?.lower === 'to') return false;
  if (pos === 'AUX') return !/^(?:be|been|being|having)$/.test(lower);
  if (pos !== 'VERB' || lower.endsWith('ing')) return false;
  if (before === undefined) return true;
  if (/^(?:DET|ADP|ADJ|NUM)$/.test(before.pos) || /^(?:my|your|his|her|their|our|its|'s)$/.test(before.lower))
    return false;
  return !/^(?:called|named|based|made|paid|taken|given|shared|organised|born)$/.test(lower) || before.pos === 'PRON';
}

/** Whether it is a verb that shows its tense: a bare "order" after a comma may be an order to somebody. */
function isTensed(tokens: readonly Token[], place: number): boolean {
  const token = tokens[place];
  if (token === undefined || !isFinite(tokens, place) || !/^(?:AUX|VERB)$/.test(token.pos)) return false;
  if (token.pos === 'AUX') return true;
  return token.lemma !== token.lower || /^(?:put|read|cut|have|go|get)$/.test(token.lower);
}

export function beginsOrder(tokens: readonly Token[]): boolean {
  const [first, second] = tokens;
  const isBase = first?.pos === 'VERB' && first.lemma === first.lower;
  const isNegated =
    (first?.lower === 'do' && second?.lower === 'not') ||
    (/^(?:never|please|always)$/.test(first?.lower ?? '') && second?.pos === 'VERB' && second.lemma === second.lower);
  return isBase || isNegated;
}

/** The place of the verb that carries the clause, and of the words before it. */
export function findVerb(tokens: readonly Token[]): number {
  return tokens.findIndex((_, place) => isFinite(tokens, place) && !isInSubordinate(tokens, place));
}

function isInSubordinate(tokens: readonly Token[], place: number): boolean {
  const first = tokens[0]?.lower ?? '';
  if (!/^(?:if|when|whenever|while|since|after|before|once|until|unless|as|although|though)$/.test(first)) return false;
  const comma = tokens.findIndex(({ text }) => text === ',');
  return comma > place;
}
