import {
  countFading,
  listFading,
  type ForecastPage,
  type ForecastPosition,
  type ForecastQuery,
} from '../db/queries/forecast.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import { invalidInput } from '../shared/errors.ts';
import type { MemoryContext } from '../memory/context.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memory/memories.ts';
import { onlyButlerOf } from '../memory/reach.ts';
import { checkDate, checkNumber, checkUuid, globalScope } from '../memory/values.ts';

/** When a fact or rule fades unless it is confirmed. */
export interface Forecast {
  memory: StoredRow;
  /** From when on it is not retrieved; in the past for a memory that is fading already. */
  fadesAt: Date;
  /** When it expires; null for never. */
  expiresAt: Date | null;
  cursor: string;
}

export interface ForecastChoice {
  withinDays: number;
  limit: number;
  after?: string | null | undefined;
  before?: string | null | undefined;
  /** From the end towards the beginning. */
  inverted?: boolean;
}

export const longestForecastDays = 36_500;

/** Lists what to review: live facts and rules in the order in which they fade. */
export async function forecastFading(context: MemoryContext, choice: ForecastChoice): Promise<Forecast[]> {
  const page: ForecastPage = {
    limit: choice.limit,
    after: readCursor('after', choice.after),
    before: readCursor('before', choice.before),
    inverted: choice.inverted ?? false,
  };
  const rows = await listFading(context.db.client, buildQuery(context, choice.withinDays), page);
  const memories = await loadMemories(context, rows);
  return rows.flatMap((row) => {
    const memory = memories.get(referenceKey(row));
    const { fadesAt, expiresAt } = row;
    return memory === undefined ? [] : [{ memory, fadesAt, expiresAt, cursor: writeCursor(row) }];
  });
}

export async function countForecast(context: MemoryContext, withinDays: number): Promise<number> {
  return countFading(context.db.client, buildQuery(context, withinDays));
}

function buildQuery(context: MemoryContext, withinDays: number): ForecastQuery {
  const { config, now } = context;
  const own = onlyButlerOf(context);
  const { facts } = config.memory;
  const days = checkNumber('within_days', withinDays, 0, longestForecastDays);
  return {
    scopes: own === null ? null : [globalScope, own],
    retrieval: facts.retrievalConfidenceThreshold,
    expiry: facts.expiryConfidenceThreshold,
    until: new Date(now().getTime() + days * millisecondsPerDay),
  };
}

function writeCursor({ fadesAt, id }: ForecastPosition): string {
  return Buffer.from(JSON.stringify([fadesAt, id])).toString('base64url');
}

function readCursor(field: string, cursor: string | null | undefined): ForecastPosition | null {
  if (cursor === null || cursor === undefined) return null;
  try {
    const [at, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, string];
    const fadesAt = new Date(at);
    checkDate(field, fadesAt);
    return { fadesAt, id: checkUuid(field, id) };
  } catch {
    throw invalidInput(field, 'a cursor of this list', cursor);
  }
}
