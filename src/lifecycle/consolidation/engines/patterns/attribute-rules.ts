import type { Permanence } from '../../../../memory/confidence.ts';
import {
  readDate,
  readLanguage,
  readName,
  readNationality,
  readOccupation,
  readOrganisation,
  readPhrase,
  readPlace,
  trimEnd,
  type ReadValue,
} from './values.ts';

/** What somebody's something is: "my name is …". */
export interface AttributeRule {
  /** Of the whole noun. */
  readonly noun: RegExp;
  /** `$1` stands for the first group of the noun. */
  readonly predicate: string;
  readonly value: ReadValue;
  readonly permanence: Permanence;
  readonly importance?: number;
}

const pattern =
  (expression: RegExp): ReadValue =>
  (text) =>
    expression.exec(text)?.[0] ?? null;

const readEmail = pattern(/^[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,4}/);
const readPhone = pattern(/^\+?\d(?:[\d ()/-]{4,22})\d/);
const readAddress: ReadValue = (text) => (/\d/.test(text) && /^[\p{L}\p{N}]/u.test(text) ? trimEnd(text) : null);
const readZone = pattern(
  /^(?:[A-Z][A-Za-z_]+\/[A-Z][A-Za-z_/]+|(?:UTC|GMT|CET|CEST|EST|PST|MST|CST|WET|EET)(?:[+-]\d{1,2}(?::\d{2})?)?)/,
);
const readSize = pattern(
  /^(?:\d{1,3}(?:[.,]5)?(?: (?:EU|UK|US))?|XXS|XS|S|M|L|XL|XXL|small|medium|large|extra large)(?=$|[ ,.])/,
);
const readBlood = pattern(/^(?:A|B|AB|O)(?: ?(?:positive|negative|\+|-))?(?=$|[ ,.])/);
/** With a make. */
const readCar: ReadValue = (text) => (/^an? .*\p{Lu}/u.test(text) ? readPhrase(text) : null);
const readPronouns = pattern(/^(?:he|she|they|ze|xe)\/\w+(?:\/\w+)?/i);
const readChannel = pattern(
  /^(?:by |via |on |through |with )?(?:e-?mail|phone|text(?: message)?|sms|whatsapp|signal|telegram|slack|letter|post|phone call|video call|teams)\b/i,
);
const orNull =
  (...readers: ReadValue[]): ReadValue =>
  (text) =>
    readers.map((read) => read(text)).find((value) => value !== null) ?? null;

export const attributeRules: readonly AttributeRule[] = [
  { noun: /^(?:full |real |first )?name$/, predicate: 'name', value: readName, permanence: 'permanent', importance: 8 },
  {
    noun: /^(?:surname|last name|family name)$/,
    predicate: 'last_name',
    value: readName,
    permanence: 'permanent',
    importance: 7,
  },
  { noun: /^nickname$/, predicate: 'nickname', value: readName, permanence: 'stable', importance: 6 },
  {
    noun: /^(?:birthday|date of birth|birth date)$/,
    predicate: 'birthday',
    value: (text) => readDate(text.replace(/^on /, '')),
    permanence: 'permanent',
    importance: 7,
  },
  {
    noun: /^(?:(?:personal |work |private )?e-?mail(?: address)?)$/,
    predicate: 'email',
    value: readEmail,
    permanence: 'stable',
    importance: 6,
  },
  {
    noun: /^(?:(?:phone|mobile|cell)(?: number)?)$/,
    predicate: 'phone',
    value: readPhone,
    permanence: 'stable',
    importance: 6,
  },
  {
    noun: /^(?:(?:home |postal |new )?address)$/,
    predicate: 'address',
    value: readAddress,
    permanence: 'stable',
    importance: 6,
  },
  { noun: /^time ?zone$/, predicate: 'timezone', value: readZone, permanence: 'stable', importance: 6 },
  {
    noun: /^(?:native language|mother tongue|first language)$/,
    predicate: 'native_language',
    value: readLanguage,
    permanence: 'permanent',
    importance: 6,
  },
  { noun: /^nationality$/, predicate: 'nationality', value: readNationality, permanence: 'permanent', importance: 6 },
  {
    noun: /^(?:job|profession|occupation|job title)$/,
    predicate: 'job',
    value: orNull((text) => readOccupation(text.replace(/^an? /, ''))),
    permanence: 'stable',
    importance: 6,
  },
  {
    noun: /^(?:employer|company|new employer|new company)$/,
    predicate: 'works_at',
    value: readOrganisation,
    permanence: 'stable',
    importance: 6,
  },
  { noun: /^(?:home ?town)$/, predicate: 'comes_from', value: readPlace, permanence: 'permanent' },
  { noun: /^pronouns$/, predicate: 'pronouns', value: readPronouns, permanence: 'stable', importance: 7 },
  {
    noun: /^(shoe|shirt|dress|ring|trouser|jacket|hat) size$/,
    predicate: '$1_size',
    value: readSize,
    permanence: 'stable',
  },
  { noun: /^blood (?:type|group)$/, predicate: 'blood_type', value: readBlood, permanence: 'permanent', importance: 7 },
  { noun: /^car$/, predicate: 'drives', value: readCar, permanence: 'standard' },
  { noun: /^bank$/, predicate: 'banks_with', value: readOrganisation, permanence: 'stable' },
  {
    noun: /^(?:preferred (?:way of contact|contact method|channel)|best way to (?:reach|contact) (?:me|him|her|them))$/,
    predicate: 'contact_by',
    value: readChannel,
    permanence: 'standard',
    importance: 6,
  },
  {
    noun: /^(?:all-time )?favou?rite ([\p{L}][\p{L} -]{1,30})$/u,
    predicate: 'favourite_$1',
    value: readPhrase,
    permanence: 'stable',
  },
  {
    noun: /^preferred ([\p{L}][\p{L} -]{1,30})$/u,
    predicate: 'preferred_$1',
    value: readPhrase,
    permanence: 'standard',
  },
];
