import { findVerb, isFinite, splitClauses, type Clause } from './clauses.ts';
import { iso, resolveDates } from './dates.ts';
import { unframe } from './frames.ts';
import type { Segment } from '../../../../memory/episodes/segments.ts';
import { expandContractions } from './grammar.ts';
import { readInstruction } from './instructions.ts';
import { ownSentences, type Sentence } from './own-speech.ts';
import { permanenceOf } from './permanence.ts';
import { isRefused, isUnreal } from './refusals.ts';
import { relationNouns } from './relations.ts';
import { inThirdPerson, nameSubject, toSentence, userBeing, type Being } from './render.ts';
import { userSubject, type FactStatement, type Statement } from './statement.ts';
import { findSubject, meet, meetSpeaker, type Circumstances, type Reading } from './subject.ts';
import { joinTokens, tag, type Token } from './tags.ts';
import { typeSentence } from './typing.ts';
import { splitList } from './values.ts';

export interface Found {
  readonly statement: Statement;
  /** The sentence that says it, as it stands in the episode. */
  readonly quote: string;
}

const telling =
  /\b(?:the user|user|user's)\b|\bI (?:told|asked|informed|reminded|suggested|recommended|advised|offered|explained|answered|replied|helped|have (?:booked|sent|scheduled|added|ordered|reserved|updated|cancelled|created|checked)|booked|scheduled|reserved|can help|am (?:an? (?:\p{L}+ )?(?:assistant|butler|bot|ai)|happy to|here to|able to))\b|^(?:he|she|his|her) \p{L}|\b\p{Lu}\p{L}+ (?:mentioned|explained|said|told|asked|wants)\b/iu;
/** The user's own words, or a greeting: "I", "my", a question, an instruction. */
const plain =
  /\b(?:I|i|my|me|I'm|I've|I'll|I'd|we|our)\b|^(?:hi|hello|hey|ok|okay|thanks|thank you|please|good (?:morning|evening|afternoon))\b|^(?:please )?(?:always|never|don't|do not|from now on|in future|going forward|only|stop|keep|whenever|every time|actually|also|remember)\b/i;

/** What an episode says, in its order, before the judge. */
export function readEpisode(
  content: string,
  observedAt: Date,
  userNames: readonly string[] = [],
  segments: readonly Segment[] = [],
): Found[] {
  const sentences = ownSentences(content, segments);
  const isAgentTelling = sentences.some(({ voice, text }) => voice === 'narrator' && telling.test(text));
  const own = /\b[Tt]he user, (?<name>\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+){0,2}),/u.exec(content)?.groups?.['name'];
  const names = own === undefined ? userNames : [...userNames, own, own.split(' ')[0] ?? own];
  const reading: Reading = {
    observedAt,
    text: content,
    userNames: names,
    isAgentTelling,
    isAgentNamed: /\buser\b/i.test(content.replace(/^user:/gim, '')),
    isPlainSpeech: true,
    being: userBeing,
    user: userBeing,
    subject: null,
    name: null,
    kin: null,
    isAmbiguous: false,
    thing: null,
  };
  return sentences.flatMap((sentence) => {
    reading.isPlainSpeech &&= plain.test(sentence.text);
    const statements = readSentence(sentence, reading);
    return statements.map((statement) => ({ statement, quote: sentence.quote }));
  });
}

function readSentence(sentence: Sentence, reading: Reading): Statement[] {
  const text = expandContractions(sentence.text.replace(/^the user, (?<name>\p{Lu}[^,]+), /iu, 'The user '));
  const named = nameIn(sentence.text);
  const statements: Statement[] = named === null ? [] : [noteOf(`User's name is ${named}`, userBeing, null)];
  if (/\?["')]*$/.test(text) || isUnreal(text) || /\b(?:lol|haha|jk|just kidding)\b/i.test(text)) return statements;
  const log = readLog(text, reading) ?? readBooking(text, reading);
  if (log !== null) return [log];
  if (sentence.voice === 'butler') return [];
  const isFirst = sentence.voice === 'user' || !reading.isAgentTelling;
  const { text: rest, speaker, isDirect, isRequest } = unframe(text.replace(/[.!]+$/, ''));
  const rule = readRule(sentence, text, rest, reading);
  if (rule !== null) return [...statements, rule];
  if (speaker !== null) meetSpeaker(speaker, reading);
  const clauses = splitClauses(tag(rest));
  reading.subject = null;
  for (const [place, clause] of clauses.entries()) {
    const isReason = /^(?:because|who|so|;)$/.test(clause.link);
    if (isRequest && !clauses.slice(0, place + 1).some(({ link }) => /^(?:because|who|so|;)$/.test(link)) && !isReason)
      continue;
    const told = place === 0 ? null : readRule(sentence, joinTokens(clause.tokens), joinTokens(clause.tokens), reading);
    if (told !== null) {
      statements.push(told);
      continue;
    }
    statements.push(
      ...readClause(clause, reading, { isFirst: isFirst || isDirect, sentence, isWhole: clauses.length === 1 }),
    );
    meet(joinTokens(clause.tokens), reading);
  }
  if (speaker !== null && /user/i.test(speaker)) reading.being = reading.user;
  return [...statements, ...findRelations(text, statements, isFirst)];
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
    if (!isUsers || kept.some(({ content }) => content.includes(name)) || isUnreal(text)) return [];
    return [
      noteOf(`User's ${noun.toLowerCase()} is ${name}`, { name: userSubject, label: 'User', gender: null }, null),
    ];
  });
}

function nameIn(text: string): string | null {
  const name = String.raw`(?<name>\p{Lu}[\p{L}'-]+(?: (?:de |van |von )?\p{Lu}[\p{L}'-]+){0,2})`;
  return new RegExp(`^[Tt]he user, ${name},`, 'u').exec(text)?.groups?.['name'] ?? null;
}

const logs =
  /^(?:logged|recorded|entered|noted|weighed in at)[: ]+(?<what>(?:[\p{L}' -]+ )?\d.*)$|^(?<late>(?:weight|bp|blood pressure|pulse|resting pulse|ldl|temperature|glucose|blood sugar|steps)[: ]+(?:was |is |of )?\d.*?)(?: logged| recorded)?$/iu;

/** "Logged blood pressure 128/82": a measurement of that day. */
function readLog(text: string, { observedAt }: Reading): FactStatement | null {
  const found = logs.exec(text.replace(/[.!]+$/, ''))?.groups;
  const what = found?.['what'] ?? found?.['late'];
  if (what === undefined) return null;
  const measured = /^\d/.test(what)
    ? `User logged ${what}`
    : `User's ${what.charAt(0).toLowerCase()}${what.slice(1)}`.replace(/^(User's (?:[\p{L}' -]+?)) (?=\d)/u, '$1 was ');
  return { ...noteOf(`${measured} on ${iso(observedAt)}`, userBeing, null), isEvent: true, permanence: 'volatile' };
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
  { isAgentTelling, isPlainSpeech }: Reading,
): Statement | null {
  const isUsers = (voice === 'user' && isAttributed) || (voice === 'narrator' && !isAgentTelling && isPlainSpeech);
  const said =
    (isUsers ? (readInstruction(rest, { isReported: false }) ?? readInstruction(text, { isReported: false })) : null) ??
    (voice === 'narrator'
      ? (readInstruction(text, { isReported: true }) ?? readInstruction(rest, { isReported: true }))
      : null);
  return said === null ? null : { says: 'rule', content: said, importance: 7, threshold: 0.2 };
}

function readClause(clause: Clause, reading: Reading, circumstances: Circumstances): Statement[] {
  if (clause.isOrder) return readOrder(clause, circumstances);
  const tokens = clause.tokens;
  const verb = findVerb(tokens);
  if (verb < 0) return readFragment(tokens, reading, circumstances);
  const subject = findSubject(clause, verb, reading, circumstances);
  reading.subject = subject?.being ?? null;
  if (subject === null) return [];
  const { being, isImplicit } = subject;
  const isUser = being.name === userSubject && being.label === 'User';
  const person = circumstances.isFirst ? inThirdPerson(tokens, isUser && isImplicit) : [...tokens];
  const [first, ...others] = person;
  const rendered =
    isImplicit && first !== undefined
      ? [
          word(being.label),
          {
            ...first,
            text:
              first.lower === first.text.toLowerCase() && first.pos !== 'PROPN'
                ? first.text.charAt(0).toLowerCase() + first.text.slice(1)
                : first.text,
            space: ' ',
          },
          ...others,
        ]
      : nameSubject(nameThing(person, reading), being, reading.being);
  if (
    being.isThing !== true &&
    !/^user's (?!.*(?:mother|mum|mom|father|dad|sister|brother|son|daughter|wife|husband|partner|girlfriend|boyfriend|aunt|uncle|cousin|niece|nephew|grand|twin|kids|children|baby|child))/.test(
      being.name,
    )
  )
    reading.being = being;
  return keep(tokens, rendered, being, reading, circumstances.isWhole ? 0.5 : 0.5);
}

/** "It is in the harbour" after "bought a boat" is said of the boat. */
function nameThing(tokens: readonly Token[], { thing }: Reading): Token[] {
  const [first, ...others] = tokens;
  return first?.lower === 'it' && thing !== null ? [word(`The user's ${thing}`), ...others] : [...tokens];
}

function readOrder({ tokens }: Clause, { isFirst, sentence }: Circumstances): Statement[] {
  const isUsers =
    (isFirst && sentence.voice === 'user' && sentence.isAttributed) || (!isFirst && /\buser\b/i.test(sentence.text));
  const said = isUsers ? readInstruction(joinTokens(tokens), { isReported: false }) : null;
  return said === null ? [] : [{ says: 'rule', content: said, importance: 7, threshold: 0.2 }];
}

function word(text: string): Token {
  return { text, lower: text.toLowerCase(), pos: 'PROPN', lemma: text.toLowerCase(), space: ' ' };
}

function keep(
  said: readonly Token[],
  rendered: readonly Token[],
  being: Being,
  { observedAt }: Reading,
  threshold: number,
): Statement[] {
  const verb = findVerb(said);
  const isPast = verb >= 0 && said.every((_, place) => !isFinite(said, place) || isPastTense(said, place));
  const sentence = toSentence(rendered);
  if (isRefused(joinTokens(said), sentence, said)) return [];
  return splitStatement(noteOf(resolveDates(sentence, observedAt, isPast), being, threshold), being);
}

/** "allergic to nuts, eggs and milk" is three facts: each may end alone. */
function splitStatement(statement: FactStatement, being: Being): FactStatement[] {
  const { predicate, value, content, threshold } = statement;
  const isList =
    predicate !== null && /^(?:allergic_to|likes|dislikes|speaks)_/.test(predicate) && content.endsWith(` ${value}`);
  const values = isList ? splitList(value, { always: !/likes_/.test(predicate) }) : [];
  if (values.length < 2 || values.some((one) => one.split(' ').length > 3)) return [statement];
  const start = content.slice(0, content.length - value.length);
  return values.map((one) => noteOf(start + one, being, threshold));
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

/** Without a verb: kept only when it says when or how much. */
function readFragment(tokens: readonly Token[], reading: Reading, { isFirst }: Circumstances): Statement[] {
  const text = joinTokens(tokens);
  if (
    !/\d|\b(?:no more|every|only|Mondays?|Tuesdays?|Wednesdays?|Thursdays?|Fridays?|Saturdays?|Sundays?|(?:days|weeks|months|years)|January|February|March|April|June|July|August|September|October|November|December)\b/.test(
      text,
    ) ||
    text.split(' ').length < 4
  )
    return [];
  const person = isFirst ? inThirdPerson(tokens, false) : tokens;
  return keep(tokens, person, reading.being, reading, 0.75);
}

const ended =
  /\b(?:no longer|any ?more|any longer|stopped|gave up|given up|quit|sold|cancelled|canceled|ended|died|left|retired|moved out|handed (?:in|back)|got rid of|used to|not .* after all|put off|off altogether)\b/i;

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
    mayBeRule:
      /\b(?:wants?|would like|expects|insists|should|must|are to be|is to be|please|needs? the user's)\b/i.test(
        content,
      ),
    content,
    permanence: typed?.permanence ?? permanenceOf(content),
    importance: typed?.importance ?? 5,
    threshold: typed !== null && typed.predicate !== 'job' ? Math.min(threshold ?? 0, 0.2) : threshold,
  };
}
