import {
  countFading,
  forecastFading as selectForecast,
  type ForecastPage,
  type ForecastPosition,
  type ForecastQuery,
  type ForecastRow,
} from '../db/sql/forecast-fading.ts';
import { millisecondsPerDay } from '../shared/durations.ts';
import type { MemoryContext } from '../memory/context.ts';
import { loadMemories, referenceKey, type StoredRow } from '../memory/memories.ts';
import { onlyButlerOf } from '../memory/reach.ts';
import { readCursor, writeCursor } from '../memory/cursors.ts';
import { checkDate, checkNumber, checkUuid, globalScope } from '../memory/values.ts';

/** When a fact or rule fades if nobody confirms it. */
export interface Forecast {
  memory: StoredRow;
  /** From when on it is not retrieved: in the past for what fades already. */
  fadesAt: Date;
  /** From when on it has expired; null where that never comes. */
  expiresAt: Date | null;
  cursor: string;
}

export interface ForecastChoice {
  /** How far to look ahead. */
  withinDays: number;
  limit: number;
  after?: string | null | undefined;
  before?: string | null | undefined;
  /** From the end towards the beginning. */
  inverted?: boolean;
}

export const longestForecastDays = 36_500;

/** What to review: live facts and rules in the order in which they fade, and first of all those that do already. */
export async function forecastFading(context: MemoryContext, choice: ForecastChoice): Promise<Forecast[]> {
  const page: ForecastPage = {
    limit: choice.limit,
    after: readCursor('after', listName, choice.after, parsePosition),
    before: readCursor('before', listName, choice.before, parsePosition),
    inverted: choice.inverted ?? false,
  };
  const statement = selectForecast(queryOf(context, choice.withinDays), page);
  const rows = await context.db.client.$queryRaw<ForecastRow[]>(statement);
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
  const statement = countFading(queryOf(context, withinDays));
  const [row] = await context.db.client.$queryRaw<[{ count: number }]>(statement);
  return row.count;
}

function queryOf(context: MemoryContext, withinDays: number): ForecastQuery {
  const { principal, config, now } = context;
  const own = onlyButlerOf(context);
  const { facts } = config.memory;
  const days = checkNumber('within_days', withinDays, 0, longestForecastDays);
  return {
    tenantId: principal.tenantId,
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
