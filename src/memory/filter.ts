import type { MemoryFilter } from '../db/sql/memory-filter.ts';
import { invalidInput } from '../shared/errors.ts';
import { permanences } from './confidence.ts';
import { factKinds, factValidities } from './facts/fact-values.ts';
import { generations } from './generation.ts';
import { maturities } from './rules/rule-maturity.ts';
import { normaliseName } from './text.ts';
import { checkDate, checkNumber, checkOneOf, checkOptionalUuid, checkTags } from './values.ts';

export type { MemoryFilter };

const consolidationStatuses = ['pending', 'consolidated', 'failed', 'dead_letter'] as const;

/** Callers of old wrote "forgotten" where we write "retracted". */
export function normaliseValidity(given: string): string {
  return given === 'forgotten' ? 'retracted' : given;
}

/** The filter, with these validities if it names none. */
export function withValidity(given: MemoryFilter | null | undefined, otherwise: readonly string[]): MemoryFilter {
  const named = given?.validity ?? [];
  return { ...given, validity: named.length === 0 ? otherwise : named };
}

export function normaliseFilter(given: MemoryFilter): MemoryFilter {
  const { from, to } = given;
  checkDate('from', from);
  checkDate('to', to);
  if (from != null && to != null && to < from) throw invalidInput('to', 'not before from', to);
  return {
    scope: name('scope', given.scope),
    butler: name('butler', given.butler),
    subject: name('subject', given.subject),
    predicate: name('predicate', given.predicate),
    sessionId: checkOptionalUuid('session_id', given.sessionId),
    validity: oneOf('validity', given.validity?.map(normaliseValidity), factValidities),
    consolidationStatus: oneOf('consolidation_status', given.consolidationStatus, consolidationStatuses),
    generation: oneOf('generation', given.generation, generations),
    permanence: oneOf('permanence', given.permanence, permanences),
    maturity: oneOf('maturity', given.maturity, maturities),
    kind: given.kind == null ? null : checkOneOf('kind', given.kind, factKinds),
    tags: given.tags == null || given.tags.length === 0 ? null : checkTags(given.tags),
    from,
    to,
    minConfidence: between('min_confidence', given.minConfidence, 0, 1),
    maxConfidence: between('max_confidence', given.maxConfidence, 0, 1),
    minImportance: between('min_importance', given.minImportance, 1, 10),
  };
}

/** Blank counts as absent. */
function name(field: string, given: string | null | undefined): string | null {
  return (given ?? '').trim() === '' ? null : normaliseName(field, given ?? '');
}

/** An empty list asks for nothing in particular. */
function oneOf(
  field: string,
  given: readonly string[] | null | undefined,
  allowed: readonly string[],
): readonly string[] | null {
  if (given === null || given === undefined || given.length === 0) return null;
  return given.map((value) => checkOneOf(field, value, allowed));
}

function between(field: string, given: number | null | undefined, least: number, most: number): number | null {
  return given === null || given === undefined ? null : checkNumber(field, given, least, most);
}
