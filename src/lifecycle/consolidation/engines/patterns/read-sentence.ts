import { attributeRules } from './attribute-rules.ts';
import { unframe, type Framed } from './frames.ts';
import { instructionAboutUser } from './grammar.ts';
import { isDangerous, readInstruction } from './instructions.ts';
import type { Sentence } from './own-speech.ts';
import { readVerbPhrase, type Subject } from './read-verb-phrase.ts';
import { relationNouns, relationOf, type Relation } from './relations.ts';
import { userSubject, type FactStatement, type Statement } from './statement.ts';
import { timeLast } from './time-rules.ts';
import { capitalise, keyOf, readName, trimEnd } from './values.ts';

export interface Circumstances {
  /** Its writer is a butler that tells of the user: "I" is not the user. */
  readonly isAgentTelling: boolean;
  /** Nothing before it in the episode looks as if somebody else had written it. */
  readonly isPlainSpeech: boolean;
  /** Day of the episode. */
  readonly saidOn: string;
}

const doubts =
  /\b(?:if|unless|whether|suppose|imagine|pretend|assuming|maybe|perhaps|probably|possibly|might|would|could|should|i think|i guess|i believe|i suppose|i feel like|not sure|unsure|no idea|wonder|wondering|wish|hope|dream|dreaming|lol|haha|hehe|jk|kidding|joking|joke|sarcas\w*|yeah right|as if|used to|in theory|hypothetical\w*|let's say|back then|as a (?:child|kid|teenager|student)|when i was|when (?:he|she|they) (?:was|were)|formerly|previously|fictional|role ?play|so (?:he|she|they) thinks?|apparently|supposedly|allegedly|almost|practically|basically|or something|i'd|in (?:the|a|my|this) (?:movie|film|book|game|story|song|show|novel|series)|testing|for example|e\.g)\b|\bmay\b(?! \d)|(?:^|\s)\/s\b|[😂🤣😉🙄😜]|;\)|\?/u;

/** What a sentence says. When in doubt, nothing. */
export function readSentence(sentence: Sentence, circumstances: Circumstances): Statement[] {
  const framed = unframe(restoreCapitals(sentence.text), sentence.voice, circumstances.isAgentTelling);
  if (sentence.text.trimEnd().endsWith('?')) return [];
  const rule = readRule(sentence, framed, circumstances);
  if (rule !== null) return [rule];
  const lower = framed.text.replace(/\bMay\b/g, 'month').toLowerCase();
  if (doubts.test(lower) || /["`]/.test(framed.text)) return [];
  const statements = readClauses(framed, circumstances.saidOn);
  return statements.length === 0 && framed.isToRemember ? readReminder(framed) : statements;
}

/** After words that are not the user's, only a speaker named as the user gives orders. */
function readRule(
  { text, voice, isAttributed }: Sentence,
  framed: Framed,
  { isPlainSpeech }: Circumstances,
): Statement | null {
  if (/\b(?:lol|haha|jk|kidding|joking)\b/i.test(text)) return null;
  const isQuoted = voice === 'narrator' && !framed.isThirdPerson;
  const isUsers = framed.isFirstPerson && ((voice === 'user' && isAttributed) || isQuoted || isPlainSpeech);
  const said = isUsers ? readInstruction(framed.text, { isReported: false }) : null;
  return said ?? (voice === 'narrator' ? readInstruction(text, { isReported: true }) : null);
}

const verbStarts =
  'live|lives|work|works|speak|speaks|like|likes|love|loves|hate|hates|prefer|prefers|have|has|am|is|was born|drive|drives|own|owns|goes by|go by|moved|do not|does not|study|studies|take|takes|enjoy|enjoys|dislike|dislikes';

const unnamed =
  /^(?:fear|hope|peace|denial|sin|mud|pain|love|trouble|town|work|home|night|here|there|school|bed|vain|luck|the|that|this|them|him|her|you|what|nowhere|everywhere|scratch|heaven|hell)$/;
const naming =
  /\b((?:live|lives|living|based) in|work (?:at|for)|works (?:at|for)|moved to|(?:am|i'm|is) from|name is|(?:called|named)) (\p{Ll}[\p{Ll}-]{2,})(?=$|[.!,]| and (?:i|my) )/gu;

/** Capitalises names in a text that is all in small letters. */
function restoreCapitals(text: string): string {
  if (/\p{Lu}/u.test(text.replace(/\bI\b/g, ''))) return text;
  return text.replace(naming, (whole, verb: string, name: string) =>
    unnamed.test(name) ? whole : `${verb} ${capitalise(name)}`,
  );
}

function readClauses(framed: Framed, saidOn: string): Statement[] {
  const { self, possessive } = pronounsOf(framed);
  if (self === '') return [];
  const starts = `(?:${self}|${possessive}) `;
  const breaks = new RegExp(
    `(?:,? (?:and|but)|,| -| [–—]|:) (?=${starts})|,? (?:and|but) (?:also )?(?=(?:${verbStarts}) )`,
    'i',
  );
  const statements: Statement[] = [];
  let subject: Subject | null = null;
  for (const clause of framed.text.split(breaks)) {
    const read = readClause(timeLast(trimEnd(clause)), { self, possessive, saidOn, inherited: subject });
    if (read === null) break;
    subject = read.subject;
    statements.push(...read.statements);
  }
  return [...statements, ...peopleInPassing(framed.text, possessive, statements)];
}

/** "a present for my nephew Jonas" says who Jonas is, whatever else it says. */
function peopleInPassing(text: string, possessive: string, known: readonly Statement[]): Statement[] {
  const mention = new RegExp(`\\b(?:${possessive}) (?<noun>${relationNouns}),? (?<name>\\p{Lu}.*)$`, 'u');
  const found = mention.exec(text)?.groups;
  const kind = relationOf(found?.['noun'] ?? '');
  const name = readName(found?.['name'] ?? '');
  if (kind === null || name === null) return [];
  const fact = relationFact(kind, name);
  return known.some((statement) => statement.content === fact.content) ? [] : [fact];
}

function pronounsOf({ isFirstPerson, isReported, isThirdPerson }: Framed): { self: string; possessive: string } {
  const first = isFirstPerson ? [['I|we', 'my|our'] as const] : [];
  const told = isReported ? [['he|she|they', 'his|her|their'] as const] : [];
  const named = isThirdPerson ? [['(?:the )?user', "(?:the )?user's"] as const] : [];
  const all = [...first, ...told, ...named];
  return { self: all.map(([self]) => self).join('|'), possessive: all.map(([, possessive]) => possessive).join('|') };
}

interface Reading {
  readonly self: string;
  readonly possessive: string;
  readonly saidOn: string;
  /** Of whom the clause before spoke, for one that begins with its verb. */
  readonly inherited: Subject | null;
}

interface ReadClause {
  readonly subject: Subject | null;
  readonly statements: readonly Statement[];
}

const telling =
  /^(?:says?|said|tells?|told|thinks?|asks?|asked|believes?|claims?|claimed|insists?|suggests?|suggested|knows?|reckons?|writes?|wrote|wants? to know|mentioned|heard|read|am just|is just)\b/i;

/** Null when the rest of the sentence is what somebody else says. */
function readClause(clause: string, reading: Reading): ReadClause | null {
  const own = new RegExp(`^(?<self>${reading.self}) (?<phrase>.+)$`, 'i').exec(clause)?.groups;
  if (own !== undefined) {
    const subject = { name: userSubject, label: 'User', isBaseForm: /^(?:I|we|they)$/i.test(own['self'] ?? '') };
    return readOf(subject, own['phrase'] ?? '', reading);
  }
  const owned = new RegExp(`^(?:${reading.possessive}) (?<rest>.+)$`, 'i').exec(clause)?.groups?.['rest'];
  if (owned !== undefined) {
    const statements = readAttribute(owned, userOwner);
    return (statements.length === 0 ? readRelation(owned, reading) : null) ?? { subject: null, statements };
  }
  const special = readSpecial(clause, reading);
  if (special !== null) return { subject: null, statements: [special] };
  const isVerb = new RegExp(`^(?:${verbStarts}) `, 'i').test(clause);
  return isVerb && reading.inherited !== null
    ? readOf(reading.inherited, clause, reading)
    : { subject: null, statements: [] };
}

function readOf(subject: Subject, phrase: string, { saidOn }: Reading): ReadClause | null {
  if (telling.test(phrase)) return null;
  const named = readNamedRelation(subject, phrase);
  return { subject, statements: named === null ? readVerbPhrase(subject, phrase, saidOn) : [named] };
}

interface Owner {
  readonly name: string;
  readonly label: string;
}

const userOwner: Owner = { name: userSubject, label: "User's" };

function readAttribute(text: string, owner: Owner): FactStatement[] {
  const found = /^(?<noun>[\p{L}][\p{L} -]{1,45}?) (?:is|are)(?: now| actually)? (?<value>.+)$/u.exec(text)?.groups;
  const noun = (found?.['noun'] ?? '').toLowerCase();
  for (const rule of attributeRules) {
    const match = rule.noun.exec(noun);
    const value = match === null ? null : rule.value(found?.['value'] ?? '');
    if (match === null || value === null) continue;
    return [
      {
        says: 'holds',
        subject: owner.name,
        predicate: rule.predicate.replace('$1', () => keyOf(match[1] ?? '')),
        content: `${owner.label} ${noun} is ${value}`,
        permanence: rule.permanence,
        importance: rule.importance ?? 5,
        opposite: null,
      },
    ];
  }
  return [];
}

const relation = new RegExp(
  `^(?:(?<which>older|younger|elder|little|big|eldest|youngest|oldest|twin) )?(?<noun>${relationNouns})(?=$|[ ,'])(?<rest>.*)$`,
  'i',
);

/** "my sister Anna lives in Rome": who Anna is, and where she lives. */
function readRelation(text: string, reading: Reading): ReadClause | null {
  const found = relation.exec(text)?.groups;
  const kind = relationOf(found?.['noun'] ?? '');
  if (found === undefined || kind === null) return null;
  const rest = found['rest'] ?? '';
  const named = /^(?:'s name is|,? is (?:called|named)|,? is) (?<name>.+)$/.exec(rest)?.groups?.['name'];
  const name = named === undefined ? null : readName(named);
  if (name !== null && trimEnd(named ?? '').length === name.length)
    return { subject: null, statements: [relationFact(kind, name)] };
  const which = found['which'] === undefined ? '' : `${found['which'].toLowerCase()} `;
  const owner = `user's ${which}${kind.noun}`;
  const attribute = /^'s (?<attribute>.+)$/.exec(rest)?.groups?.['attribute'];
  if (attribute !== undefined)
    return { subject: null, statements: readAttribute(attribute, { name: owner, label: `${capitalise(owner)}'s` }) };
  return readPerson(kind, rest, owner, reading);
}

function readPerson(kind: Relation, rest: string, owner: string, reading: Reading): ReadClause | null {
  const named = /^,? (?<after>\p{Lu}.*)$/u.exec(rest)?.groups?.['after'] ?? '';
  const name = readName(named);
  const phrase = (name === null ? rest : named.slice(name.length)).replace(/^[ ,]+/, '');
  const subject = { name: name ?? owner, label: name ?? capitalise(owner), isBaseForm: false };
  const known = name === null ? [] : [relationFact(kind, name)];
  if (telling.test(phrase)) return known.length === 0 ? null : { subject: null, statements: [] };
  return { subject, statements: [...known, ...readVerbPhrase(subject, phrase, reading.saidOn)] };
}

function relationFact({ noun, permanence, isMany }: Relation, name: string): FactStatement {
  const predicate = keyOf(noun);
  return {
    says: 'holds',
    subject: userSubject,
    predicate: isMany ? `${predicate}_${keyOf(name)}` : predicate,
    content: `User's ${noun} is ${name}`,
    permanence,
    importance: 6,
    opposite: null,
  };
}

const having = new RegExp(
  `^(?:have|has)(?: got)? an? (?:[\\p{L}-]+ ){0,3}?(?<noun>${relationNouns}) (?:named|called|whose name is) (?<name>.+)$`,
  'iu',
);

/** "I have a dog named Rex". */
function readNamedRelation(subject: Subject, phrase: string): FactStatement | null {
  const found = subject.name === userSubject ? having.exec(phrase)?.groups : undefined;
  const kind = relationOf(found?.['noun'] ?? '');
  const name = readName(found?.['name'] ?? '');
  return kind === null || name === null ? null : relationFact(kind, name);
}

/** What has neither "I" nor "my" at its start. */
function readSpecial(clause: string, { self }: Reading): FactStatement | null {
  const way = /^the (?<noun>best way to (?:reach|contact) (?:me|him|her|them)) is (?<value>.+)$/i.exec(clause)?.groups;
  if (way !== undefined) return readAttribute(`${way['noun'] ?? ''} is ${way['value'] ?? ''}`, userOwner)[0] ?? null;
  const called = /^(?:please |just |you can |everyone |people )*calls? me (?<name>.+)$/i.exec(clause)?.groups?.['name'];
  const name = called === undefined || !self.startsWith('I|') ? null : readName(called);
  if (name === null || name.length !== trimEnd(called ?? '').length) return null;
  const content = `User goes by ${name}`;
  return {
    says: 'holds',
    subject: userSubject,
    predicate: 'preferred_name',
    content,
    permanence: 'stable',
    importance: 8,
    opposite: null,
  };
}

const reminderWords = { least: 3, most: 25 };
const unclear =
  /^(?:it|this|that|these|those|he|she|they|we|you|i|there|here|to|what|how|when|where|who|me|always|never|do|don't)\b/i;

/** What the user wants to be remembered, whatever it is. */
function readReminder({ text, isFirstPerson, isReported }: Framed): FactStatement[] {
  const said = trimEnd(text);
  const count = said.split(' ').length;
  const isClear =
    !unclear.test(said) &&
    count >= reminderWords.least &&
    count <= reminderWords.most &&
    / (?:is|are|was|has|have|needs?|opens?|closes?|costs?|starts?|ends?|comes?|goes|lives?|works?|arrives?|leaves?|expires?|means) /.test(
      said,
    );
  if (!isClear || isDangerous(said) || !(isFirstPerson || isReported)) return [];
  const about = keyOf(said.split(/ (?:is|are|was|has|have) /)[0] ?? said);
  return [
    {
      says: 'holds',
      subject: userSubject,
      predicate: `asked_to_remember_${about}`,
      content: `User asked to remember that ${instructionAboutUser(lowerArticle(said))}`,
      permanence: 'standard',
      importance: 6,
      opposite: null,
    },
  ];
}

function lowerArticle(text: string): string {
  return text.replace(/^(?:The|A|An|My)\b/, (word) => word.toLowerCase());
}
