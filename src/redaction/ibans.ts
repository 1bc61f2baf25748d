import type { Finder } from './finding.ts';
import { findForm, type Form } from './scan.ts';

/** Characters of an IBAN, by country. */
const lengths: Record<string, number> = Object.fromEntries(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24
   FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21
   LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22
   RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** In one piece, or in groups of four with a blank, hyphen or dot between them. */
const piece: Form = {
  start: /(?<![\p{L}\p{N}_])[A-Za-z]{2}\d{2}/gu,
  shape: /^[A-Z]{2}\d{2}[ .-]?[A-Z0-9]{11,30}(?![A-Z0-9])/i,
  longest: 40,
  read: ({ 0: found }) => {
    const canonical = found.replace(/[ .-]/, '').toUpperCase();
    return isIban(canonical) ? canonical : null;
  },
};

/** Words of four letters may follow: the country says where it ends. */
const groups: Form = {
  start: /(?<![\p{L}\p{N}_])[A-Za-z]{2}[ .-]?\d{2}[ .-]/gu,
  shape: /^()[A-Z]{2}([ .-]?)\d{2}([ .-])[A-Z0-9]{4}(?:\3[A-Z0-9]{4}){1,6}(?:\3[A-Z0-9]{1,3})?/i,
  longest: 52,
  lengthOf: ({ 0: found, 2: early = '' }) => printedLength(found) + early.length,
  read: ({ 0: found, 2: early = '' }, rest) => {
    const length = printedLength(found) + early.length;
    const canonical = found.slice(0, length).replace(/[ .-]/g, '').toUpperCase();
    const isWhole = !/^[\p{L}\p{N}_]/u.test(`${found.slice(length)}${rest}`);
    return isWhole && isIban(canonical) ? canonical : null;
  },
};

function printedLength(found: string): number {
  const length = lengths[found.slice(0, 2).toUpperCase()] ?? 0;
  return length + Math.ceil(length / 4) - 1;
}

export const findIbans: Finder = (text) => [piece, groups].flatMap((form) => findForm(text, form));

function isIban(text: string): boolean {
  return lengths[text.slice(0, 2)] === text.length && findRemainder(text.slice(4) + text.slice(0, 4)) === 1;
}

/** Of the division by 97, letters counting from 10. Digit by digit, as the number is too long for one. */
function findRemainder(text: string): number {
  let remainder = 0;
  for (const character of text) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}
