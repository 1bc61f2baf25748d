import {
  checkChain,
  listMovedEvents,
  listSoundErasures,
  listUnchainedEvents,
  type CheckedEntry,
} from '../../db/queries/audit-chain.ts';
import { invalidInput } from '../../shared/errors.ts';
import type { MemoryContext } from '../context.ts';
import { authorize } from '../permissions.ts';

type AuditContext = Pick<MemoryContext, 'db' | 'principal'>;

/** Where a chain ended at some moment. Kept elsewhere, it proves later that nothing before it was removed or changed. */
export interface KeptHead {
  position: bigint;
  /** In hexadecimal. */
  hash: string;
}

export interface ChainHead extends KeptHead {
  eventId: string;
  /** When the last event happened; null when that event is gone. */
  at: Date | null;
}

export const chainProblemKinds = ['changed', 'missing', 'inserted', 'reordered', 'other_head'] as const;

export interface ChainProblem {
  kind: (typeof chainProblemKinds)[number];
  position: bigint | null;
  eventId: string | null;
  message: string;
}

/** Returns null before the first event. */
export async function findChainHead(context: AuditContext): Promise<ChainHead | null> {
  authorize(context, 'query auditHead');
  const { db, principal } = context;
  const { tenantId } = principal;
  const client = db.client;
  const entry = await client.eventChain.findFirst({ where: { tenantId }, orderBy: { position: 'desc' } });
  if (entry === null) return null;
  const where = { tenantId_id: { tenantId, id: entry.eventId } };
  const event = await client.memoryEvent.findUnique({ where, select: { occurredAt: true } });
  const { position, eventId, hash } = entry;
  return { position, eventId, hash: Buffer.from(hash).toString('hex'), at: event?.occurredAt ?? null };
}

/** A head as it is printed: the position, a colon and the hash. */
export function writeHead({ position, hash }: KeptHead): string {
  return `${position}:${hash}`;
}

export function readHead(field: string, text: string): KeptHead {
  const [, position, hash] = /^([1-9]\d{0,17}):([0-9a-f]{64})$/.exec(text.trim().toLowerCase()) ?? [];
  if (position === undefined || hash === undefined) {
    throw invalidInput(field, 'a head as it was printed: a position, a colon and 64 hexadecimal digits', text);
  }
  return { position: BigInt(position), hash };
}

const batchSize = 5000;

/**
 * Checks the whole chain, in batches. An attacker who writes the tables as their owner could compute all hashes anew: that
 * shows only in comparison with a head that was kept elsewhere.
 */
export async function* findChainProblems(context: AuditContext, kept?: KeptHead): AsyncGenerator<ChainProblem> {
  if (kept !== undefined) yield* compareWithKept(context, kept);
  yield* findFlawedEntries(context);
  yield* findInsertedEvents(context);
}

async function* compareWithKept({ db, principal }: AuditContext, kept: KeptHead): AsyncGenerator<ChainProblem> {
  const { tenantId } = principal;
  const where = { tenantId_position: { tenantId, position: kept.position } };
  const entry = await db.client.eventChain.findUnique({ where });
  const found = entry === null ? null : Buffer.from(entry.hash).toString('hex');
  if (found === kept.hash) return;
  const message =
    found === null
      ? 'the head that was kept is not in the chain: it was cut off, or this is another chain'
      : `the head that was kept is not in the chain: its place has the hash ${found}`;
  yield { kind: 'other_head', position: kept.position, eventId: entry?.eventId ?? null, message };
}

async function* findFlawedEntries(context: AuditContext): AsyncGenerator<ChainProblem> {
  for (let after = 0n; ;) {
    const page = await checkChain(context.db, { after, limit: batchSize });
    if (page.last === null) return;
    const flawed = await withoutErased(context, page.flawed);
    const moved = await findMoved(context, flawed);
    for (const entry of flawed) yield describeFlaw(entry, moved.get(entry.position));
    after = BigInt(page.last);
  }
}

/** Leaves out payloads that a sound erasure blanked. */
async function withoutErased({ db }: AuditContext, flawed: CheckedEntry[]): Promise<CheckedEntry[]> {
  const erased = flawed.filter(({ flaw, erasedBy }) => flaw === 'payload_changed' && erasedBy !== null);
  if (erased.length === 0) return flawed;
  const ids = [...new Set(erased.map(({ erasedBy }) => erasedBy ?? ''))];
  const sound = await listSoundErasures(db.client, ids);
  const blankedBy = new Map(sound.map(({ id, blanked }) => [id, blanked]));
  return flawed.filter(
    ({ flaw, erasedBy, position, payloadDigest }) =>
      flaw !== 'payload_changed' || blankedBy.get(erasedBy ?? '')?.[position] !== payloadDigest,
  );
}

/** Flawed entries that are compared with each other to find exchanged events. */
const comparedAtOnce = 50;

async function findMoved({ db }: AuditContext, flawed: CheckedEntry[]): Promise<Map<string, string>> {
  const changed = flawed.filter(({ flaw }) => flaw === 'changed');
  const positions = changed.slice(0, comparedAtOnce).map(({ position }) => BigInt(position));
  if (positions.length < 2) return new Map();
  const rows = await listMovedEvents(db.client, positions);
  return new Map(rows.map(({ position, other }) => [position, other]));
}

function describeFlaw({ position, eventId, flaw }: CheckedEntry, movedFrom: string | undefined): ChainProblem {
  const place = { position: BigInt(position), eventId };
  if (movedFrom !== undefined) {
    return { ...place, kind: 'reordered', message: `it has changed places with the event of position ${movedFrom}` };
  }
  switch (flaw) {
    case 'follows_nothing':
      return { ...place, kind: 'missing', message: 'the entry before this one is not in the chain' };
    case 'gone':
      return { ...place, kind: 'missing', message: 'the event is not there any more' };
    case 'payload_changed':
      return { ...place, kind: 'changed', message: 'the payload is not the one that was chained' };
    case 'changed':
      return { ...place, kind: 'changed', message: 'the event, or the entry before this one, is not what was chained' };
  }
}

async function* findInsertedEvents(context: AuditContext): AsyncGenerator<ChainProblem> {
  for (let after = 0n; ;) {
    const page = await listUnchainedEvents(context.db, { after, limit: batchSize });
    if (page.last === null) return;
    for (const eventId of page.ids) {
      yield { kind: 'inserted', position: null, eventId, message: 'the event is in no place of the chain' };
    }
    after = BigInt(page.last);
  }
}
