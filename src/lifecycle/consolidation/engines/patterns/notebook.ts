import type { MemoryContext } from '../../../../memory/context.ts';
import { notePredicate } from '../../../../memory/facts/note-key.ts';
import type { Confirmation, ConsolidationOutput, Evidence, NewFact, NewRule, UpdatedFact } from '../../output.ts';
import { isCovered, topicOf, type Topic } from './compare.ts';
import type { Verdict } from './judge.ts';
import { compare, type Known } from './known.ts';
import type { FactStatement, RuleStatement, Statement } from './statement.ts';

/** A statement as an episode makes it. */
interface Said {
  readonly statement: Statement;
  readonly verdict: Verdict | null;
  readonly at: Date;
  /** Worth keeping by itself; else it only confirms or changes what is known. */
  readonly isNews: boolean;
  readonly evidence: Evidence;
}

/** Collects what a claim says, each thing once, against what is known and what its earlier episodes said. */
export class Notebook {
  readonly #context: MemoryContext;
  readonly #stored: readonly Known[];
  readonly #names: readonly string[];
  readonly #facts = new Map<string, { item: NewFact; known: Known }>();
  readonly #rules = new Map<string, NewRule>();
  readonly #updates = new Map<string, UpdatedFact>();
  readonly #confirmations = new Map<string, Confirmation>();

  constructor(context: MemoryContext, stored: readonly Known[], names: readonly string[]) {
    this.#names = names;
    this.#context = context;
    this.#stored = stored;
  }

  output(): ConsolidationOutput {
    return {
      new_facts: [...this.#facts.values()].map(({ item }) => item),
      updated_facts: [...this.#updates.values()],
      new_rules: [...this.#rules.values()],
      confirmations: [...this.#confirmations.values()],
    };
  }

  async add({ statement, verdict, at, isNews, evidence }: Said): Promise<void> {
    if (statement.says === 'rule') return isNews ? this.#addRule(statement, evidence) : undefined;
    const { subject, predicate, content } = statement;
    const fact = newFact(statement, { verdict, at, evidence });
    const topic = topicOf(subject, this.#nameUser(content), null);
    if (statement.isEvent) return this.#addEvent(fact, topic, at);
    const pool = [
      ...this.#stored.filter(({ id }) => !this.#updates.has(id)),
      ...[...this.#facts.values()].map(({ known }) => known),
    ];
    const relatives = await compare(this.#context, pool, { topic, vector: verdict?.vector ?? null });
    const sameKey =
      predicate === null ? undefined : pool.find((one) => isKey(one, subject, predicate) && one.replacedAt === null);
    if (this.#isOutdated(relatives, sameKey, at)) return;
    const repeated = relatives.find(
      ({ relation, known }) => relation === 'repeats' && known.replacedAt === null,
    )?.known;
    if (repeated !== undefined) return this.#confirm(repeated, at, evidence);
    const live = pool.filter(({ replacedAt }) => replacedAt === null);
    if (
      isCovered(
        live.map((one) => one.topic),
        topic,
      )
    )
      return;
    if (statement.isEnded && sameKey !== undefined && !mentions(sameKey.content, statement.value))
      return isNews ? this.#keep(asNote(fact), at) : undefined;
    this.#endOpposite(statement, evidence, pool);
    const changed =
      relatives.find(
        ({ relation, known }) => relation === 'changes' && known.replacedAt === null && !isOpposite(known, statement),
      )?.known ?? sameKey;
    // What the session itself stored of it is better than a sentence about it.
    if (changed !== undefined && this.#isStored(changed) && changed.since >= at) return;
    if (changed !== undefined) return this.#replace(changed, fact, at);
    if (!isNews) return;
    const perhaps = relatives.find(
      ({ relation, known }) => relation === 'perhaps changes' && this.#isStored(known),
    )?.known;
    this.#keep({ ...fact, may_change: perhaps?.id ?? null }, at, verdict?.vector);
  }

  #addEvent(fact: NewFact, topic: Topic, at: Date): void {
    const isKnown = isCovered(
      this.#stored.map((one) => one.topic),
      topic,
    );
    if (!isKnown) this.#facts.set(fact.content, { item: fact, known: this.#asKnown(fact, at) });
  }

  /** By whatever name the user is called, the sentence is about the user. */
  #nameUser(content: string): string {
    return this.#names.reduce((text, name) => text.replaceAll(name, 'User'), content);
  }

  #addRule({ content, importance }: RuleStatement, evidence: Evidence): void {
    const key = content.toLowerCase();
    const known = this.#rules.get(key);
    const cited = [...(known?.evidence ?? []), evidence];
    this.#rules.set(key, { content, importance, asked_by_user: true, evidence: cited });
  }

  /** What was replaced after the episode, or is known of a later day, is not made current again. */
  #isOutdated(relatives: readonly { known: Known; relation: string }[], sameKey: Known | undefined, at: Date): boolean {
    if (sameKey !== undefined && sameKey.since > at) return true;
    return relatives.some(({ known, relation }) => {
      if (known.replacedAt !== null) return relation === 'repeats' && known.replacedAt > at;
      return known.since > at && relation === 'changes';
    });
  }

  #confirm(known: Known, at: Date, evidence: Evidence): void {
    const own = [...this.#facts.values()].find((one) => one.known === known);
    if (own !== undefined) {
      if (!own.item.evidence.some((one) => one.episode_id === evidence.episode_id)) own.item.evidence.push(evidence);
    } else if (known.since <= at) {
      const before = this.#confirmations.get(known.id)?.evidence ?? [];
      this.#confirmations.set(known.id, { target_type: 'fact', target_id: known.id, evidence: [...before, evidence] });
    }
  }

  #replace(known: Known, fact: NewFact, at: Date): void {
    if (!this.#isStored(known)) {
      this.#facts.delete(known.id);
      this.#keep(fact, at);
    } else if (isKey(known, fact.subject, fact.predicate)) this.#keep(fact, at);
    else {
      const { content, permanence, importance, evidence } = fact;
      this.#updates.set(known.id, { target_id: known.id, content, permanence, importance, evidence });
    }
  }

  /** Nobody likes and dislikes the same: the other has ended. */
  #endOpposite({ subject, opposite }: FactStatement, evidence: Evidence, pool: readonly Known[]): void {
    const other =
      opposite === null ? undefined : pool.find((one) => isKey(one, subject, opposite) && one.replacedAt === null);
    if (other === undefined || /\bno longer\b/.test(other.content)) return;
    if (!this.#isStored(other)) this.#facts.delete(other.id);
    else this.#updates.set(other.id, { target_id: other.id, content: asEnded(other.content), evidence: [evidence] });
  }

  #keep(item: NewFact, at: Date, vector?: Float32Array): void {
    const key = JSON.stringify([memoryKey(item.subject), memoryKey(item.predicate)]);
    // Deleted first, so that the order is that of what was said last.
    this.#facts.delete(key);
    this.#facts.set(key, { item, known: { ...this.#asKnown(item, at), id: key, vector } });
  }

  #asKnown({ subject, predicate, content }: NewFact, at: Date): Known {
    return {
      id: content,
      subject,
      predicate,
      content,
      topic: topicOf(subject, content, null),
      since: at,
      replacedAt: null,
    };
  }

  #isStored({ id }: Known): boolean {
    return !this.#facts.has(id);
  }
}

const confidences = { typed: 0.9, note: 0.85, unjudged: 0.6 };

function newFact(
  { subject, predicate, content, permanence, importance, isEvent }: FactStatement,
  { verdict, at, evidence }: Pick<Said, 'verdict' | 'at' | 'evidence'>,
): NewFact {
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
