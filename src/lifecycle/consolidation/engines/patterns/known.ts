import { readsAsNote } from '../../../../memory/facts/note-key.ts';
import { liveValidities } from '../../../../memory/facts/fact-values.ts';
import type { Fact } from '../../../../memory/facts/facts.ts';
import type { MemoryContext } from '../../../../memory/context.ts';
import { openReadable } from '../../../../encryption/sealing.ts';
import { globalScope } from '../../../../memory/values.ts';
import { relate, topicOf, type Relation, type Topic } from './compare.ts';
import { judgeWeights } from './judge-weights.ts';
import { modelKey } from '../../../../embedding/embedder.ts';

/** A fact that statements are compared with: stored, or made from an earlier sentence of the same claim. */
export interface Known {
  readonly id: string;
  readonly subject: string;
  readonly predicate: string;
  readonly content: string;
  readonly topic: Topic;
  /** When it was said or observed. */
  readonly since: Date;
  /** When another took its place; null while it is live. */
  readonly replacedAt: Date | null;
  /** Of what the claim itself says; what is stored is embedded when it is needed. */
  readonly vector?: Float32Array | undefined;
}

/** More than these are not compared: the newest. */
const factLimit = 2_000;

export async function loadKnown(context: MemoryContext, butler: string): Promise<Known[]> {
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
      subject: true,
      predicate: true,
      content: true,
      sealedContent: true,
      dataKeyId: true,
      validity: true,
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
  return facts.map((fact) => knownOf(fact));
}

type Row = Pick<
  Fact,
  'id' | 'subject' | 'predicate' | 'content' | 'validity' | 'observedAt' | 'validFrom' | 'createdAt' | 'supersededAt'
> & {
  supersededBy: Pick<Fact, 'observedAt' | 'validFrom' | 'createdAt'>[];
};

function knownOf({ id, subject, predicate, content, validity, supersededAt, supersededBy, ...times }: Row): Known {
  const isReplaced = validity === 'superseded';
  const [successor] = supersededBy;
  const replacedAt = isReplaced ? (successor === undefined ? supersededAt : timeOf(successor)) : null;
  const topic = topicOf(subject, content, readsAsNote({ subject, predicate }) ? null : predicate);
  return { id, subject, predicate, content, topic, since: timeOf(times), replacedAt };
}

function timeOf({ observedAt, validFrom, createdAt }: Pick<Fact, 'observedAt' | 'validFrom' | 'createdAt'>): Date {
  return validFrom ?? observedAt ?? createdAt;
}

/** The names under which the user is known. */
export function namesOfUser(known: readonly Known[]): string[] {
  return known
    .filter(
      ({ subject, predicate, replacedAt }) =>
        replacedAt === null &&
        subject.toLowerCase() === 'user' &&
        /^(?:(?:full|first|preferred|nick)_?)?name$/i.test(predicate),
    )
    .flatMap(({ content }) => {
      const name = content.replace(/^.*\b(?:is called|goes by|name is|is) /, '').trim();
      return [name, name.split(' ')[0] ?? name];
    });
}

export interface Comparison {
  readonly known: Known;
  readonly relation: Relation;
}

/** Most likely relatives are compared by their vectors, too; the rest by their words alone. */
const comparedByVector = 5;

/** How a statement relates to what is known, nearest first; what is unrelated is left out. */
export async function compare(
  { embedder }: Pick<MemoryContext, 'embedder'>,
  known: readonly Known[],
  said: { topic: Topic; vector: Float32Array | null },
): Promise<Comparison[]> {
  const likely = known
    .map((one) => ({ one, shared: [...said.topic.words].filter((word) => one.topic.words.has(word)).length }))
    .filter(
      ({ one, shared }) =>
        shared > 0 || (one.topic.isNegative !== said.topic.isNegative && one.topic.subject === said.topic.subject),
    )
    .toSorted((a, b) => b.shared - a.shared)
    .slice(0, comparedByVector)
    .map(({ one }) => one);
  const vectors = await embedDoubtful({ embedder }, likely, said);
  return likely.flatMap((one) => {
    const vector = vectors.get(one.id);
    const similarity = vector === undefined || said.vector === null ? null : cosine(vector, said.vector);
    const relation = relate(one.topic, said.topic, similarity);
    return relation === 'unrelated' ? [] : [{ known: one, relation }];
  });
}

/** Embeds only those for which the vectors decide. */
async function embedDoubtful(
  { embedder }: Pick<MemoryContext, 'embedder'>,
  likely: readonly Known[],
  said: { topic: Topic; vector: Float32Array | null },
): Promise<Map<string, Float32Array>> {
  if (said.vector === null || modelKey(embedder.model) !== judgeWeights.model) return new Map();
  const doubtful = likely.filter(({ topic }) => relate(topic, said.topic, 0) !== relate(topic, said.topic, 1));
  const lacking = doubtful.filter(({ vector }) => vector === undefined);
  const vectors = lacking.length === 0 ? [] : await embedder.embed(lacking.map(textOf));
  const known = new Map(doubtful.flatMap(({ id, vector }) => (vector === undefined ? [] : [[id, vector] as const])));
  for (const [place, { id }] of lacking.entries()) known.set(id, vectors[place]?.vector ?? new Float32Array());
  return known;
}

function textOf({ subject, predicate, content }: Known): string {
  return readsAsNote({ subject, predicate }) ? content : `${subject} ${predicate.replaceAll('_', ' ')} ${content}`;
}

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, place) => sum + value * (other[place] ?? 0), 0);
}
