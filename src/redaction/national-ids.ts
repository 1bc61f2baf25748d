import { hasArticleDigit } from './cards.ts';
import type { Finder } from './finding.ts';
import { findForm, type Form } from './scan.ts';

/**
 * Numbers that a state gives a person. Only those that a check digit or a form of their own tells from other numbers:
 * nine or eleven digits alone are anything.
 */

const compact = (text: string): string => text.replace(/[ .-]/g, '').toUpperCase();

const checked =
  (isOne: (digits: string) => boolean): NonNullable<Form['read']> =>
  (match) =>
    isOne(compact(match[0])) ? compact(match[0]) : null;

/** A number that counts only after a word that names it. */
function named(names: string, number: string, isOne: (digits: string) => boolean): Form {
  return {
    start: new RegExp(`(?<![\\p{L}\\p{N}])(?:${names})(?![\\p{L}\\p{N}])`, 'giu'),
    shape: new RegExp(`^((?:${names})["'*]{0,3}${tie})(${number})(?![\\p{L}\\p{N}_]|[.-]\\d)`, 'iu'),
    longest: 80,
    read: ({ 2: found = '' }) => (isOne(compact(found)) ? compact(found) : null),
  };
}

/** What may stand between the name of a number and the number. */
const tie =
  '(?: (?:number|nummer|no\\.?|nr\\.?|#))?(?: \\([^)\\n]{1,20}\\))?(?:\\s{0,3}[:=#]|\\s(?:is|was|ist|lautet|es|est|è|é))?[\\s"\'*:]{0,4}';

/** A social security number, without the ranges that are never given out and the two that advertisements used up. */
const unitedStates: Form = {
  start: /(?<![\p{L}\p{N}_.-])\d{3}[- ]\d{2}/gu,
  shape: /^()(?!000|666|9)\d{3}([- ])(?!00)\d{2}\2(?!0000)\d{4}(?![\p{L}\p{N}_]|[.-]\d)/u,
  longest: 14,
  read: checked((digits) => digits !== '078051120' && digits !== '219099999'),
};

/** Without hyphens nine digits are anything: a word must say what they are. */
const namedSocialSecurity = named(
  'ssn|ss#|social security(?: number| no\\.?| #)?',
  '(?!000|666|9)\\d{3}[-. ]?(?!00)\\d{2}[-. ]?(?!0000)\\d{4}',
  (digits) => digits !== '078051120' && digits !== '219099999',
);

/** A Steuer-ID: of its first ten digits one stands there two or three times and no other twice. */
const germany: Form = {
  start: /(?<![\p{L}\p{N}_.+-]|\d )[1-9]\d/gu,
  shape: /^(?:\d{11}|\d{2} \d{3} \d{3} \d{3})(?![\p{L}\p{N}_]|[.-]\d| \d)/u,
  longest: 18,
  read: checked((digits) => repeatsOneDigit(digits.slice(0, 10)) && hasIsoDigit(digits)),
};

function repeatsOneDigit(digits: string): boolean {
  const counts = new Map<string, number>();
  for (const digit of digits) counts.set(digit, (counts.get(digit) ?? 0) + 1);
  const repeated = [...counts.values()].filter((count) => count > 1);
  return repeated.length === 1 && (repeated[0] ?? 0) <= 3 && !/(\d)\1\1/.test(digits);
}

/** ISO 7064, modulus 11,10. */
function hasIsoDigit(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (Number(digit) + product) % 10;
    product = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return (11 - product) % 10 === Number(digits.at(-1));
}

/** DNI and, for foreigners, NIE. */
const spain: Form = {
  start: /(?<![\p{L}\p{N}_.-])[\dXYZxyz]\d{7}/gu,
  shape: /^[\dXYZ]\d{7}-?[A-Z](?![\p{L}\p{N}_])/iu,
  longest: 12,
  read: checked((text) => {
    const number = Number(text.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter))));
    return 'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23] === text.at(-1);
  }),
};

/** A codice fiscale, also where letters stand for digits because two people would share one. */
const italy: Form = {
  start: /(?<![\p{L}\p{N}_])[A-Za-z]{6}[\dL-NP-Vl-np-v]{2}[A-Za-z]/gu,
  shape: /^[A-Z]{6}[\dL-NP-V]{2}[A-EHLMPRST][\dL-NP-V]{2}[A-Z][\dL-NP-V]{3}[A-Z](?![\p{L}\p{N}_])/iu,
  longest: 18,
  read: checked((text) => /\d/.test(text) && italianCheck(text.slice(0, 15)) === text.at(-1)),
};

const oddValues = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

function italianCheck(text: string): string {
  const sum = Array.from(text).reduce((total, character, place) => {
    const value = /\d/.test(character) ? Number(character) : character.charCodeAt(0) - 65;
    return total + (place % 2 === 0 ? (oddValues[value] ?? 0) : value);
  }, 0);
  return String.fromCharCode(65 + (sum % 26));
}

/** A national insurance number has no check digit, and a form that little else has. */
const unitedKingdom: Form = {
  start: /(?<![\p{L}\p{N}_-])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2}/gu,
  shape: /^()(?!BG|GB|KN|NK|NT|TN|ZZ)[A-Z]{2}( ?)\d{2}\2\d{2}\2\d{2}\2[A-D](?![\p{L}\p{N}_-])/u,
  longest: 16,
  read: checked(() => true),
};

const namedUnitedKingdom = named(
  'national insurance|ni|nino|n\\.i\\.',
  '(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z][- ]?\\d{2}[- ]?\\d{2}[- ]?\\d{2}[- ]?[A-D]',
  () => true,
);

/** An NIR, with its key. */
const france: Form = {
  start: /(?<![\p{L}\p{N}_.-]|\d )[12] ?\d{2}/gu,
  shape: /^()[12]( ?)\d{2}\2(?:0[1-9]|1[0-2]|[2-9]\d)\2(?:\d{2}|2[AB])\2\d{3}\2\d{3}\2\d{2}(?![\p{L}\p{N}_]|[.-]\d)/u,
  longest: 24,
  read: checked((text) => {
    const number = Number(text.slice(0, 13).replace('2A', '19').replace('2B', '18'));
    return 97 - (number % 97) === Number(text.slice(13));
  }),
};

/** A CPF, in the form in which it is written: its digits alone could be any number. */
const brazil: Form = {
  start: /(?<![\p{L}\p{N}_.-])\d{3}\.\d{3}\./gu,
  shape: /^\d{3}\.\d{3}\.\d{3}-\d{2}(?![\p{L}\p{N}_])/u,
  longest: 18,
  read: checked(isCpf),
};

const namedBrazil = named('cpf', '\\d{3}[. ]?\\d{3}[. ]?\\d{3}[- ]?\\d{2}', isCpf);

function isCpf(digits: string): boolean {
  return !/^(\d)\1+$/.test(digits) && hasCpfDigits(digits);
}

function hasCpfDigits(digits: string): boolean {
  const digitAfter = (count: number): number => {
    const sum = Array.from(digits.slice(0, count)).reduce(
      (all, digit, at) => all + Number(digit) * (count + 1 - at),
      0,
    );
    return ((sum * 10) % 11) % 10;
  };
  return digitAfter(9) === Number(digits[9]) && digitAfter(10) === Number(digits[10]);
}

/** An AHV number, which begins with the number of the country. */
const switzerland: Form = {
  start: /(?<![\p{L}\p{N}_.-])756\.?\d{4}/gu,
  shape: /^756(?:\.\d{4}\.\d{4}\.\d{2}|\d{10})(?![\p{L}\p{N}_])/u,
  longest: 18,
  read: checked(hasArticleDigit),
};

const forms = [
  unitedStates,
  namedSocialSecurity,
  germany,
  spain,
  italy,
  unitedKingdom,
  namedUnitedKingdom,
  france,
  brazil,
  namedBrazil,
  switzerland,
];

export const findNationalIds: Finder = (text) => forms.flatMap((form) => findForm(text, form));
