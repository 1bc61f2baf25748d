import type { MemoryType } from '../db/tables.ts';
import { memoryTypes } from '../db/tables.ts';
import type { RowFilter } from '../db/sql/search-filter.ts';
import { invalidInput } from '../shared/errors.ts';
import { permanences, type Permanence } from '../memory/confidence.ts';
import type { MemoryContext } from '../memory/context.ts';
import { factValidities, liveValidities, type FactValidity } from '../memory/facts/fact-values.ts';
import { normaliseValidity } from '../memory/filter.ts';
import { generations, type Generation } from '../memory/generation.ts';
import { maturities, type Maturity } from '../memory/rules/rule-maturity.ts';
import { onlyButlerOf, requireForgottenReader, requireScope } from '../memory/reach.ts';
import { normaliseName } from '../memory/text.ts';
import { checkDate, checkNumber, checkOneOf, globalScope, checkTags } from '../memory/values.ts';

/**
 * Which memories may come. What is left out or null does not narrow; a list lets through what is in it. A memory whose
 * type lacks what a filter asks about (the subject of a rule) does not come.
 */
export interface SearchFilter {
  /** All three when left out. */
  types?: readonly MemoryType[] | null | undefined;
  /** A butler's name: facts and rules of `global` and of that scope, episodes of that butler. */
  scope?: string | null | undefined;
  /**
   * Live (active and fading) when left out. Retracted, for facts and rules that were forgotten, is refused to butlers.
   * Episodes are active, and never come once they were forgotten.
   */
  validity?: readonly FactValidity[] | null | undefined;
  generation?: readonly Generation[] | null | undefined;
  permanence?: readonly Permanence[] | null | undefined;
  maturity?: readonly Maturity[] | null | undefined;
  /** In any spelling of its key. */
  subject?: string | null | undefined;
  predicate?: string | null | undefined;
  /** The butler that observed an episode or was the source of a fact or rule. */
  butler?: string | null | undefined;
  /** All of them. */
  tags?: readonly string[] | null | undefined;
  /** The moment it is about (observed, or else created): from this one on. */
  from?: Date | null | undefined;
  /** Before this one. */
  to?: Date | null | undefined;
  /**
   * Least effective confidence of facts and rules. When left out, the retrieval threshold of the configuration, or 0
   * if a validity is named.
   */
  minConfidence?: number | null | undefined;
  /**
   * Memories as they were at this moment: which there were, their text, and everything that the other filters ask
   * about. What was erased since is not found.
   */
  asOf?: Date | null | undefined;
}

export function completeFilter(context: MemoryContext, filter: SearchFilter): RowFilter {
  const { tenantId } = context.principal;
  const asOf = checkDate('as_of', filter.asOf);
  const from = checkDate('from', filter.from);
  const to = checkDate('to', filter.to);
  if (from !== null && to !== null && to <= from) throw invalidInput('to', `after from (${from.toISOString()})`, to);
  const { retrievalConfidenceThreshold } = context.config.memory.facts;
  const defaultConfidence = filter.validity == null ? retrievalConfidenceThreshold : 0;
  return {
    tenantId,
    at: asOf ?? context.now(),
    isPast: asOf !== null,
    types: listOf('types', filter.types, memoryTypes) ?? memoryTypes,
    ...visibility(context, filter.scope),
    validity: validityOf(context, filter.validity),
    generation: listOf('generation', filter.generation, generations),
    permanence: listOf('permanence', filter.permanence, permanences),
    maturity: listOf('maturity', filter.maturity, maturities),
    subject: nameOf('subject', filter.subject),
    predicate: nameOf('predicate', filter.predicate),
    butler: nameOf('butler', filter.butler),
    tags: checkTags(filter.tags),
    from,
    to,
    minConfidence: checkNumber('min_confidence', filter.minConfidence ?? defaultConfidence, 0, 1),
  };
}

function validityOf(
  caller: Pick<MemoryContext, 'principal'>,
  given: SearchFilter['validity'],
): readonly FactValidity[] {
  const asked = listOf('validity', given?.map(normaliseValidity), factValidities) ?? liveValidities;
  if (asked.includes('retracted')) requireForgottenReader(caller, asked);
  return asked;
}

/** All that the caller may find of these types, whatever else was asked: what word frequencies are counted over. */
export function corpusOf(filter: RowFilter): RowFilter {
  return {
    ...filter,
    validity: liveValidities,
    generation: null,
    permanence: null,
    maturity: null,
    subject: null,
    predicate: null,
    butler: null,
    tags: [],
    from: null,
    to: null,
    minConfidence: 0,
  };
}

type Visibility = Pick<RowFilter, 'visibleButler' | 'visibleScopes'>;

function visibility(caller: Pick<MemoryContext, 'principal'>, asked: string | null | undefined): Visibility {
  const named = nameOf('scope', asked);
  const scope = named === null ? onlyButlerOf(caller) : requireScope(caller, named);
  if (scope === null) return { visibleButler: null, visibleScopes: null };
  return { visibleButler: scope, visibleScopes: [...new Set([globalScope, scope])] };
}

function listOf<T extends string>(
  field: string,
  given: readonly string[] | null | undefined,
  allowed: readonly T[],
): T[] | null {
  if (given === null || given === undefined) return null;
  if (given.length === 0) throw invalidInput(field, `one or more of ${allowed.join(', ')}`, given);
  return [...new Set(given.map((value) => checkOneOf(field, value, allowed)))];
}

function nameOf(field: string, given: string | null | undefined): string | null {
  return given === null || given === undefined ? null : normaliseName(field, given);
}
