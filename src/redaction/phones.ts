import type { Finder } from './finding.ts';
import { findForm, type Form } from './scan.ts';

const digitsOf: NonNullable<Form['read']> = (match) => {
  const digits = match[0].replace(/\D/g, '');
  return digits.length >= 8 && digits.length <= 15 ? digits : null;
};

/** With the number of its country, which begins with a plus sign. */
const international: Form = {
  start: /(?<![\p{L}\p{N}_+])\+[1-9]/gu,
  shape: /^\+[1-9]\d{0,2}(?:[ .-]?\(?\d{1,5}\)?){2,6}(?!\d)/,
  longest: 40,
  read: digitsOf,
};

/** As North America writes them. */
const national: Form = {
  start: /(?<![\p{L}\p{N}_.+-])(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[.-])[2-9]\d{2}/gu,
  shape: /^()(?:\(\d{3}\) ?\d{3}-|\d{3}([.-])\d{3}\2)\d{4}(?![\p{L}\p{N}_]|[.-]\d)/u,
  longest: 18,
  read: digitsOf,
};

export const findPhones: Finder = (text, meter) =>
  [international, national].flatMap((form) =>
    findForm(text, form, meter).map((span) => ({ ...span, kind: 'phone' as const })),
  );
