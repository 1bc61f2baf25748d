import { listLinks as listRows, type LinkRow, type LinksChoice as RowsChoice } from '../../db/queries/links.ts';
import type { MemoryType } from '../../db/tables.ts';
import { invalidInput, MemoryError } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { mutateOnce } from '../idempotency.ts';
import { createLink, requireMemory, type MemoryReference, type Relation } from './links.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memories.ts';
import { mapWritten, type Written } from '../mutation.ts';
import { authorize } from '../permissions.ts';
import { resolveReference } from '../resolve-id.ts';
import { checkNumber } from '../values.ts';

/** Links as readers follow them: in both directions, to a depth, and to what is left of an end that is gone. */

export interface Link {
  source: MemoryReference;
  target: MemoryReference;
  relation: Relation;
  createdAt: Date;
}

/** A link as seen from one of its ends. */
export interface LinkOfMemory extends Link {
  direction: 'outbound' | 'inbound';
  /** The end that is not the one it was asked for. */
  other: MemoryReference;
}

export interface LinkMemoriesInput {
  source: MemoryReference;
  target: MemoryReference;
  relation: Relation;
  idempotencyKey?: string | null | undefined;
}

/** Relates two memories. A link that is there already is left as it is. */
export async function linkMemories(context: MemoryContext, input: LinkMemoriesInput): Promise<Written<Link>> {
  authorize(context, 'mutation linkMemories');
  const { idempotencyKey, ...given } = input;
  const source = await resolveReference(context, given.source, 'source.id');
  const target = await resolveReference(context, given.target, 'target.id');
  const { relation } = given;
  if (relation === 'supersedes' && source.type === 'fact' && target.type === 'fact') {
    throw invalidInput(
      'relation',
      'derived_from, supports, contradicts or related_to between facts',
      relation,
      supersedeHint,
    );
  }
  const written = await mutateOnce(
    context,
    { operation: 'linkMemories', idempotencyKey, input: given },
    async (mutation) => {
      await requireMemory(mutation, 'source', source);
      await requireMemory(mutation, 'target', target);
      if (!(await createLink(mutation, { source, target, relation }))) mutation.report.eventId = null;
      return source.id;
    },
  );
  return mapWritten(written, () => findLink(context, { source, target, relation }));
}

const supersedeHint = 'Store the new fact under the subject and predicate of the old one: that supersedes it.';

async function findLink(context: MemoryContext, { source, target, relation }: Omit<Link, 'createdAt'>): Promise<Link> {
  const { tenantId } = context.principal;
  const link = await context.db.client.memoryLink.findFirst({
    where: {
      tenantId,
      sourceType: source.type,
      sourceId: source.id,
      targetType: target.type,
      targetId: target.id,
      relation,
    },
  });
  // An idempotency key may outlive its link.
  if (link === null) throw new MemoryError('NOT_FOUND', `link: ${relation} was made and is not there any more`);
  return { source, target, relation, createdAt: link.createdAt };
}

export type LinksChoice = Omit<RowsChoice, 'relations'> & { relations: readonly Relation[] | null };

/** The links of several memories in one statement, under the key of each. */
export async function listLinks(
  context: MemoryContext,
  ends: readonly MemoryReference[],
  choice: LinksChoice,
): Promise<Map<string, LinkOfMemory[]>> {
  const links = new Map<string, LinkOfMemory[]>(ends.map((end) => [referenceKey(end), []]));
  if (ends.length === 0) return links;
  const rows = await listRows(context.db.client, ends, choice);
  for (const row of rows) links.get(referenceKey({ type: row.endType, id: row.endId }))?.push(toLink(row));
  return links;
}

function toLink({ direction, createdAt, ...row }: LinkRow): LinkOfMemory {
  const source = { type: row.sourceType, id: row.sourceId };
  const target = { type: row.targetType, id: row.targetId };
  const relation = row.relation as Relation;
  return { source, target, relation, createdAt, direction, other: direction === 'outbound' ? target : source };
}

/** The check constraints of the tables hold the same values. */
export type TombstoneReason = 'expired' | 'capacity' | 'retention' | 'erased';

/** The trace of a removed memory: enough to answer a citation, without its content. */
export interface Tombstone extends MemoryReference {
  reason: TombstoneReason;
  createdAt: Date;
  deletedAt: Date;
}

export type LinkEnd = { kind: 'memory'; row: StoredRow } | { kind: 'tombstone'; tombstone: Tombstone };

/** What links point to, under the key of each: the memory, or what is left of it. */
export async function loadEnds(
  context: MemoryContext,
  references: readonly MemoryReference[],
): Promise<Map<string, LinkEnd>> {
  const now = context.now();
  const rows = await loadMemories(context, references);
  const ends = new Map<string, LinkEnd>();
  for (const [key, row] of rows)
    ends.set(key, 'expiresAt' in row && row.expiresAt <= now ? toExpiredEnd(row) : { kind: 'memory', row });
  const missing = references.filter((reference) => !ends.has(referenceKey(reference)));
  for (const tombstone of await loadTombstones(context, missing)) {
    ends.set(referenceKey(tombstone), { kind: 'tombstone', tombstone });
  }
  return ends;
}

async function loadTombstones(
  { db, principal: { tenantId } }: MemoryContext,
  references: readonly MemoryReference[],
): Promise<Tombstone[]> {
  const idsOf = (isMeant: (type: MemoryType) => boolean): string[] =>
    references.filter(({ type }) => isMeant(type)).map(({ id }) => id);
  const episodes = idsOf((type) => type === 'episode');
  const others = idsOf((type) => type !== 'episode');
  const client = db.client;
  const ofEpisodes =
    episodes.length === 0
      ? []
      : await client.episodeTombstone.findMany({ where: { tenantId, id: { in: episodes } }, select: tombstoneColumns });
  const ofOthers =
    others.length === 0
      ? []
      : await client.memoryTombstone.findMany({
          where: { tenantId, id: { in: others } },
          select: { ...tombstoneColumns, type: true },
        });
  return [
    ...ofEpisodes.map((row) => ({ ...row, type: 'episode' as const, reason: row.reason as TombstoneReason })),
    ...ofOthers.map((row) => ({ ...row, type: row.type as MemoryType, reason: row.reason as TombstoneReason })),
  ];
}

const tombstoneColumns = { id: true, reason: true, createdAt: true, deletedAt: true } as const;

/** Past its time and not swept yet: gone for every reader. */
function toExpiredEnd({ id, createdAt, expiresAt }: { id: string; createdAt: Date; expiresAt: Date }): LinkEnd {
  return { kind: 'tombstone', tombstone: { type: 'episode', id, reason: 'expired', createdAt, deletedAt: expiresAt } };
}

/** A memory that was reached, by the link that led to it. */
export interface Step {
  depth: number;
  link: LinkOfMemory;
  end: LinkEnd | null;
}

export const depthLimit = 10;
const stepLimit = 500;
const linksPerMemory = 50;

/** What a memory came from: what it was derived from, supersedes and is supported by, and so on down. */
export const provenanceChoice: Omit<LinksChoice, 'limit'> = {
  direction: 'outbound',
  relations: ['derived_from', 'supersedes', 'supports'],
};

/** Follows links breadth first. Each memory is reached once, by a shortest way, so that cycles end. */
export async function followLinks(
  context: MemoryContext,
  start: MemoryReference,
  { depth, ...choice }: Omit<LinksChoice, 'limit'> & { depth: number },
): Promise<Step[]> {
  checkNumber('depth', depth, 1, depthLimit);
  const first = await resolveReference(context, start, 'start.id');
  const reached = new Set([referenceKey(first)]);
  const steps: { depth: number; link: LinkOfMemory }[] = [];
  let frontier = [first];
  for (let level = 1; level <= depth && frontier.length > 0; level++) {
    const links = await listLinks(context, frontier, { ...choice, limit: linksPerMemory });
    frontier = [];
    for (const link of [...links.values()].flat()) {
      if (reached.has(referenceKey(link.other)) || steps.length === stepLimit) continue;
      reached.add(referenceKey(link.other));
      steps.push({ depth: level, link });
      frontier.push(link.other);
    }
  }
  const ends = await loadEnds(
    context,
    steps.map(({ link }) => link.other),
  );
  return steps.map((step) => ({ ...step, end: ends.get(referenceKey(step.link.other)) ?? null }));
}
