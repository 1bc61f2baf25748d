import { findSupersededRule } from '../db/queries/rules.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import type { Fact } from '../generated/prisma/client.ts';
import type { Config } from '../config/schema.ts';
import type { Decaying } from './confidence.ts';
import type { MemoryContext } from './context.ts';
import { isLive } from './facts/fact-values.ts';
import type { MemoryRow, StoredRow } from './memories.ts';

/** What a write did to its memory. */
export const writeOutcomes = [
  'stored',
  'confirmed',
  'superseded',
  'forgotten',
  'restored',
  'marked',
  'unchanged',
] as const;
export type WriteOutcome = (typeof writeOutcomes)[number];

/**
 * Returns until when reads return a memory: the expiry of an episode, and of a fact or rule the moment from which it fades
 * unless somebody confirms it, in the past for one that fades already. Null for what never fades and for what is not found
 * any more.
 */
export function findKeptUntil(context: MemoryContext, row: MemoryRow | StoredRow): Date | null {
  if ('forgottenAt' in row && row.forgottenAt !== null) return null;
  if ('expiresAt' in row) return row.expiresAt;
  if (!isLive(row.validity) || row.decayRate === 0) return null;
  return fadesAt(row, context.config.memory.facts);
}

function fadesAt(memory: Decaying, { retrievalConfidenceThreshold }: Config['memory']['facts']): Date | null {
  const days = Math.max(0, Math.log(memory.confidence / retrievalConfidenceThreshold) / memory.decayRate);
  const anchor = memory.lastConfirmedAt ?? memory.createdAt;
  const moment = new Date(anchor.getTime() + Math.ceil(days * millisecondsPerDay));
  return Number.isNaN(moment.getTime()) ? null : moment;
}

/** Returns the id of the memory whose place a memory took; null if it took none. */
export async function findSupersededId(context: MemoryContext, row: MemoryRow | StoredRow): Promise<string | null> {
  if ('supersedesId' in row) return isStoredAsHistory(row) ? null : row.supersedesId;
  return 'maturity' in row ? findSupersededRule(context.db.client, row.id) : null;
}

/** Whether a fact was history from the beginning: it took nobody's place. */
function isStoredAsHistory({ supersededAt, createdAt }: Pick<Fact, 'supersededAt' | 'createdAt'>): boolean {
  return supersededAt?.getTime() === createdAt.getTime();
}
