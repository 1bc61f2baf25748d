import type { Permanence } from '../../../../memory/confidence.ts';
import {
  keyOf,
  readLanguage,
  readName,
  readOccupation,
  readOrganisation,
  readPlace,
  readShortPhrase,
  type ReadValue,
} from './values.ts';
import { conditions, otherDiets, singleDiets } from './words.ts';
import { relationNouns, relationOf } from './relations.ts';

/** A predicate and the verb phrases that say it. `{value}` in a predicate is the value as a key. */
interface TypeRule {
  readonly predicate: string;
  readonly verb: RegExp;
  readonly value: ReadValue;
  readonly permanence: Permanence;
  readonly importance: number;
  readonly opposite?: string;
}

const diets: ReadValue = (text) =>
  new RegExp(`^(?:${singleDiets}|${otherDiets})(?=$|[,;.]| (?:and|but|except|since|now))`, 'i').exec(text)?.[0] ?? null;
const condition: ReadValue = (text) =>
  new RegExp(`^(?:${conditions})(?=$|[,;.]| (?:and|but|since|for|now))`, 'i').exec(text)?.[0] ?? null;
const medicine: ReadValue = (text) =>
  /^(?:\d[\d.,]* ?(?:mg|mcg|micrograms|g|ml)(?: of)? )?(?<drug>\p{L}[\p{L}-]{4,})(?= \d[\d.,]* ?(?:mg|mcg|micrograms|g|ml)\b|.*\b(?:mg|mcg|micrograms|tablets?|daily|morning|night)\b)/iu
    .exec(text)
    ?.groups?.['drug']?.toLowerCase() ?? null;
const liking =
  '(?:(?:really|absolutely|also|quite|still|particularly) )*(?:likes|loves|enjoys|adores)|is (?:very |really )?fond of|is an? (?:big |huge |great )?fan of';
const disliking =
  '(?:(?:really|absolutely|also|strongly) )*(?:dislikes|hates|detests|loathes|despises)|cannot stand|does not (?:really )?(?:like|enjoy|care for)|is not an? (?:big )?fan of';

const rules: readonly TypeRule[] = [
  {
    predicate: 'preferred_name',
    verb: /^(?:goes by|(?:would (?:also )?like|likes|wants|prefers) to be (?:called|addressed as)) (?<value>.+)$/,
    value: readName,
    permanence: 'stable',
    importance: 8,
  },
  {
    predicate: 'name',
    verb: /^is (?:called |named |now called )(?<value>.+)$/,
    value: readName,
    permanence: 'permanent',
    importance: 8,
  },
  {
    predicate: 'lives_in',
    verb: /^(?:now )?(?:lives|is living|is based|resides|(?:has )?(?:just |recently )?(?:moved|relocated)(?: from [\p{L} ,]{2,40}?)? to|has lived) (?:now )?(?:in )?(?<value>.+)$/u,
    value: readPlace,
    permanence: 'stable',
    importance: 7,
  },
  {
    predicate: 'works_at',
    verb: /^(?:now )?(?:works|is working|(?:has )?started (?:working|a (?:new )?job)|is employed)(?: as [\p{L} -]{3,40}?)? (?:at|for|by|with) (?<value>.+)$/u,
    value: readOrganisation,
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'job',
    verb: /^(?:works|is working) as (?:an? |the )?(?<value>.+)$/,
    value: (text) => readOccupation(text) ?? readShortPhrase(text.replace(/ (?:at|for|in|with) .*$/, '')),
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'job',
    verb: /^(?:is|became|has become) (?:now )?an? (?<value>.+)$/,
    value: readOccupation,
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'diet',
    verb: /^is (?:now |an? |strictly )?(?<value>.+)$/,
    value: diets,
    permanence: 'stable',
    importance: 8,
  },
  {
    predicate: 'allergic_to_{value}',
    verb: /^(?:is|has been) (?:severely |badly |highly )?allergic to (?<value>.+)$/,
    value: readShortPhrase,
    permanence: 'permanent',
    importance: 9,
  },
  {
    predicate: 'has_{value}',
    verb: /^(?:has|suffers from|was diagnosed with) (?<value>.+)$/,
    value: condition,
    permanence: 'stable',
    importance: 8,
  },
  {
    predicate: 'takes_{value}',
    verb: /^(?:now )?(?:takes|is on|has to take|is to stay on|started on) (?<value>.+)$/,
    value: medicine,
    permanence: 'standard',
    importance: 8,
  },
  {
    predicate: 'speaks_{value}',
    verb: /^speaks (?:only )?(?<value>.+)$/,
    value: readLanguage,
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'likes_{value}',
    verb: new RegExp(`^(?:${liking}) (?!to be )(?<value>.+)$`),
    value: readShortPhrase,
    permanence: 'standard',
    importance: 5,
    opposite: 'dislikes_{value}',
  },
  {
    predicate: 'dislikes_{value}',
    verb: new RegExp(`^(?:${disliking}) (?<value>.+)$`),
    value: readShortPhrase,
    permanence: 'standard',
    importance: 5,
    opposite: 'likes_{value}',
  },
  {
    predicate: 'drives',
    verb: /^drives (?<value>an? .+)$/,
    value: readShortPhrase,
    permanence: 'standard',
    importance: 5,
  },
];

export interface Typed {
  readonly predicate: string;
  readonly value: string;
  readonly permanence: Permanence;
  readonly importance: number;
  readonly opposite: string | null;
  /** It is a relation or a thing of the user, even if it names somebody else. */
  readonly isOfUser?: boolean;
}

const relation = new RegExp(`^User's (?<noun>${relationNouns}) is (?:called |named )?(?<name>\\p{Lu}.*)$`, 'u');
const introduced = new RegExp(
  `^(?<name>\\p{Lu}[\\p{L}'-]+(?: \\p{Lu}[\\p{L}'-]+){0,2}) is (?:User|[Tt]he user)'s (?<noun>${relationNouns})$`,
  'u',
);
const attribute =
  /^User's (?<noun>(?:e-?mail|phone number|address|birthday|surname|full name|name|car|weight|height|age|budget|landlord|employer|bank|shoe size|rent)) is (?<value>.+)$/i;

/** Finds the predicate of a sentence about a subject: what is known under it is replaced by it. Null for a note. */
export function typeSentence(label: string, content: string): Typed | null {
  const named = relation.exec(content)?.groups ?? introduced.exec(content)?.groups;
  if (named !== undefined) return typeRelation(named['noun'] ?? '', named['name'] ?? '');
  const owned = attribute.exec(content)?.groups;
  if (owned !== undefined && label.startsWith('User')) {
    return {
      predicate: keyOf(owned['noun'] ?? ''),
      value: owned['value'] ?? '',
      permanence: 'stable',
      importance: 7,
      opposite: null,
      isOfUser: true,
    };
  }
  if (!content.startsWith(`${label} `)) return null;
  const phrase = content
    .slice(label.length + 1)
    .replace(/^(?:(?:is|has) )?no longer (?=\p{L})/u, (words) =>
      words.startsWith('is') ? 'is ' : words.startsWith('has') ? 'has ' : '',
    );
  for (const rule of rules) {
    const value = readValue(rule, phrase);
    if (value !== null)
      return {
        ...rule,
        predicate: fill(rule.predicate, value),
        value,
        opposite: rule.opposite === undefined ? null : fill(rule.opposite, value),
      };
  }
  return null;
}

function typeRelation(noun: string, written: string): Typed | null {
  const kind = relationOf(noun);
  const value = readName(written);
  if (kind === null || value === null) return null;
  const predicate = kind.isMany ? `${keyOf(kind.noun)}_${keyOf(value)}` : keyOf(kind.noun);
  return { predicate, value, permanence: kind.permanence, importance: 6, opposite: null, isOfUser: true };
}

function readValue({ verb, value }: TypeRule, phrase: string): string | null {
  const found = verb.exec(phrase)?.groups?.['value'];
  return found === undefined ? null : value(found);
}

function fill(predicate: string, value: string): string {
  return predicate.replace('{value}', () => keyOf(value));
}
