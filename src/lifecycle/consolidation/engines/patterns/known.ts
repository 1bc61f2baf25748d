import { notePredicate, readsAsNote } from '../../../../memory/facts/note-key.ts';
import { liveValidities } from '../../../../memory/facts/fact-values.ts';
import type { Fact } from '../../../../memory/facts/facts.ts';
import type { MemoryContext } from '../../../../memory/context.ts';
import { openReadable } from '../../../../encryption/sealing.ts';
import { globalScope } from '../../../../memory/values.ts';
import { partsOfName } from './introduction.ts';
import { userSubject } from './statement.ts';
import { topicOf, type Topic } from './topic.ts';

/** A fact or rule that statements are compared with: stored, or made from an earlier sentence of the same claim. */
export interface Known {
  readonly type: 'fact' | 'rule';
  readonly scope: string;
  readonly id: string;
  readonly subject: string;
  readonly predicate: string;
  readonly content: string;
  readonly topic: Topic;
  /** When it was said or observed. */
  readonly since: Date;
  /** When another took its place; null while it is live. */
  readonly replacedAt: Date | null;
  readonly isStored: boolean;
  /** An agent stored it, not consolidation. */
  readonly isOfAgent: boolean;
}

/** What a butler knows, and the names of the user in it. */
export interface Knowledge {
  readonly memories: readonly Known[];
  readonly names: readonly string[];
}

/** More than these are not compared: the newest. */
const factLimit = 2_000;
const ruleLimit = 500;

export async function loadKnown(context: MemoryContext, butler: string): Promise<Knowledge> {
  const { tenantId } = context.principal;
  const rows = await context.db.client.fact.findMany({
    where: {
      tenantId,
      kind: 'state',
      validity: { in: [...liveValidities, 'superseded'] },
      scope: { in: [globalScope, butler] },
    },
    select: {
      id: true,
      scope: true,
      subject: true,
      predicate: true,
      content: true,
      sealedContent: true,
      dataKeyId: true,
      validity: true,
      sourceEpisodeId: true,
      observedAt: true,
      validFrom: true,
      createdAt: true,
      supersededAt: true,
      supersededBy: { select: { observedAt: true, validFrom: true, createdAt: true }, take: 1 },
    },
    orderBy: { createdAt: 'desc' },
    take: factLimit,
  });
  const facts = await openReadable(context, rows);
  const names = namesOfUser(facts);
  const rules = await loadRules(context, butler, names);
  return { memories: [...facts.map((fact) => knownOf(fact, names)), ...rules], names };
}

/** Instructions say of the user what a fact says, too: what changes or repeats the one may be stored as the other. */
async function loadRules(context: MemoryContext, butler: string, names: readonly string[]): Promise<Known[]> {
  const rules = await context.db.client.rule.findMany({
    where: {
      tenantId: context.principal.tenantId,
      validity: { in: liveValidities },
      maturity: { not: 'anti_pattern' },
      disabledAt: null,
      scope: { in: [globalScope, butler] },
    },
    select: { id: true, scope: true, content: true, askedByUserAt: true, createdAt: true },
    orderBy: { createdAt: 'desc' },
    take: ruleLimit,
  });
  return rules.map(({ id, scope, content, askedByUserAt, createdAt }): Known => {
    const topic = topicOfRule(content, names);
    const since = askedByUserAt ?? createdAt;
    const key = { subject: userSubject, predicate: notePredicate(content) };
    return {
      type: 'rule',
      id,
      scope,
      ...key,
      content,
      topic,
      since,
      replacedAt: null,
      isStored: true,
      isOfAgent: false,
    };
  });
}

export function topicOfRule(content: string, names: readonly string[]): Topic {
  return topicOfFact({ subject: userSubject, predicate: notePredicate(content), content }, names);
}

type Row = Pick<
  Fact,
  | 'id'
  | 'scope'
  | 'subject'
  | 'predicate'
  | 'content'
  | 'validity'
  | 'sourceEpisodeId'
  | 'observedAt'
  | 'validFrom'
  | 'createdAt'
  | 'supersededAt'
> & {
  supersededBy: Pick<Fact, 'observedAt' | 'validFrom' | 'createdAt'>[];
};

function knownOf(
  { id, scope, subject, predicate, content, validity, sourceEpisodeId, supersededAt, supersededBy, ...times }: Row,
  names: readonly string[],
): Known {
  const isReplaced = validity === 'superseded';
  const [successor] = supersededBy;
  const replacedAt = isReplaced ? (successor === undefined ? supersededAt : timeOf(successor)) : null;
  const topic = topicOfFact({ subject, predicate, content }, names);
  return {
    type: 'fact',
    id,
    scope,
    subject,
    predicate,
    content,
    topic,
    since: timeOf(times),
    replacedAt,
    isStored: true,
    isOfAgent: sourceEpisodeId === null,
  };
}

function timeOf({ observedAt, validFrom, createdAt }: Pick<Fact, 'observedAt' | 'validFrom' | 'createdAt'>): Date {
  return validFrom ?? observedAt ?? createdAt;
}

/** By whatever name the user is called, a fact is about the user. */
export function topicOfFact(
  { subject, predicate, content }: Pick<Fact, 'subject' | 'predicate' | 'content'>,
  names: readonly string[],
): Topic {
  const isUser = names.some((name) => name.toLowerCase() === subject.toLowerCase());
  const text = names.reduce((named, name) => named.replace(wholeWord(name), 'User'), content);
  return topicOf(isUser ? userSubject : subject, text, readsAsNote({ subject, predicate }) ? null : predicate);
}

function wholeWord(name: string): RegExp {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(String.raw`(?<![\p{L}\p{N}])${escaped}(?![\p{L}\p{N}])`, 'gu');
}

function namesOfUser(facts: readonly Pick<Row, 'subject' | 'predicate' | 'content' | 'validity'>[]): string[] {
  const named = facts
    .filter(
      ({ subject, predicate, validity }) =>
        validity !== 'superseded' &&
        subject.toLowerCase() === userSubject &&
        /^(?:(?:full|first|preferred|nick)_?)?name$/i.test(predicate),
    )
    .flatMap(({ content }) => {
      const name = content
        .replace(/^.*\b(?:is called|goes by|name is|is) /, '')
        .replace(/[.!]+$/, '')
        .trim();
      return partsOfName(name);
    });
  return [...new Set(named)].filter((name) => name !== '');
}
