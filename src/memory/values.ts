import { validate as isUuid } from 'uuid';
import { invalidInput } from '../shared/errors.ts';
import type { RedactedText, Redactor } from '../redaction/redactor.ts';
import { normaliseLabel, normaliseName } from './text.ts';

const tagCountLimit = 64;
export const globalScope = 'global';

export function checkUuid(field: string, given: string): string {
  const text = given.trim();
  if (!isUuid(text)) throw invalidInput(field, 'a UUID', given);
  return text.toLowerCase();
}

/** Blank counts as absent; anything else must be a UUID. */
export function checkOptionalUuid(field: string, given: string | null | undefined): string | null {
  return (given ?? '').trim() === '' ? null : checkUuid(field, given ?? '');
}

export function checkNumber(field: string, given: number, least: number, most: number): number {
  if (!(given >= least && given <= most)) throw invalidInput(field, `a number from ${least} to ${most}`, given);
  return given;
}

/** How many are wanted: a whole number from 1 to `most`. */
export function checkLimit(field: string, given: number | null | undefined, usual: number, most: number): number {
  const limit = given ?? usual;
  if (!Number.isInteger(limit) || limit < 1 || limit > most) {
    throw invalidInput(field, `a whole number from 1 to ${most}`, limit);
  }
  return limit;
}

export function checkOneOf<T extends string>(field: string, given: string, allowed: readonly T[]): T {
  const found = allowed.find((value) => value === given);
  if (found === undefined) throw invalidInput(field, `one of ${allowed.join(', ')}`, given);
  return found;
}

/** Blank counts as absent; anything else must be a name. */
export function checkOptionalName(field: string, given: string | null | undefined): string | null {
  return (given ?? '').trim() === '' ? null : normaliseName(field, given ?? '');
}

/** As they are kept: in the order given, each once. */
export function normaliseTags(redactor: Redactor, given: readonly string[] | null | undefined): RedactedText[] {
  return [...new Set(limitTags(given).map((tag) => normaliseLabel(redactor, 'tags', tag)))];
}

/** As they are searched for. */
export function checkTags(given: readonly string[] | null | undefined): string[] {
  return [...new Set(limitTags(given).map((tag) => normaliseName('tags', tag)))];
}

function limitTags(given: readonly string[] | null | undefined): readonly string[] {
  const tags = given ?? [];
  if (tags.length > tagCountLimit) throw invalidInput('tags', `at most ${tagCountLimit}`, tags.length);
  return tags;
}

const earliest = Date.UTC(1901, 0, 1);
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** PostgreSQL and JavaScript agree on these years, and no memory is older or later. */
export function checkDate(field: string, given: Date | null | undefined): Date | null {
  if (given === null || given === undefined) return null;
  const time = given.getTime();
  if (!(time >= earliest && time <= latest)) {
    throw invalidInput(field, 'a time in the years 1901 to 9999', Number.isNaN(time) ? 'an invalid date' : given);
  }
  return given;
}
