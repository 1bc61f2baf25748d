import { testFilters } from '../../db/queries/passing-filters.ts';
import { narrowingFields, type MemoryFilter } from '../../db/sql/memory-filter.ts';
import { effectiveConfidence } from '../../memory/confidence.ts';
import type { Fact } from '../../generated/prisma/client.ts';
import type { MemoryContext } from '../../memory/context.ts';
import { isUpcoming } from '../../memory/facts/valid-time.ts';
import type { Memory } from '../../memory/memories.ts';
import { widenFilter } from '../../memory/filter.ts';
import type { FilterStage } from '../pipeline/ranked.ts';

export interface FilterDrop {
  stage: FilterStage;
  reason: string;
}

/** The first condition of a filter that keeps a memory from being found at all; null when it passes them all. */
export async function findFilterDrop(
  context: MemoryContext,
  memory: Memory,
  filter: MemoryFilter,
): Promise<FilterDrop | null> {
  return stateDrop(memory, filter) ?? narrowingDrop(context, memory, filter);
}

function stateDrop(memory: Memory, filter: MemoryFilter): FilterDrop | null {
  return scopeDrop(memory, filter) ?? typeDrop(memory, filter) ?? goneDrop(memory, filter) ?? liveDrop(memory, filter);
}

function scopeDrop({ type, row }: Memory, { visibleButler, visibleScopes }: MemoryFilter): FilterDrop | null {
  if (type === 'episode') {
    if (visibleButler === null || row.butler === visibleButler) return null;
    return {
      stage: 'scope',
      reason: `it is an episode of ${row.butler}, and those of ${visibleButler} were asked for`,
    };
  }
  if (visibleScopes === null || visibleScopes.includes(row.scope)) return null;
  return { stage: 'scope', reason: `its scope is ${row.scope}, and ${visibleScopes.join(' and ')} were asked for` };
}

function typeDrop({ type }: Memory, { types }: MemoryFilter): FilterDrop | null {
  return types.includes(type) ? null : { stage: 'type', reason: `its type is ${type}; asked for: ${types.join(', ')}` };
}

function goneDrop({ type, row }: Memory, { at, validity }: MemoryFilter): FilterDrop | null {
  const isForgotten = type === 'episode' ? row.forgottenAt !== null : row.validity === 'retracted';
  const isAskedFor = type !== 'episode' && validity.includes('retracted');
  if (isForgotten && !isAskedFor) return { stage: 'forgotten', reason: 'it was forgotten' };
  if (type === 'episode') {
    return row.expiresAt > at ? null : { stage: 'expired', reason: `it expired at ${row.expiresAt.toISOString()}` };
  }
  if (row.validity === 'expired' && !validity.includes('expired')) {
    return { stage: 'expired', reason: 'its confidence fell below the threshold at which it expires' };
  }
  if (type === 'fact' || row.disabledAt === null) return null;
  return { stage: 'disabled', reason: `it was disabled at ${row.disabledAt.toISOString()}` };
}

function liveDrop(memory: Memory, filter: MemoryFilter): FilterDrop | null {
  const { at, validity, onlyCurrent, minConfidence } = filter;
  if (memory.type === 'episode') return null;
  if (memory.type === 'fact' && filter.validAt != null && onlyCurrent === true)
    return timeDrop(memory.row, filter.validAt);
  const { row } = memory;
  if (!validity.includes(row.validity)) {
    return { stage: 'validity', reason: `it is ${row.validity}; asked for: ${validity.join(', ')}` };
  }
  const isShown = filter.withUpcoming === true && memory.type === 'fact' && isUpcoming(memory.row, at);
  const time = onlyCurrent === true && memory.type === 'fact' && !isShown ? timeDrop(memory.row, at) : null;
  if (time !== null) return time;
  const confidence = effectiveConfidence(row, at);
  if (confidence >= minConfidence) return null;
  const shown = Number(confidence.toPrecision(3));
  return { stage: 'confidence', reason: `its effective confidence is ${shown}, below ${minConfidence}` };
}

function timeDrop(
  { kind, validFrom, validTo }: Pick<Fact, 'kind' | 'validFrom' | 'validTo'>,
  at: Date,
): FilterDrop | null {
  if (kind === 'event') return null;
  if (validFrom !== null && validFrom > at) {
    return { stage: 'validity', reason: `it holds from ${validFrom.toISOString()} on` };
  }
  if (validTo === null || validTo > at) return null;
  return { stage: 'validity', reason: `it held until ${validTo.toISOString()}` };
}

/** Asks the database, one condition at a time, so that the explanation cannot differ from the search. */
async function narrowingDrop(
  { db }: MemoryContext,
  { type, row }: Memory,
  filter: MemoryFilter,
): Promise<FilterDrop | null> {
  const base: MemoryFilter = { ...widenFilter(filter), validity: filter.validity };
  const asked = narrowingFields.filter((name) => filter[name] !== null);
  const steps = [
    ...asked.map((name) => ({ name: name as string, filter: { ...base, [name]: filter[name] } })),
    ...(filter.tags.length > 0 ? [{ name: 'tags', filter: { ...base, tags: filter.tags } }] : []),
    { name: 'filter', filter },
  ];
  const filters = steps.map((step) => step.filter);
  const passes = await testFilters(db.client, { type, id: row.id }, filters);
  const failed = steps.find((_, place) => passes[place] !== true);
  return failed === undefined
    ? null
    : { stage: 'filter', reason: `it does not pass what was asked of its ${failed.name}` };
}
