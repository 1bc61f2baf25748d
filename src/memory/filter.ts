import type { MemoryFilter } from '../db/sql/memory-filter.ts';
import { memoryTypes, type MemoryType } from '../db/tables.ts';
import { invalidInput } from '../shared/errors.ts';
import { permanences } from './confidence.ts';
import type { MemoryContext } from './context.ts';
import { factKinds, factValidities, liveValidities } from './facts/fact-values.ts';
import { predicateKey } from './facts/lexicon.ts';
import { generations } from './generation.ts';
import { onlyButlerOf, requireScope } from './reach.ts';
import { maturities } from './rules/rule-maturity.ts';
import { normaliseName } from './text.ts';
import { checkDate, checkNumber, checkOneOf, checkOptionalUuid, checkTags, globalScope } from './values.ts';

/**
 * Which memories are wanted, as callers say it: the same for searches, recalls, lists and the timeline. A field that
 * is left out or null does not narrow. A list allows its values, and must not be empty; `tags` asks for all of its tags, so an
 * empty one asks for none. A memory whose type lacks what a field asks about (the subject of a rule) does not come.
 */
export interface FilterInput {
  /** All three when left out. */
  types?: readonly MemoryType[] | null | undefined;
  /** A butler's name: facts and rules of `global` and of that scope, episodes of that butler. */
  scope?: string | null | undefined;
  /**
   * Live (active and fading) when left out, and of facts only those that are current: neither upcoming nor ended. Retracted is for facts and rules that were forgotten; episodes are active,
   * and never come once they were forgotten.
   */
  validity?: readonly string[] | null | undefined;
  generation?: readonly string[] | null | undefined;
  permanence?: readonly string[] | null | undefined;
  maturity?: readonly string[] | null | undefined;
  consolidationStatus?: readonly string[] | null | undefined;
  sessionId?: string | null | undefined;
  kind?: string | null | undefined;
  /** In any spelling of its key. */
  subject?: string | null | undefined;
  predicate?: string | null | undefined;
  /** The butler that observed an episode or was the source of a fact or rule. */
  butler?: string | null | undefined;
  /** All of them. */
  tags?: readonly string[] | null | undefined;
  /** When it happened (observed, or else created): at this moment or later. */
  from?: Date | null | undefined;
  /** When it happened: before this moment, which must be after `from`. */
  to?: Date | null | undefined;
  /** Least effective confidence of facts and rules. */
  minConfidence?: number | null | undefined;
  /** Effective confidence of facts and rules below this. */
  maxConfidence?: number | null | undefined;
  minImportance?: number | null | undefined;
  /**
   * Memories as they were at this moment: which there were, their text, and everything that the other fields ask about.
   * What was erased since is not found.
   */
  asOf?: Date | null | undefined;
  /** Facts that held at this date, past or to come, by what is known: instead of those that are current. */
  validAt?: Date | null | undefined;
}

/** What holds where the input leaves it open. */
export interface FilterDefaults {
  validity?: readonly string[];
  minConfidence?: number;
  withDisabled?: boolean;
}

const consolidationStatuses = ['pending', 'consolidated', 'failed', 'dead_letter'] as const;

/** Checks and completes a filter, and confines it to what the caller may see. */
export function completeFilter(
  context: MemoryContext,
  input: FilterInput,
  defaults: FilterDefaults = {},
): MemoryFilter {
  const asOf = checkDate('as_of', input.asOf);
  return {
    tenantId: context.principal.tenantId,
    at: asOf ?? context.now(),
    isPast: asOf !== null,
    types: checkList('types', input.types, memoryTypes) ?? memoryTypes,
    ...confine(context, checkName('scope', input.scope)),
    validity:
      checkList('validity', input.validity?.map(normaliseValidity), factValidities) ??
      defaults.validity ??
      liveValidities,
    onlyCurrent: input.validity == null && defaults.validity === undefined,
    validAt: checkDate('valid_at', input.validAt),
    withDisabled: defaults.withDisabled ?? false,
    generation: checkList('generation', input.generation, generations),
    permanence: checkList('permanence', input.permanence, permanences),
    maturity: checkList('maturity', input.maturity, maturities),
    consolidationStatus: checkList('consolidation_status', input.consolidationStatus, consolidationStatuses),
    sessionId: checkOptionalUuid('session_id', input.sessionId),
    kind: input.kind == null ? null : checkOneOf('kind', input.kind, factKinds),
    subject: checkName('subject', input.subject),
    predicate: checkPredicate(input.predicate),
    butler: checkName('butler', input.butler),
    tags: checkTags(input.tags),
    ...checkPeriod(input),
    minConfidence: checkNumber('min_confidence', input.minConfidence ?? defaults.minConfidence ?? 0, 0, 1),
    maxConfidence: checkBetween('max_confidence', input.maxConfidence, 0, 1),
    minImportance: checkBetween('min_importance', input.minImportance, 1, 10),
  };
}

function checkPredicate(given: string | null | undefined): string | null {
  const name = checkName('predicate', given);
  return name === null ? null : predicateKey(name);
}

/** Returns the filter without what narrows it: all that the caller may find of its types. */
export function widenFilter({ tenantId, at, isPast, types, visibleButler, visibleScopes }: MemoryFilter): MemoryFilter {
  return {
    tenantId,
    at,
    isPast,
    types,
    visibleButler,
    visibleScopes,
    validity: liveValidities,
    withDisabled: false,
    generation: null,
    permanence: null,
    maturity: null,
    consolidationStatus: null,
    sessionId: null,
    kind: null,
    subject: null,
    predicate: null,
    butler: null,
    tags: [],
    from: null,
    to: null,
    minConfidence: 0,
    maxConfidence: null,
    minImportance: null,
  };
}

/** From the first moment up to, and without, the second. */
export function checkPeriod({ from: first, to: second }: Pick<FilterInput, 'from' | 'to'>): {
  from: Date | null;
  to: Date | null;
} {
  const [from, to] = [checkDate('from', first), checkDate('to', second)];
  if (from !== null && to !== null && to <= from) throw invalidInput('to', `after from (${from.toISOString()})`, to);
  return { from, to };
}

/** Earlier callers wrote "forgotten" for "retracted". */
function normaliseValidity(given: string): string {
  return given === 'forgotten' ? 'retracted' : given;
}

function confine(context: MemoryContext, named: string | null): Pick<MemoryFilter, 'visibleButler' | 'visibleScopes'> {
  const scope = named === null ? onlyButlerOf(context) : requireScope(context, named);
  if (scope === null) return { visibleButler: null, visibleScopes: null };
  return { visibleButler: scope, visibleScopes: [...new Set([globalScope, scope])] };
}

function checkName(field: string, given: string | null | undefined): string | null {
  return given === null || given === undefined ? null : normaliseName(field, given);
}

function checkList<T extends string>(
  field: string,
  given: readonly string[] | null | undefined,
  allowed: readonly T[],
): T[] | null {
  if (given === null || given === undefined) return null;
  if (given.length === 0) throw invalidInput(field, `one or more of ${allowed.join(', ')}`, given);
  return [...new Set(given.map((value) => checkOneOf(field, value, allowed)))];
}

function checkBetween(field: string, given: number | null | undefined, least: number, most: number): number | null {
  return given === null || given === undefined ? null : checkNumber(field, given, least, most);
}
