import { findVerb, isFinite, splitClauses, type Clause } from './clauses.ts';
import { joinTokens, type Token } from './tags.ts';

/** A part of a sentence that states something by itself: mostly the whole sentence. */
export interface Unit {
  readonly tokens: readonly Token[];
  /** It has a verb and no subject: that of the unit before. */
  readonly sharesSubject: boolean;
  /** An order, such as "…, call Luigi". */
  readonly isOrder: boolean;
  /** It tells what the butler did because of the sentence: "…, so I changed the list". */
  readonly isOfButler: boolean;
  /** The word or mark that joins it to the unit before. */
  readonly link: string;
}

const subordinators =
  /^(?:if|when|whenever|while|since|after|before|once|until|unless|as|although|though|because|whether|that|what|how|where|why|which|who|whose|whoever|either|neither|both|not|so|should)$/;
/** What a butler is to do, or tells after a colon, is no mere consequence. */
const butler =
  /^(?:the butler|the assistant|I)\b(?!.*:)(?! (?:is|am|was) (?:not )?to\b| (?:must|should|shall|will|may|promised|agreed)\b)/i;

/**
 * Splits a sentence only where two statements clearly stand side by side. Whatever leaves a doubt stays together: a
 * sentence that says two things is worth more than a clause with a wrong subject.
 */
export function splitUnits(tokens: readonly Token[], { isButlerTelling }: { isButlerTelling: boolean }): Unit[] {
  const units: Unit[] = [];
  const clauses = splitClauses(tokens);
  for (const [place, clause] of clauses.entries()) {
    const before = units.at(-1);
    const isOfButler =
      /^(?:so|and|but)$/.test(clause.link) &&
      isButlerTelling &&
      clauses[place + 1]?.link !== ':' &&
      butler.test(joinTokens(clause.tokens));
    if (before === undefined || isOfButler || before.isOfButler || stands(before.tokens, clause, isButlerTelling))
      units.push({
        tokens: clause.tokens,
        sharesSubject: clause.sharesSubject,
        isOrder: clause.isOrder,
        isOfButler,
        link: clause.link,
      });
    else units[units.length - 1] = { ...before, tokens: tokens.slice(startOf(tokens, before), endOf(tokens, clause)) };
  }
  return units;
}

function startOf(tokens: readonly Token[], { tokens: [first] }: Unit): number {
  return first === undefined ? 0 : tokens.indexOf(first);
}

function endOf(tokens: readonly Token[], { tokens: own }: Clause): number {
  const last = own.at(-1);
  return last === undefined ? tokens.length : tokens.indexOf(last) + 1;
}

/** Whether a clause is a statement of its own beside what comes before it. */
function stands(
  before: readonly Token[],
  { tokens, link, sharesSubject, isOrder }: Clause,
  isButlerTelling: boolean,
): boolean {
  // A butler that tells of the user gives no orders: "put in after a crash" is none.
  const isOpen = before.some(
    ({ lower, text }) => subordinators.test(lower) || text === '(' || text === ':' || text === '"',
  );
  if (isOrder) return !isButlerTelling && !isOpen && !beginsAsOrder(before);
  if (!/^(?:and|but|;|whereas)$/.test(link) || tokens.length < 3 || before.length < 3 || isOpen) return false;
  // "From January she works four days, and the pay shrinks": the time holds for both.
  if (before[0]?.pos === 'ADP') return false;
  const [first, second] = tokens;
  if (first === undefined || tokens.some(({ text }) => text === '"')) return false;
  if (!sharesSubject) return tokens.length > 4 && !pronouns.test(first.lower) && namesSubject(tokens);
  return isTensed(first, second) && beginsWithSubject(before) && !isSubjectUnsure(before, first);
}

const pronouns =
  /^(?:it|its|this|that|these|those|they|their|his|her|he|she|there|one|both|neither|none|all|some|who|which)$/;

/** "…, and rehearsals are on Wednesdays" says of what only with the words before it; "…, and Moe's boat leaks" stands alone. */
function namesSubject(tokens: readonly Token[]): boolean {
  const verb = findVerb(tokens);
  const next = tokens[verb + 1];
  // "reads with NVDA and a braille display" has a noun that looks like a verb.
  const isVerb = verb > 0 && next !== undefined && next.pos !== 'CCONJ' && !isBareAfterOne(tokens, verb);
  const naming = /^(?:i|we|my|our|user|of)$/;
  return isVerb && tokens.slice(0, verb).some(({ pos, lower }) => pos === 'PROPN' || naming.test(lower));
}

function isBareAfterOne(tokens: readonly Token[], verb: number): boolean {
  const { pos = 'X', lower = '', lemma = '' } = tokens[verb] ?? {};
  return /^(?:an?|one|each|every)$/.test(tokens[0]?.lower ?? '') && pos === 'VERB' && lower === lemma;
}

/** "he talked of boats, he has sold two and keeps one", "is proud and worried": of whom the next verb speaks is not certain. */
function isSubjectUnsure(before: readonly Token[], { lower }: Token): boolean {
  const verbs = before.flatMap((_, place) => (isFinite(before, place) ? [place] : []));
  const comma = before.findIndex(({ text }) => text === ',');
  const isSpliced = comma > (verbs[0] ?? comma) && verbs.some((place) => place > comma);
  return isSpliced || (lower.endsWith('ed') && before.some((one) => /^(?:is|are|was|were)$/.test(one.lower)));
}

/** "Speak up, do not whisper" is one instruction, and so is "when I am out, water them". */
function beginsAsOrder(tokens: readonly Token[]): boolean {
  const first = tokens.find(({ pos, lower }) => !/^(?:CCONJ|INTJ|PUNCT)$/.test(pos) && lower !== 'please');
  return (
    first === undefined || (first.pos === 'VERB' && first.lower === first.lemma) || subordinators.test(first.lower)
  );
}

function isTensed({ pos, lower, lemma }: Token, next: Token | undefined): boolean {
  if (pos === 'AUX') return /^(?:is|has|was|does|will|can|cannot)$/.test(lower);
  return pos === 'VERB' && lower !== lemma && /(?:s|ed)$/.test(lower) && next !== undefined && next.pos !== 'VERB';
}

/** "User works …", "My sister lives …": it is certain of whom the next verb speaks. */
function beginsWithSubject(tokens: readonly Token[]): boolean {
  const verb = tokens.findIndex(({ pos }) => pos === 'VERB' || pos === 'AUX');
  const subject = tokens.slice(0, verb);
  return (
    verb > 0 &&
    verb < 5 &&
    subject.every(({ pos, lower }) => /^(?:PROPN|NOUN|PRON|DET|PART|ADJ|ADV)$/.test(pos) || lower === "'s")
  );
}
