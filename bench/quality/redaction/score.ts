import { findAll } from '../../../src/redaction/find.ts';
import type { FindingKind } from '../../../src/redaction/finding.ts';
import { harmless } from './harmless.ts';
import { planted, type Planted } from './planted.ts';

/** The kinds that the default configuration masks. */
const kinds: readonly FindingKind[] = ['secret', 'card', 'iban', 'national_id'];

/** The held-out half is measured and never tuned on: do not read its misses while you change a pattern. */
export const halves = ['development', 'held-out'] as const;
export type Half = (typeof halves)[number];

export interface RedactionScore {
  planted: number;
  missed: string[];
  harmless: number;
  falseAlarms: string[];
}

export function scoreRedaction(half: Half): RedactionScore {
  const secrets = planted.filter(isIn(half));
  const texts = harmless.filter(isIn(half)).map(({ text }) => text);
  return {
    planted: secrets.length,
    missed: secrets.filter((text) => !isMasked(text)).map(({ text }) => text),
    harmless: texts.length,
    falseAlarms: texts.filter((text) => findAll(text, kinds).length > 0),
  };
}

/** Every second text of each group is held out. */
function isIn(half: Half): (item: unknown, place: number) => boolean {
  return (_, place) => place % 2 === halves.indexOf(half);
}

/** A secret counts as masked only if none of its letters and digits is left. */
function isMasked({ text, secrets }: Planted): boolean {
  const findings = findAll(text, kinds);
  const isCovered = (place: number): boolean => findings.some(({ start, end }) => start <= place && place < end);
  return secrets.every(({ start, end }) =>
    Array.from(text.slice(start, end)).every(
      (character, offset) => !/[\p{L}\p{N}]/u.test(character) || isCovered(start + offset),
    ),
  );
}
