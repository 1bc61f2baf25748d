import type { Finder } from './finding.ts';
import { findForm, type Form } from './scan.ts';

const digitsOf: NonNullable<Form['read']> = (match) => {
  const digits = match[0].replace(/\D/g, '');
  return digits.length >= 8 && digits.length <= 15 ? digits : null;
};

/** International form: a plus sign and the country code. */
const international: Form = {
  start: /(?<![\p{L}\p{N}_+])\+[1-9]/gu,
  shape: /^\+[1-9]\d{0,2}(?:[ .-]?\(?\d{1,5}\)?){2,6}(?!\d)/,
  longest: 40,
  read: digitsOf,
};

/** North American form. */
const national: Form = {
  start: /(?<![\p{L}\p{N}_.+-])(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[.-])[2-9]\d{2}/gu,
  shape: /^()(?:\(\d{3}\) ?\d{3}-|\d{3}([.-])\d{3}\2)\d{4}(?![\p{L}\p{N}_]|[.-]\d)/u,
  longest: 18,
  read: digitsOf,
};

export const findPhones: Finder = (text) => [international, national].flatMap((form) => findForm(text, form));
