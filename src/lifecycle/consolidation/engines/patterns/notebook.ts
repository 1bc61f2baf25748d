import { readPeriod } from '../../../../memory/facts/stated-period.ts';
import { notePredicate } from '../../../../memory/facts/note-key.ts';
import type { Confirmation, ConsolidationOutput, Evidence, NewFact, NewRule, UpdatedFact } from '../../output.ts';
import { isCovered } from './compare.ts';
import type { Verdict } from './judge.ts';
import { topicOfFact, topicOfRule, type Known, type Knowledge } from './known.ts';
import type { Relative, Relatives } from './relatives.ts';
import {
  asOfItsBeginning,
  findCertain,
  findPartly,
  findRepeated,
  isForGood,
  isOutdated,
  listChanged,
} from './replacement.ts';
import { globalScope } from '../../../../memory/values.ts';
import { userSubject, type FactStatement, type RuleStatement, type Statement } from './statement.ts';
import type { Topic } from './topic.ts';

/** A statement as an episode makes it. */
interface Said {
  readonly statement: Statement;
  readonly verdict: Verdict | null;
  readonly at: Date;
  /** Worth keeping by itself; else it only confirms or changes what is known. */
  readonly isNews: boolean;
  readonly evidence: Evidence;
}

/** More reviews than these are not opened for one statement. */
const reviewLimit = 2;

interface OwnFact {
  readonly item: NewFact;
  readonly known: Known;
  /** Facts that it may replace. */
  readonly mayChange: readonly Relative[];
}

interface OwnRule {
  readonly item: NewRule;
  readonly known: Known;
}

/** Collects what a claim says, each thing once, against what is known and what its earlier episodes said. */
export class Notebook {
  readonly #relatives: Relatives;
  readonly #stored: readonly Known[];
  readonly #names: readonly string[];
  readonly #facts = new Map<string, OwnFact>();
  readonly #rules = new Map<string, OwnRule>();
  readonly #updates = new Map<string, UpdatedFact>();
  readonly #confirmations = new Map<string, Confirmation>();

  constructor(relatives: Relatives, { memories, names }: Knowledge) {
    this.#relatives = relatives;
    this.#stored = memories;
    this.#names = names;
  }

  output(): ConsolidationOutput {
    const keys = [...this.#facts.keys()];
    return {
      new_facts: [...this.#facts.values()].map(({ item, mayChange }) => {
        const open = mayChange.flatMap((one) => {
          const { id, isStored } = one.known;
          if (isStored) return this.#updates.has(id) ? [] : [asPossibleChange(one)];
          const place = keys.indexOf(id);
          return place < 0 ? [] : [asPossibleChange(one, `new_facts/${place}`)];
        });
        return { ...item, may_change: open };
      }),
      updated_facts: [...this.#updates.values()],
      new_rules: [...this.#rules.values()].map(({ item }) => item),
      confirmations: [...this.#confirmations.values()],
    };
  }

  async add({ statement, verdict, at, isNews, evidence }: Said): Promise<void> {
    if (statement.says === 'rule')
      return isNews ? this.#addInstruction(statement, { verdict, at, evidence }) : undefined;
    const { subject, predicate, content } = statement;
    const fact = newFact(statement, { verdict, at, evidence });
    const compared = asOfItsBeginning(content, at);
    const topic = topicOfFact({ subject, predicate: notePredicate(content), content: compared }, this.#names);
    if (statement.isEvent) return this.#addEvent(fact, topic, at);
    const pool = this.#listKnown();
    const relatives = await this.#relatives.compare(pool, topic, at);
    const sameKey =
      predicate === null ? undefined : pool.find((one) => isKey(one, subject, predicate) && one.replacedAt === null);
    if (isOutdated(relatives, sameKey, at)) return;
    const live = relatives.filter(({ known }) => known.replacedAt === null);
    const comparable = live.filter(({ known }) => !isOpposite(known, statement));
    const changed = listChanged(comparable, topic, at);
    const repeated = findRepeated(live, topic, at);
    if (repeated !== undefined) return this.#confirm(repeated.known, { at, evidence, changed });
    const topics = pool.filter(({ replacedAt }) => replacedAt === null).map((one) => one.topic);
    if (isCovered(topics, topic)) return;
    if (statement.isEnded && sameKey !== undefined && !mentions(sameKey.content, statement.value))
      return isNews ? this.#keep(asNote(fact), at) : undefined;
    this.#endOpposite(statement, evidence, pool);
    const certain = isForGood(content, at) ? findCertain(changed, topic) : undefined;
    const target = certain?.known ?? sameKey;
    if (target?.isStored === true && target.since >= at) return;
    if (target?.type === 'rule')
      return this.#addRule({ content, importance: statement.importance }, { at, evidence, replaced: target });
    const others = changed.filter(({ known }) => known !== target && known.type === 'fact');
    if (target !== undefined) return this.#replace(target, fact, at, others);
    if (isNews) this.#keep(fact, at, others);
  }

  #listKnown(): Known[] {
    const superseded = new Set([...this.#rules.values()].map(({ item }) => item.supersedes));
    return [
      ...this.#stored.filter(({ id }) => !this.#updates.has(id) && !superseded.has(id)),
      ...[...this.#facts.values(), ...this.#rules.values()].map(({ known }) => known),
    ];
  }

  /**
   * Adds an instruction, unless it is known. What changes a fact takes its place as a fact: a preference that was stored as
   * one would stay beside the rule that changes it.
   */
  async #addInstruction(
    { content, importance }: RuleStatement,
    { verdict, at, evidence }: Pick<Said, 'verdict' | 'at' | 'evidence'>,
  ): Promise<void> {
    const topic = topicOfRule(asOfItsBeginning(content, at), this.#names);
    const relatives = await this.#relatives.compare(this.#listKnown(), topic, at);
    if (isOutdated(relatives, undefined, at)) return;
    const live = relatives.filter(({ known }) => known.replacedAt === null);
    const repeated = findRepeated(live, topic, at);
    if (repeated !== undefined) return this.#confirm(repeated.known, { at, evidence, changed: [] });
    const changed = listChanged(live, topic, at);
    const target = isForGood(content, at) ? findCertain(changed, topic)?.known : undefined;
    if (target?.isStored === true && target.since >= at) return;
    const partly = target === undefined ? findPartly(changed) : undefined;
    const fact = newFact(asNoteStatement(content, importance), { verdict, at, evidence });
    // A rule has no reviews.
    if (partly !== undefined) return this.#keep(fact, at, [partly]);
    if (target?.type !== 'fact') return this.#addRule({ content, importance }, { at, evidence, replaced: target });
    this.#replace(target, fact, at, []);
  }

  #addEvent(fact: NewFact, topic: Topic, at: Date): void {
    const isKnown = isCovered(
      this.#stored.map((one) => one.topic),
      topic,
    );
    if (!isKnown) this.#facts.set(fact.content, { item: fact, known: this.#asKnown(fact, at), mayChange: [] });
  }

  #addRule(
    { content, importance }: Pick<RuleStatement, 'content' | 'importance'>,
    { at, evidence, replaced }: { at: Date; evidence: Evidence; replaced: Known | undefined },
  ): void {
    const id = `rule ${content.toLowerCase()}`;
    const before = this.#rules.get(id)?.item;
    const own = replaced === undefined ? undefined : this.#rules.get(replaced.id)?.item;
    if (own !== undefined) this.#rules.delete(replaced?.id ?? '');
    const isOfStored = replaced?.isStored === true;
    const item: NewRule = {
      content,
      importance,
      asked_by_user: true,
      scope: isOfStored ? replaced.scope : (own?.scope ?? before?.scope),
      supersedes: isOfStored ? replaced.id : (own?.supersedes ?? before?.supersedes),
      evidence: [...(before?.evidence ?? []), evidence],
    };
    const topic = topicOfRule(content, this.#names);
    this.#rules.set(id, { item, known: { ...this.#asKnown(asNoteItem(content), at), type: 'rule', id, topic } });
  }

  /** Confirms a fact. What the statement changes beside it was perhaps replaced when the fact was stored. */
  #confirm(
    known: Known,
    { at, evidence, changed }: { at: Date; evidence: Evidence; changed: readonly Relative[] },
  ): void {
    const own = [...this.#facts.values(), ...this.#rules.values()].find((one) => one.known === known);
    if (own !== undefined) {
      if (!own.item.evidence.some((one) => one.episode_id === evidence.episode_id)) own.item.evidence.push(evidence);
    } else if (known.since <= at) {
      const before = this.#confirmations.get(known.id);
      const older = changed.filter(
        (one) => one.known.isStored && one.known.since < known.since && one.known.type === known.type,
      );
      const mayChange = known.type === 'rule' ? [] : older.slice(0, reviewLimit).map((one) => asPossibleChange(one));
      this.#confirmations.set(known.id, {
        target_type: known.type,
        target_id: known.id,
        may_change: [...listPossible(before?.may_change), ...mayChange],
        evidence: [...(before?.evidence ?? []), evidence],
      });
    }
  }

  #replace(known: Known, fact: NewFact, at: Date, mayChange: readonly Relative[]): void {
    if (!known.isStored) {
      this.#facts.delete(known.id);
      this.#keep(fact, at, mayChange);
    } else if (isKey(known, fact.subject, fact.predicate)) this.#keep(fact, at, mayChange);
    else {
      const { content, permanence, importance, evidence } = fact;
      const stored = mayChange.filter((one) => one.known.isStored);
      this.#updates.set(known.id, {
        target_id: known.id,
        content,
        permanence,
        importance,
        may_change: stored.slice(0, reviewLimit).map((one) => asPossibleChange(one)),
        evidence,
      });
    }
  }

  /** Nobody likes and dislikes the same: the other has ended. */
  #endOpposite({ subject, opposite }: FactStatement, evidence: Evidence, pool: readonly Known[]): void {
    const other =
      opposite === null ? undefined : pool.find((one) => isKey(one, subject, opposite) && one.replacedAt === null);
    if (other === undefined || /\bno longer\b/.test(other.content)) return;
    if (!other.isStored) this.#facts.delete(other.id);
    else this.#updates.set(other.id, { target_id: other.id, content: asEnded(other.content), evidence: [evidence] });
  }

  #keep(item: NewFact, at: Date, mayChange: readonly Relative[] = []): void {
    const key = JSON.stringify([memoryKey(item.subject), memoryKey(item.predicate)]);
    // Deleted first, so that the order is that of what was said last.
    this.#facts.delete(key);
    const known = { ...this.#asKnown(item, at), id: key };
    this.#facts.set(key, { item, known, mayChange: mayChange.slice(0, reviewLimit) });
  }

  #asKnown({ subject, predicate, content }: Pick<NewFact, 'subject' | 'predicate' | 'content'>, at: Date): Known {
    const topic = topicOfFact({ subject, predicate, content }, this.#names);
    return {
      type: 'fact',
      scope: globalScope,
      id: content,
      subject,
      predicate,
      content,
      topic,
      since: at,
      replacedAt: null,
      isStored: false,
      isOfAgent: false,
    };
  }
}

type PossibleChanges = Exclude<NewFact['may_change'], string | null | undefined>;

function asPossibleChange({ known, changes }: Relative, id = known.id): PossibleChanges[number] {
  return { id, likelihood: Number(changes.toFixed(3)) };
}

function listPossible(given: NewFact['may_change']): PossibleChanges {
  return typeof given === 'string' ? [given] : (given ?? []);
}

function asNoteItem(content: string): Pick<NewFact, 'subject' | 'predicate' | 'content'> {
  return { subject: userSubject, predicate: notePredicate(content), content };
}

/** An instruction as a statement about the user. */
function asNoteStatement(content: string, importance: number): FactStatement {
  return {
    says: 'fact',
    subject: userSubject,
    predicate: null,
    value: '',
    opposite: null,
    isEnded: false,
    isEvent: false,
    isSpeech: false,
    mayBeRule: true,
    content,
    permanence: 'standard',
    importance,
    threshold: null,
    doubts: [],
  };
}

const confidences = { typed: 0.9, note: 0.85, unjudged: 0.6 };

function newFact(
  { subject, predicate, content, permanence, importance, isEvent }: FactStatement,
  { verdict, at, evidence }: Pick<Said, 'verdict' | 'at' | 'evidence'>,
): NewFact {
  const { until } = readPeriod(content);
  const noteConfidence =
    verdict === null ? confidences.unjudged : Math.min(confidences.note, Math.max(0.5, verdict.keep));
  return {
    subject,
    predicate: predicate ?? notePredicate(content),
    content,
    permanence,
    importance,
    confidence: predicate === null && !isEvent ? Number(noteConfidence.toFixed(2)) : confidences.typed,
    kind: isEvent ? 'event' : 'state',
    observed_at: at.toISOString(),
    // An end before the statement was made belongs to a statement about the past, which stays true.
    valid_to: until !== null && until > at ? until.toISOString() : null,
    evidence: [evidence],
  };
}

function asNote(fact: NewFact): NewFact {
  return { ...fact, predicate: notePredicate(fact.content) };
}

function isKey({ subject, predicate }: Known, otherSubject: string, otherPredicate: string): boolean {
  return memoryKey(subject) === memoryKey(otherSubject) && memoryKey(predicate) === memoryKey(otherPredicate);
}

function isOpposite(known: Known, { subject, opposite }: FactStatement): boolean {
  return opposite !== null && isKey(known, subject, opposite);
}

function mentions(content: string, value: string): boolean {
  const words = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
  return ` ${words(content)} `.includes(` ${words(value)} `);
}

function asEnded(content: string): string {
  const changed = content.replace(/\b(likes|dislikes)\b/, 'no longer $1');
  return changed === content ? `No longer: ${content}` : changed;
}

/** As the function of this name in the database. */
function memoryKey(written: string): string {
  return written
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')
    .replace(/^_+|_+$/g, '');
}
