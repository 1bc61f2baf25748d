import type { Finder } from './finding.ts';
import { findForm, type Form } from './scan.ts';

/**
 * Numbers as they stand on cards: in one piece, or in the groups that are printed there with one and the same blank,
 * hyphen, dot or underscore between them. Other groups are phone numbers, and parts of identifiers.
 */
const start = /(?<![\p{L}\p{N}_.]|\d-)[2-6]\d{3}/gu;

const read: NonNullable<Form['read']> = (match) => {
  const digits = match[0].replace(/\D/g, '');
  return isCardNumber(digits) ? digits : null;
};

const forms: Form[] = [
  {
    start,
    shape: /^()(?:\d{13,19}|\d{4}([ ._-])\d{4}\2\d{4}\2\d{4}|\d{4}([ ._-])\d{6}\3\d{4,5})(?![\p{L}\p{N}_]|[.-]\d)/u,
    longest: 30,
    read,
  },
  { start, shape: /^()\d{4}([ ._-])\d{4}\2\d{4}\2\d{4}\2\d{1,3}(?![\p{L}\p{N}_]|[.-]\d)/u, longest: 30, read },
];

export const findCards: Finder = (text) => forms.flatMap((form) => findForm(text, form));

function isCardNumber(digits: string): boolean {
  const isIssued = issuers.some(({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits));
  return isIssued && hasLuhnDigit(digits) && !(digits.length === 13 && hasArticleDigit(digits));
}

/** By the ranges that the networks publish. */
const issuers: { prefix: RegExp; lengths: number[] }[] = [
  { prefix: /^4/, lengths: [13, 16, 19] },
  { prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { prefix: /^3[47]/, lengths: [15] },
  { prefix: /^(?:30[0-5]|309|36|3[89])/, lengths: [14, 16] },
  { prefix: /^(?:6011|64[4-9]|65)/, lengths: [16, 17, 18, 19] },
  { prefix: /^35(?:2[89]|[3-8])/, lengths: [16, 17, 18, 19] },
  { prefix: /^62/, lengths: [16, 17, 18, 19] },
  { prefix: /^220[0-4]/, lengths: [16, 17, 18, 19] },
  { prefix: /^(?:5018|5020|5038|5893|6304|6759|676[1-3])/, lengths: [13, 14, 15, 16, 17, 18, 19] },
];

/** From the right, every second digit counts twice. */
function hasLuhnDigit(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place]);
    const twice = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += place % 2 === 0 ? digit : twice;
  }
  return sum % 10 === 0;
}

/** Of an article number (EAN-13), which is far more common among numbers of 13 digits. */
export function hasArticleDigit(digits: string): boolean {
  const sum = Array.from(digits).reduce((total, digit, place) => total + Number(digit) * (place % 2 === 0 ? 1 : 3), 0);
  return sum % 10 === 0;
}
