import type { Fact } from '../../../memory/facts/facts.ts';
import { liveValidities } from '../../../memory/facts/fact-values.ts';
import type { MemoryContext } from '../../../memory/context.ts';
import { openReadable } from '../../../memory/sealing.ts';
import { globalScope } from '../../../memory/values.ts';
import type { Claim } from '../claim.ts';
import type { ConsolidationEngine } from '../engine.ts';
import type { ConsolidationOutput, Evidence, NewFact, NewRule, UpdatedFact } from '../output.ts';
import { readEpisode } from './patterns/read-episode.ts';
import type { EndedStatement, FactStatement, RuleStatement, Statement } from './patterns/statement.ts';

/** Finds what is said in so many words. Local and deterministic; it would rather miss something than invent it. */
export const patternsEngine: ConsolidationEngine = {
  name: 'patterns',
  async extract(context, claim, signal) {
    const said: Said[] = [];
    for (const { id, content, observedAt, createdAt } of claim.episodes) {
      signal.throwIfAborted();
      for (const { statement, quote } of readEpisode(content, observedAt ?? createdAt)) {
        said.push({ statement, evidence: { episode_id: id, quote } });
      }
      await pause();
    }
    return { output: await outputOf(context, claim, said) };
  },
};

interface Said {
  readonly statement: Statement;
  readonly evidence: Evidence;
}

/** Between two episodes others have their turn. */
function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function outputOf(context: MemoryContext, claim: Claim, said: readonly Said[]): Promise<ConsolidationOutput> {
  const latest = latestOf(said);
  const known = await findKnown(context, claim, latest);
  return {
    new_facts: latest.facts.map(newFact),
    updated_facts: updatesOf(latest, known),
    new_rules: latest.rules.map(newRule),
  };
}

interface Telling<T extends Statement> {
  readonly statement: T;
  readonly evidence: readonly Evidence[];
}

interface Latest {
  readonly facts: Telling<FactStatement>[];
  readonly ended: Telling<EndedStatement>[];
  readonly rules: Telling<RuleStatement>[];
}

/** Each thing once, as it was said last: who says the same again adds evidence, who says otherwise takes its place. */
function latestOf(said: readonly Said[]): Latest {
  const facts = new Map<string, Telling<FactStatement>>();
  const ended = new Map<string, Telling<EndedStatement>>();
  const rules = new Map<string, Telling<RuleStatement>>();
  for (const { statement, evidence } of said) {
    if (statement.says === 'rule') add(rules, statement.content.toLowerCase(), statement, evidence);
    else if (statement.says === 'holds') {
      const key = keyOf(statement.subject, statement.predicate);
      if (statement.opposite !== null) facts.delete(keyOf(statement.subject, statement.opposite));
      for (const [other, { statement: end }] of ended)
        if (end.predicates.includes(statement.predicate)) ended.delete(other);
      add(facts, key, statement, evidence);
    } else {
      for (const predicate of statement.predicates) dropIfEnded(facts, keyOf(statement.subject, predicate), statement);
      add(ended, keyOf(statement.subject, `${statement.predicates[0] ?? ''} ${statement.value}`), statement, evidence);
    }
  }
  return { facts: [...facts.values()], ended: [...ended.values()], rules: [...rules.values()] };
}

function add<T extends Statement>(found: Map<string, Telling<T>>, key: string, statement: T, evidence: Evidence): void {
  const before = found.get(key);
  const isSame = before?.statement.content === statement.content;
  // Deleted first, so that the order is that of what was said last.
  found.delete(key);
  found.set(key, { statement, evidence: isSame && before !== undefined ? [...before.evidence, evidence] : [evidence] });
}

function dropIfEnded(facts: Map<string, Telling<FactStatement>>, key: string, ended: EndedStatement): void {
  const before = facts.get(key);
  if (before !== undefined && isAbout(before.statement.content, ended.value)) facts.delete(key);
}

type Known = Pick<Fact, 'id' | 'subjectKey' | 'predicateKey' | 'content'>;

/** The live facts that may have ended, in one statement and in plain; none when nothing did. */
async function findKnown(context: MemoryContext, { butler }: Claim, { facts, ended }: Latest): Promise<Known[]> {
  const { tenantId } = context.principal;
  const keys = [
    ...ended.flatMap(({ statement }) =>
      statement.predicates.map((predicate) => [statement.subject, predicate] as const),
    ),
    ...facts.flatMap(({ statement: { subject, opposite } }) =>
      opposite === null ? [] : [[subject, opposite] as const],
    ),
  ];
  if (keys.length === 0) return [];
  const known = await context.db.client.fact.findMany({
    where: {
      tenantId,
      kind: 'state',
      validity: { in: liveValidities },
      scope: { in: [globalScope, butler] },
      OR: keys.map(([subject, predicate]) => ({ subjectKey: memoryKey(subject), predicateKey: memoryKey(predicate) })),
    },
    select: { id: true, subjectKey: true, predicateKey: true, content: true, sealedContent: true, dataKeyId: true },
    orderBy: { id: 'asc' },
  });
  return openReadable(context, known);
}

function updatesOf({ facts, ended }: Latest, known: readonly Known[]): UpdatedFact[] {
  const ends = ended.flatMap(({ statement, evidence }) =>
    known
      .filter((fact) => statement.predicates.some((predicate) => isKey(fact, statement.subject, predicate)))
      .filter((fact) => isAbout(fact.content, statement.value) && !isEnded(fact.content))
      .map((fact) => ({ target_id: fact.id, content: statement.content, evidence: [...evidence] })),
  );
  const opposites = facts.flatMap(({ statement, evidence }) =>
    known
      .filter((fact) => statement.opposite !== null && isKey(fact, statement.subject, statement.opposite))
      .filter((fact) => !isEnded(fact.content))
      .map((fact) => ({ target_id: fact.id, content: asEnded(fact.content), evidence: [...evidence] })),
  );
  const targets = new Map([...opposites, ...ends].map((update) => [update.target_id, update]));
  return [...targets.values()];
}

function isKey({ subjectKey, predicateKey }: Known, subject: string, predicate: string): boolean {
  return subjectKey === memoryKey(subject) && predicateKey === memoryKey(predicate);
}

function isAbout(content: string, value: string): boolean {
  return ` ${wordsOf(content)} `.includes(` ${wordsOf(value)} `) || wordsOf(value) === '';
}

function wordsOf(text: string): string {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');
}

function isEnded(content: string): boolean {
  return /\bno longer\b/.test(content);
}

function asEnded(content: string): string {
  const changed = content.replace(/\b(likes|dislikes)\b/, 'no longer $1');
  return changed === content ? `No longer: ${content}` : changed;
}

function newFact({ statement, evidence }: Telling<FactStatement>): NewFact {
  const { subject, predicate, content, permanence, importance } = statement;
  return { subject, predicate, content, permanence, importance, evidence: [...evidence] };
}

/** Of no scope: that is the butler to whom the user said it. */
function newRule({ statement: { content, importance }, evidence }: Telling<RuleStatement>): NewRule {
  return { content, importance, evidence: [...evidence] };
}

function keyOf(subject: string, predicate: string): string {
  return JSON.stringify([memoryKey(subject), memoryKey(predicate)]);
}

/** As the function of this name in the database. */
function memoryKey(written: string): string {
  return written
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')
    .replace(/^_+|_+$/g, '');
}
