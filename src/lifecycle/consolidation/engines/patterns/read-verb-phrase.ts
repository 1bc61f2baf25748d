import { verbPhraseInThirdPerson } from './grammar.ts';
import type { EndedStatement, FactStatement, Statement } from './statement.ts';
import { readHabit, readPlan } from './time-rules.ts';
import { keyOf, splitList } from './values.ts';
import { verbRules, type VerbRule } from './verb-rules.ts';

/** Of whom a clause speaks. */
export interface Subject {
  readonly name: string;
  /** How the content names it. */
  readonly label: string;
  /** "I live", "they live": the verb has yet to be put in the third person. */
  readonly isBaseForm: boolean;
}

const fillers = /^(?:(?:actually|also|currently|now|still|just|personally|definitely|already|finally|officially) )+/i;
const innerFillers =
  /^(is|was|has) (?:(?:actually|also|currently|now|still|just|personally|definitely|already|finally|officially|both) )+/;

/** What a verb phrase says of its subject. */
export function readVerbPhrase(subject: Subject, phrase: string, saidOn: string): Statement[] {
  const given = phrase.replace(fillers, '');
  const third = (subject.isBaseForm ? verbPhraseInThirdPerson(given) : given).replace(innerFillers, '$1 ');
  const ended = endedPhrase(third);
  if (ended !== null)
    return readRules(subject, ended.phrase, true).map((fact) => endedStatement(subject, ended.content, fact));
  const found = readRules(subject, third, false).map(({ fact }) => fact);
  if (found.length > 0) return found;
  const doing = { subject: subject.name, label: subject.label, verbPhrase: third, saidOn };
  const timed = readPlan(doing) ?? readHabit(doing);
  return timed === null ? [] : [timed];
}

interface Match {
  readonly rule: VerbRule;
  readonly value: string;
  readonly fact: FactStatement;
}

/** The first rule that reads it, and beside it where somebody works or studies. */
function readRules(subject: Subject, phrase: string, isEnded: boolean): Match[] {
  const matches: Match[] = [];
  for (const rule of verbRules) {
    const isBeside =
      matches.length === 0 ||
      (rule.predicate.endsWith('_at') && !matches.some((match) => match.rule.predicate === rule.predicate));
    if (isBeside && (isEnded || rule.isEndingOnly !== true)) matches.push(...readRule(subject, phrase, rule));
  }
  return matches;
}

function readRule(subject: Subject, phrase: string, rule: VerbRule): Match[] {
  const text = rule.verb.exec(phrase)?.groups?.['value'];
  if (text === undefined) return [];
  return valuesOf(rule, text).map((value) => ({ rule, value, fact: factOf(subject, rule, value) }));
}

/** Another verb in a list of nouns: it goes on with something else. */
const verbs =
  /^(?:carry|carries|need|needs|have|has|want|wants|take|takes|avoid|avoids|always|never|use|uses|should|must|can|cannot|will|is|are|am|do|does|get|gets|got|asked|said|would|please|try|tries|ask|asks|looking|planning)\b/i;

function valuesOf(rule: VerbRule, text: string): string[] {
  if (rule.isList === undefined) return present([rule.value(text)]);
  const whole = text.replace(
    /(?:,? (?:because|since|so|but|which|who|when|while|although|though|and (?:i|my|he|she|they|we))\b|[;:(]).*$/i,
    '',
  );
  const values: string[] = [];
  for (const part of splitList(whole, { always: rule.isList === 'always' })) {
    const value = verbs.test(part) ? null : rule.value(part);
    if (value === null) break;
    values.push(value);
  }
  return values;
}

function present(values: readonly (string | null)[]): string[] {
  return values.filter((value) => value !== null);
}

function factOf({ name, label }: Subject, rule: VerbRule, value: string): FactStatement {
  return {
    says: 'holds',
    subject: name,
    predicate: fill(rule.predicate, value),
    content: `${label} ${rule.content.replace('{article}', articleOf(value)).replace('{value}', () => value)}`,
    permanence: rule.permanence,
    importance: rule.importance ?? 5,
    opposite: rule.opposite === undefined ? null : fill(rule.opposite, value),
  };
}

function fill(predicate: string, value: string): string {
  return predicate.replace('{value}', () => keyOf(value)).replace('{pair}', () => pairOf(value));
}

/** The same for "tea over coffee" and "coffee over tea": one of them can hold. */
function pairOf(value: string): string {
  return value
    .split(/ (?:over|to|rather than|instead of) /)
    .map(keyOf)
    .toSorted()
    .join('_and_');
}

function articleOf(value: string): string {
  return /^[aeiou]/i.test(value) ? 'an' : 'a';
}

interface Ended {
  /** What held, as it would be said. */
  readonly phrase: string;
  /** That it holds no more. */
  readonly content: string;
}

const noLonger = /^(?<is>is )?no longer (?<rest>.+)$/;
const notAnyMore = /^(?:does not (?<verb>\p{L}+)|is not)(?<rest>.*?),? any ?more$/u;
const stopped =
  /^(?:has )?(?:stopped|quit|gave up|given up) (?<gerund>eating|drinking|smoking|taking|working|learning|speaking|driving)(?<rest>.*)$/;
const gerunds: Readonly<Record<string, string>> = {
  eating: 'eats',
  drinking: 'drinks',
  smoking: 'smokes',
  taking: 'takes',
  working: 'works',
  learning: 'is learning',
  speaking: 'speaks',
  driving: 'drives',
};

function endedPhrase(phrase: string): Ended | null {
  const longer = noLonger.exec(phrase)?.groups;
  if (longer !== undefined) {
    const rest = longer['rest'] ?? '';
    const verb = longer['is'] === undefined ? verbPhraseInThirdPerson(rest) : `is ${rest}`;
    return { phrase: verb, content: longer['is'] === undefined ? `no longer ${verb}` : `is no longer ${rest}` };
  }
  const not = notAnyMore.exec(phrase)?.groups;
  if (not !== undefined) {
    const rest = not['rest'] ?? '';
    const verb = not['verb'] === undefined ? `is${rest}` : verbPhraseInThirdPerson(not['verb'] + rest);
    return { phrase: verb, content: not['verb'] === undefined ? `is no longer${rest}` : `no longer ${verb}` };
  }
  const stop = stopped.exec(phrase)?.groups;
  if (stop === undefined) return null;
  const verb = `${gerunds[stop['gerund'] ?? ''] ?? ''}${stop['rest'] ?? ''}`;
  return { phrase: verb, content: `no longer ${verb}` };
}

function endedStatement({ name, label }: Subject, content: string, { rule, value, fact }: Match): EndedStatement {
  const others = (rule.alsoKnownAs ?? []).map((predicate) => fill(predicate, value));
  return {
    says: 'ended',
    subject: name,
    predicates: [fact.predicate, ...others],
    value,
    content: `${label} ${content}`,
  };
}
