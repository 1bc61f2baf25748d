import {
  countFading,
  listFading,
  type ForecastPage,
  type ForecastPosition,
  type ForecastQuery,
} from '../db/queries/forecast.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import type { MemoryContext } from '../memory/context.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memory/memories.ts';
import { onlyButlerOf } from '../memory/reach.ts';
import { readCursor, writeCursor } from '../memory/cursors.ts';
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

const longestForecastDays = 36_500;

/** Lists what to review: live facts and rules in the order in which they fade. */
export async function forecastFading(context: MemoryContext, choice: ForecastChoice): Promise<Forecast[]> {
  const page: ForecastPage = {
    limit: choice.limit,
    after: readCursor('after', listName, choice.after, parsePosition),
    before: readCursor('before', listName, choice.before, parsePosition),
    inverted: choice.inverted ?? false,
  };
  const rows = await listFading(context.db.client, buildQuery(context, choice.withinDays), page);
  const memories = await loadMemories(context, rows);
  return rows.flatMap((row) => {
    const memory = memories.get(referenceKey(row));
    const { fadesAt, expiresAt } = row;
    return memory === undefined
      ? []
      : [{ memory, fadesAt, expiresAt, cursor: writeCursor(listName, [fadesAt, row.id]) }];
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

const listName = 'fading';

function parsePosition([at, id]: unknown[]): ForecastPosition | null {
  const fadesAt = checkDate('cursor', new Date(String(at)));
  return fadesAt === null ? null : { fadesAt, id: checkUuid('cursor', String(id)) };
}
