import { findVerb, isFinite } from './clauses.ts';
import { iso, resolveDates } from './dates.ts';
import { unframe, withoutPlea } from './frames.ts';
import type { Segment } from '../../../../memory/episodes/segments.ts';
import { expandContractions } from './grammar.ts';
import { introducedBy, partsOfName, presentedBy } from './introduction.ts';
import { isDangerousInstruction, readInstruction } from './instructions.ts';
import { ownSentences, type Sentence } from './own-speech.ts';
import { createCast, isNoName, meet, meetSpeaker, resolve, subjectOf, type Cast } from './people.ts';
import { permanenceOf } from './permanence.ts';
import { findDoubts, isUnreadable } from './refusals.ts';
import { relationNouns } from './relations.ts';
import { asButler, inThirdPerson, toSentence, userBeing, type Being } from './render.ts';
import { userSubject, type FactStatement, type Statement } from './statement.ts';
import { isCommonWord, joinTokens, tag, type Token } from './tags.ts';
import { typeSentence } from './typing.ts';
import { splitUnits, type Unit } from './units.ts';
import { splitList } from './values.ts';
import { isFragment, isOfNotes, readsAsUsers, isTrusted, isUntrustedOrder, type Origin } from './trust.ts';
import { isButlerTelling } from './voices.ts';

export interface Found {
  readonly statement: Statement;
  /** The sentence that says it, as it stands in the episode. */
  readonly quote: string;
}

/** What a sentence is read with. */
interface Reading extends Origin {
  readonly observedAt: Date;
  readonly cast: Cast;
  /** Of whom or what the unit before speaks. */
  being: Being;
}

const personName = String.raw`\p{Lu}[\p{L}'-]+`;
/** Of whom a butler tells: "Farid told me", "I read to Wilhelmina", "Chipo and I". */
const tellsOf = new RegExp(
  `(?<first>${personName})(?: \\p{Lu}[\\p{L}'-]+)?(?:,[^,.;]+,)? (?:told|asked|had|wants|wanted|said|mentioned|explained|confided|thanked|corrected|wondered|insisted|introduced|and I)\\b|\\bI\\b[^.;]* (?:for|with|from|to|of) (?<second>${personName})\\b|^(?:For|With|Over [^,]*,) (?<third>${personName})\\b|^(?<fourth>${personName})(?:'s\\b|(?: \\p{Lu}[\\p{L}'-]+)? \\p{Ll})`,
  'gu',
);

/** More of one episode are not judged: the time that it takes is bounded. */
const statementLimit = 200;

/** What an episode says, in its order, before the judge. */
export function readEpisode(
  content: string,
  observedAt: Date,
  userNames: readonly string[] = [],
  segments: readonly Segment[] = [],
): Found[] {
  const sentences = ownSentences(content, segments);
  const isTelling = isButlerTelling(sentences);
  const introductions = sentences.map((sentence, place) => {
    const isPresented = place === 0 && userNames.length === 0;
    return introducedBy(sentence, content) ?? (isPresented ? presentedBy(sentence, content, isTelling) : null);
  });
  const introduced = introductions.find((name) => name !== null) ?? null;
  const names = [...userNames, ...(introduced === null ? [] : partsOfName(introduced))];
  const reading: Reading = {
    observedAt,
    isTelling,
    isPlainSpeech: readsAsUsers(sentences),
    isNotes: isTelling || sentences.some(isOfNotes),
    cast: createCast(content, names, protagonistOf(content, sentences, { isTelling, names })),
    being: userBeing,
  };
  const found = sentences.flatMap((sentence, place) => {
    const statements = readSentence(sentence, introductions[place] ?? null, reading);
    const isSpeech = sentence.voice === 'user';
    const mayBeRule = isTrusted(sentence, reading) || isFragment(sentence);
    return statements.map((statement) => ({
      statement: statement.says === 'rule' ? { ...statement, isSpeech } : { ...statement, isSpeech, mayBeRule },
      quote: sentence.quote,
    }));
  });
  // A repeated statement is read once.
  const places = new Map(
    found.map(({ statement }, place) => [statement.content, place]).toReversed() as [string, number][],
  );
  return found.filter(({ statement }, place) => places.get(statement.content) === place).slice(0, statementLimit);
}

/** The user, or the person of whom a butler tells by name. */
function protagonistOf(
  content: string,
  sentences: readonly Sentence[],
  { isTelling, names }: { readonly isTelling: boolean; readonly names: readonly string[] },
): Being {
  if (!isTelling || /\buser\b/i.test(content.replace(/^user:/gim, '')) || /^(?:he|she|his|her)\b/i.test(content))
    return userBeing;
  const found = sentences
    .flatMap(({ text }) => [...text.matchAll(tellsOf)])
    .map(({ groups }) => groups?.['first'] ?? groups?.['second'] ?? groups?.['third'] ?? groups?.['fourth'] ?? '');
  const name = found.find((one) => !isCommonWord(one) && !isNoName(one));
  if (name === undefined) return userBeing;
  return { name: names.includes(name) ? userSubject : name, label: name, gender: null };
}

function readSentence(sentence: Sentence, named: string | null, reading: Reading): Statement[] {
  const text = expandContractions(
    (sentence.voice === 'butler' ? sentence.text : withoutPlea(sentence.text))
      .replace(/^the user, (?<name>\p{Lu}[^,]+), /iu, 'The user ')
      .replace(named === null ? /^$/ : metUser, 'The user '),
  );
  const statements: Statement[] = named === null ? [] : [noteOf(`User's name is ${named}`, userBeing, 0.2)];
  if (isQuestion(text)) return statements;
  const log = readLog(text, reading) ?? readBooking(text, reading);
  if (log !== null) return [log];
  if (sentence.voice === 'butler') return [];
  const framed = unframe(text.replace(/[.!;]+$/, ''));
  const rule = readRule(sentence, text, framed.text, reading);
  if (rule !== null) return [...statements, rule];
  if (isUntrustedOrder(sentence, framed.text, reading) || isHarmful(text) || isHarmful(framed.text)) return statements;
  const isFirst = sentence.voice === 'user' || !reading.isTelling || framed.isDirect;
  if (framed.speaker !== null) meetSpeaker(framed.speaker, reading.cast);
  const tokens = tag(framed.text);
  const units = splitUnits(tokens, { isButlerTelling: !isFirst });
  const reasons = framed.isRequest ? reasonsOf(tokens) : [];
  const said = reasons.length > 0 ? reasons : units;
  for (const [place, unit] of said.entries()) {
    if (unit.isOfButler) break;
    const told = place === 0 ? null : readRule(sentence, joinTokens(unit.tokens), joinTokens(unit.tokens), reading);
    if (told !== null) statements.push(told);
    else if (!unit.isOrder || isTrusted(sentence, reading))
      statements.push(
        ...readUnit(unit, said[place - 1] ?? null, {
          reading,
          sentence,
          isFirst,
          isNoted: framed.isToRemember || noted.test(text),
          isRequest: framed.isRequest && reasons.length === 0,
        }),
      );
  }
  meet(tokens, reading.cast);
  return [...statements, ...findRelations(text, statements, isFirst)];
}

/** "Today I met Ana Reis, who …" tells of the user. */
const metUser = /^(?:Today,? )?I (?:first )?met [^,]+, who /u;

function isHarmful(text: string): boolean {
  return [true, false].some((isReported) => isDangerousInstruction(text, { isReported }));
}

function isQuestion(text: string): boolean {
  return (
    /\?["')]*$/.test(text) ||
    /^(?:how|what|where|when|why|who|which) (?:do|does|did|can|could|should|would) (?:i|we|you|they)\b/i.test(text)
  );
}

/** Of a request only its reasons are kept: "asked for a recipe because her son eats no meat". */
function reasonsOf(tokens: readonly Token[]): Unit[] {
  const place = tokens.findIndex(({ lower }) => lower === 'because' || lower === 'since' || lower === 'as');
  if (place < 0 || tokens[place]?.lower === 'as') return [];
  const reason = tokens.slice(place + 1);
  return [{ tokens: reason, sharesSubject: false, isOrder: false, isOfButler: false, link: 'because' }];
}

interface Circumstances {
  readonly reading: Reading;
  readonly sentence: Sentence;
  /** "I" is the user. */
  readonly isFirst: boolean;
  readonly isNoted: boolean;
  /** Something is asked for, and nothing stated. */
  readonly isRequest: boolean;
}

/** Says what a unit says in the third person; as it was said, where its subject is not certain. */
function readUnit({ tokens, sharesSubject }: Unit, before: Unit | null, circumstances: Circumstances): Statement[] {
  const { reading, isFirst } = circumstances;
  const { cast } = reading;
  const verb = findVerb(tokens);
  const start = verb < 0 ? [] : tokens.slice(0, verb).filter(({ pos }) => pos !== 'ADV' && pos !== 'INTJ');
  if (sharesSubject && before !== null) {
    const being = reading.being;
    return keep(tokens, withSubject(tokens, being, isFirst && being.label === userBeing.label), being, circumstances);
  }
  reading.being = cast.user;
  if (beginsAsUsers(tokens, circumstances))
    return keep(tokens, withSubject(tokens, cast.user, false), cast.user, circumstances);
  const person = isFirst ? inThirdPerson(tokens, false) : asButler(tokens);
  const { rendered, being } = namePronoun(person, circumstances);
  const subject = being ?? subjectOf(isFirst ? inThirdPerson(start, false) : start, cast);
  reading.being = subject;
  return keep(tokens, rendered, subject, circumstances);
}

/** "Lives in Florø" in notes about the user, where nobody else was spoken of. */
const aboutUser =
  /^(?:(?:also|still|now|usually|always|mostly|currently|no longer) )?(?:lives?|works?|takes|wants|likes|loves|hates|prefers|needs|has|is|drinks|eats|plays|sleeps|owns|drives|speaks|swims|runs|walks|keeps|pays|uses|shares|avoids|enjoys|dislikes|teaches|studies|wears|collects|rents|earns|owes|gets|goes|comes|leaves|starts|moves|flies|travels|reads|sings|volunteers|trains|cannot|must|does) (?=\p{L}|\d)/iu;

function beginsAsUsers(tokens: readonly Token[], { reading, sentence, isFirst }: Circumstances): boolean {
  if (sentence.voice !== 'narrator' || (isFirst && reading.isPlainSpeech && reading.cast.all.length > 0)) return false;
  const text = joinTokens(tokens);
  if (!aboutUser.test(text) || (reading.cast.others.length > 0 && !sentence.startsLine)) return false;
  if (/^\p{L}+ (?:in|at|on)?:/u.test(text)) return false;
  const [, second] = tokens;
  return second !== undefined && !/^(?:AUX)$/.test(second.pos);
}

function withSubject(tokens: readonly Token[], { label }: Being, isFirst: boolean): Token[] {
  const [first, ...others] = isFirst ? inThirdPerson(tokens, true) : tokens;
  if (first === undefined) return [];
  return [
    word(label),
    { ...first, text: first.text.charAt(0).toLowerCase() + first.text.slice(1), space: ' ' },
    ...others,
  ];
}

/** Puts a name in the place of the "she" or "her" with which a statement begins, where it is certain who that is. */
function namePronoun(
  tokens: readonly Token[],
  { reading, isFirst }: Circumstances,
): { rendered: Token[]; being: Being | null } {
  const place = tokens.findIndex(({ pos, lower }) => !/^(?:ADV|INTJ)$/.test(pos) || /^(?:he|she)$/.test(lower));
  const { lower = '' } = tokens[place] ?? {};
  const isSubject = /^(?:he|she)$/.test(lower);
  if (!isSubject && !(place === 0 && /^(?:his|her)$/.test(lower))) return { rendered: [...tokens], being: null };
  const being = resolve(lower, reading.cast, { isSpeech: isFirst });
  if (being === null) return { rendered: [...tokens], being: null };
  if (being.label === reading.cast.user.label) reading.cast.user = { ...reading.cast.user, gender: being.gender };
  const label = place > 0 && being.label === 'User' ? 'the user' : being.label;
  const rendered = tokens.map((token, at) =>
    at === place ? { ...token, text: isSubject ? label : `${label}'s`, lower: label.toLowerCase() } : token,
  );
  return {
    rendered,
    being: isSubject
      ? being
      : { name: being.name, label: toSentence(rendered.slice(0, findVerb(rendered))), gender: null, isThing: true },
  };
}

const passing = new RegExp(
  `\\b(?:[Mm]y|[Oo]ur|[Tt]he user's|[Uu]ser's|[Hh]is|[Hh]er) (?:new |old |little |big )?(?<noun>${relationNouns}),? (?<name>\\p{Lu}[\\p{L}'-]+(?: \\p{Lu}[\\p{L}'-]+){0,2})(?=$|[ ,.;:!'])`,
  'gu',
);

/** "a present for my nephew Jonas" says who Jonas is, where nothing else that is kept does. */
function findRelations(text: string, kept: readonly Statement[], isFirst: boolean): FactStatement[] {
  return [...text.matchAll(passing)].flatMap(({ 0: whole, groups }) => {
    const { noun = '', name = '' } = groups ?? {};
    const isUsers = isFirst ? /^(?:my|our)/i.test(whole) : !/^(?:my|our)/i.test(whole);
    if (
      !isUsers ||
      kept.some(({ content }) => content.includes(name)) ||
      findDoubts(text, '', { isRequest: false }).includes('guess')
    )
      return [];
    return [
      noteOf(`User's ${noun.toLowerCase()} is ${name}`, { name: userSubject, label: 'User', gender: null }, null),
    ];
  });
}

const logs =
  /^(?:logged|recorded|entered|noted|weighed in at)[: ]+(?<what>(?:[\p{L}' -]+ )?\d.*)$|^(?<late>(?:weight|bp|blood pressure|pulse|resting pulse|ldl|temperature|glucose|blood sugar|steps)[: ]+(?:was |is |of )?\d.*?)(?: logged| recorded)?$/iu;

/** "Logged blood pressure 128/82": a measurement of that day. */
function readLog(text: string, { observedAt }: Reading): FactStatement | null {
  const found = logs.exec(text.replace(/[.!]+$/, ''))?.groups;
  const what = found?.['what'] ?? found?.['late'];
  if (what === undefined) return null;
  const dated = resolveDates(`${what.charAt(0).toUpperCase()}${what.slice(1)}`, observedAt, true);
  const content = /\d{4}-\d\d-\d\d/.test(dated) ? dated : `${dated} on ${iso(observedAt)}`;
  return { ...noteOf(content, userBeing, null), isEvent: true, permanence: 'volatile' };
}

const bookings = /^(?:booked|reserved|scheduled|appointment|booking)[: ]+(?:an? |the )?(?<what>.*\d.*)$/i;

/** "Booked: dentist, 24 March 08:15" is what the user has on that day. */
function readBooking(text: string, { observedAt }: Reading): FactStatement | null {
  const what = bookings.exec(text.replace(/[.!]+$/, ''))?.groups?.['what'];
  const content = what === undefined ? '' : resolveDates(`User has a booking: ${what}`, observedAt, false);
  return /\d{4}-\d\d-\d\d/.test(content) ? noteOf(content, userBeing, null) : null;
}

function readRule(
  { voice, isAttributed }: Sentence,
  text: string,
  rest: string,
  { isTelling, isPlainSpeech }: Reading,
): Statement | null {
  const isUsers = (voice === 'user' && isAttributed) || (voice === 'narrator' && !isTelling && isPlainSpeech);
  const said =
    (isUsers ? (readInstruction(rest, { isReported: false }) ?? readInstruction(text, { isReported: false })) : null) ??
    (voice === 'narrator'
      ? (readInstruction(text, { isReported: true }) ?? readInstruction(rest, { isReported: true }))
      : null);
  return said === null ? null : { says: 'rule', isSpeech: false, content: said, importance: 7, threshold: 0.2 };
}

function word(text: string): Token {
  return { text, lower: text.toLowerCase(), pos: 'PROPN', lemma: text.toLowerCase(), space: ' ' };
}

function keep(
  said: readonly Token[],
  rendered: readonly Token[],
  being: Being,
  { reading, sentence: { text }, isNoted, isRequest }: Circumstances,
): Statement[] {
  const isPast =
    said.some((_, place) => isFinite(said, place)) &&
    said.every((_, place) => !isFinite(said, place) || isPastTense(said, place));
  const sentence = toSentence(rendered);
  if (isUnreadable(joinTokens(said), sentence)) return [];
  const isPerfect = said.some(({ lower }) => /^(?:has|have|since)$/.test(lower));
  const dated = resolveDates(sentence, reading.observedAt, isPast, isPerfect);
  const note = noteOf(dated.charAt(0).toUpperCase() + dated.slice(1), being, isNoted ? 0.2 : 0.5);
  return splitStatement({ ...note, doubts: findDoubts(text, sentence, { isRequest }) }, being);
}

/** "allergic to nuts, eggs and milk" is three facts: each may end alone. */
function splitStatement(statement: FactStatement, being: Being): FactStatement[] {
  const { predicate, value, content, threshold, doubts } = statement;
  const isList =
    predicate !== null && /^(?:allergic_to|likes|dislikes|speaks)_/.test(predicate) && content.endsWith(` ${value}`);
  const values = isList ? splitList(value, { always: !/likes_/.test(predicate) }) : [];
  if (values.length < 2 || values.some((one) => one.split(' ').length > 3)) return [statement];
  const start = content.slice(0, content.length - value.length);
  return values.map((one) => ({ ...noteOf(start + one, being, threshold), doubts }));
}

function isPastTense(tokens: readonly Token[], verb: number): boolean {
  const { lower, lemma, pos } = tokens[verb] ?? { lower: '', lemma: '', pos: 'X' };
  if (pos === 'AUX')
    return (
      /^(?:was|were|had|did)$/.test(lower) ||
      (/^(?:has|have)$/.test(lower) && /ed$|en$|ne$/.test(tokens[verb + 1]?.lower ?? ''))
    );
  return lower !== lemma && !lower.endsWith('s');
}

const ended =
  /\b(?:no longer|any ?more|any longer|stopped|gave up|given up|quit|sold|cancelled|canceled|ended|died|left|retired|moved out|handed (?:in|back)|got rid of|used to|not .* after all|put off|off altogether)\b/i;

/** The writer says that it is to be kept. */
const noted =
  /^(?:noted|to note|note|for the record|to remember|remember|worth noting|rule from [^:]{2,20})(?: for next time)?:/i;

function noteOf(content: string, { name, label, isThing = false }: Being, threshold: number | null): FactStatement {
  const typed = isThing ? null : typeSentence(label, content);
  const isName = content.startsWith("User's name is ");
  return {
    says: 'fact',
    subject: isName || typed?.isOfUser === true ? userSubject : name,
    predicate: typed?.predicate ?? null,
    value: typed?.value ?? '',
    opposite: typed?.opposite ?? null,
    isEnded: ended.test(content),
    isEvent: false,
    isSpeech: false,
    mayBeRule: false,
    doubts: [],
    content,
    permanence: typed?.permanence ?? permanenceOf(content),
    importance: typed?.importance ?? 5,
    threshold: typed !== null && typed.predicate !== 'job' ? Math.min(threshold ?? 0, 0.2) : threshold,
  };
}
