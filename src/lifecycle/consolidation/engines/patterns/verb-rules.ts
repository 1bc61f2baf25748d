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
  readShortPhrase,
  trimEnd,
  type ReadValue,
} from './values.ts';
import { conditions, otherDiets, singleDiets } from './words.ts';

/** A statement about a subject by a verb. */
export interface VerbRule {
  /** `{value}` stands for the value in the form of a key: for what can hold of a subject more than once at a time. */
  readonly predicate: string;
  /** Of the verb phrase, from its first word, in the third person. The group `value` holds the value, and what follows it. */
  readonly verb: RegExp;
  readonly value: ReadValue;
  /** The sentence without its subject. */
  readonly content: string;
  readonly permanence: Permanence;
  readonly importance?: number;
  /** A list says it of each of its parts. */
  readonly isList?: 'always' | 'where it looks like one';
  /** Predicate of what cannot hold beside it. */
  readonly opposite?: string;
  /** Of use only in what has ended: as a statement it says too little. */
  readonly isEndingOnly?: boolean;
  /** What else an ended statement may be known as. */
  readonly alsoKnownAs?: readonly string[];
}

const anything: ReadValue = (text) => trimEnd(text);
/** Nothing may follow but the time or the place of it. */
const closed: ReadValue = (text) =>
  /^(?:$| (?:in|since|for|until|today|this|again|at the moment|right now|now|with)\b)/.test(text) ? '' : null;

function oneOf(words: string, after = ''): ReadValue {
  const pattern = new RegExp(
    `^(?:${words})(?=$|[,;.]| (?:and|but|since|for|now|too|at|in|because|so${after})\\b)`,
    'i',
  );
  return (text) => pattern.exec(text)?.[0] ?? null;
}

const notEaten =
  /^(?:much|enough|a lot|breakfast|lunch|dinner|out|here|there|well|alone|late|early|before|after|when|until|anything)\b/i;
const readFood: ReadValue = (text) => (notEaten.test(text) ? null : readShortPhrase(text));
const readAllergen: ReadValue = (text) =>
  /^(?:anything|mornings?|mondays?|work|commitment|meetings|exercise)\b/i.test(text) ? null : readShortPhrase(text);
const readHealthyNoun: ReadValue = oneOf(conditions);
const readComplaint: ReadValue = (text) =>
  /^(?:a lack|the|his|her|their|boredom|fomo)\b/i.test(text) ? null : readShortPhrase(text);
const readCar: ReadValue = (text) => (/\b(?:hard bargain|lot|bit)\b/.test(text) ? null : readShortPhrase(text));

const readPlainFood = oneOf(
  'dairy|gluten|lactose|nuts|peanuts|sugar|alcohol|eggs|wheat|soy|milk|meat|pork|beef|fish|shellfish|seafood|caffeine|chocolate|cheese|onions?|garlic|tomatoes|citrus|spicy food|fried food|red meat|salt|bread',
);
const readAge: ReadValue = (text) => (Number(text) > 12 && Number(text) < 111 ? text : null);
const readTitle = oneOf(
  'CEO|CFO|CTO|COO|CIO|founder|co-founder|managing director|head of [\\p{L} ]{2,30}?|headmaster|principal|mayor|owner',
  '|of',
);

const identity: VerbRule[] = [
  {
    predicate: 'name',
    verb: /^is (?:called|named) (?<value>.+)$/,
    value: readName,
    content: 'is called {value}',
    permanence: 'permanent',
    importance: 8,
  },
  {
    predicate: 'preferred_name',
    verb: /^(?:goes by|likes to be called|prefers to be called|prefers the name|wants to be called) (?<value>.+)$/,
    value: readName,
    content: 'goes by {value}',
    permanence: 'stable',
    importance: 8,
  },
  {
    predicate: 'birthday',
    verb: /^was born on (?<value>.+)$/,
    value: readDate,
    content: 'was born on {value}',
    permanence: 'permanent',
    importance: 7,
  },
  {
    predicate: 'born_in',
    verb: /^was born (?:and raised )?in (?<value>.+)$/,
    value: readPlace,
    content: 'was born in {value}',
    permanence: 'permanent',
  },
  {
    predicate: 'comes_from',
    verb: /^(?:is|comes|hails) (?:originally )?from (?<value>.+)$/,
    value: readPlace,
    content: 'comes from {value}',
    permanence: 'permanent',
    importance: 6,
  },
  {
    predicate: 'comes_from',
    verb: /^grew up in (?<value>.+)$/,
    value: readPlace,
    content: 'grew up in {value}',
    permanence: 'permanent',
  },
  {
    predicate: 'nationality',
    verb: /^is (?:an? )?(?<value>.+)$/,
    value: readNationality,
    content: 'is {value}',
    permanence: 'permanent',
    importance: 6,
  },
  {
    predicate: 'age',
    verb: /^(?:is|just turned|turned) (?<value>\d{1,3})(?: years? old)(?: now)?$/,
    value: anything,
    content: 'is {value} years old',
    permanence: 'standard',
  },
  {
    predicate: 'speaks_{value}',
    verb: /^speaks (?<value>.+)$/,
    value: readLanguage,
    content: 'speaks {value}',
    permanence: 'stable',
    isList: 'always',
    importance: 6,
  },
  {
    predicate: 'native_language',
    verb: /^is a native (?<value>.+) speaker$/,
    value: readLanguage,
    content: 'is a native {value} speaker',
    permanence: 'permanent',
    importance: 6,
  },
  {
    predicate: 'learning_{value}',
    verb: /^is (?:learning|studying)(?: to speak)? (?<value>.+)$/,
    value: readLanguage,
    content: 'is learning {value}',
    permanence: 'standard',
    isList: 'always',
  },
  {
    predicate: 'lives_in',
    verb: /^(?:lives|is living|is based|is currently based|resides|is residing) in (?<value>.+)$/,
    value: readPlace,
    content: 'lives in {value}',
    permanence: 'stable',
    importance: 7,
  },
  {
    predicate: 'lives_in',
    verb: /^(?:(?:has|have|is) )?(?:just |recently )?(?:moved|relocated)(?: back)?(?: from [\p{L} ,]{2,40}?)? to (?<value>.+)$/u,
    value: readPlace,
    content: 'lives in {value}',
    permanence: 'stable',
    importance: 7,
  },
  {
    predicate: 'marital_status',
    verb: /^(?:is|got|has got)(?: happily| recently| newly)? (?<value>(?:married|engaged|divorced|widowed)(?: to \p{Lu}.*| in .*| last .*| since .*| now)?)$/u,
    value: (text) => /^\p{L}+/u.exec(text)?.[0] ?? null,
    content: 'is {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'marital_status',
    verb: /^is (?<value>single|separated|a widow|a widower)$/,
    value: anything,
    content: 'is {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'age',
    verb: /^is (?<value>\d{2,3})(?: now)?$/,
    value: readAge,
    content: 'is {value} years old',
    permanence: 'standard',
  },
];

const work: VerbRule[] = [
  {
    predicate: 'job',
    verb: /^is (?:the |an? )?(?<value>.+)$/,
    value: readTitle,
    content: 'is {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'job',
    verb: /^teaches (?<value>[\p{L} ]{3,30}?)(?: (?:at|in) .*)?$/u,
    value: readShortPhrase,
    content: 'teaches {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'job',
    verb: /^(?:works|is working) as (?:an? |the )?(?<value>.+)$/,
    value: (text) => readOccupation(text) ?? readShortPhrase(text.replace(/ (?:at|for|in|with) .*$/, '')),
    content: 'works as {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'job',
    verb: /^(?:is|became|has become) (?:an? )(?<value>.+)$/,
    value: readOccupation,
    content: 'is {article} {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'job',
    verb: /^is (?<value>retired|unemployed|self-employed)(?: now)?$/,
    value: anything,
    content: 'is {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'works_at',
    verb: /^(?:works|is working|(?:has )?started working|(?:has )?started a (?:new )?job|is employed|got a job) (?:at|for|by|with) (?<value>.+)$/,
    value: readOrganisation,
    content: 'works at {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'works_at',
    verb: /^(?:works|is working) as (?:an? |the )?[\p{L} -]{3,40}? (?:at|for) (?<value>.+)$/u,
    value: readOrganisation,
    content: 'works at {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'works_at',
    verb: /^is an? (?:[\p{L}-]+ ){1,4}(?:at|for) (?<value>.+)$/u,
    value: readOrganisation,
    content: 'works at {value}',
    permanence: 'stable',
    importance: 6,
  },
  {
    predicate: 'studies',
    verb: /^(?:studies|is studying) (?!at |in |for |hard|on )(?<value>[\p{L} -]+?)(?: (?:at|in) \p{Lu}.*)?$/u,
    value: (text) => (readLanguage(text) === null ? readShortPhrase(text) : null),
    content: 'studies {value}',
    permanence: 'standard',
  },
  {
    predicate: 'studies_at',
    verb: /^(?:studies|is studying|goes to school)(?: [\p{L} -]{2,30}?)? at (?<value>.+)$/u,
    value: readOrganisation,
    content: 'studies at {value}',
    permanence: 'standard',
  },
  {
    predicate: 'banks_with',
    verb: /^banks (?:with|at) (?<value>.+)$/,
    value: readOrganisation,
    content: 'banks with {value}',
    permanence: 'stable',
  },
];

const health: VerbRule[] = [
  {
    predicate: 'does_not_eat_{value}',
    verb: /^(?:cannot|must not|is not allowed to) (?:have|eat) (?:any )?(?<value>.+)$/,
    value: readPlainFood,
    content: 'cannot have {value}',
    permanence: 'permanent',
    importance: 8,
    isList: 'always',
  },
  {
    predicate: 'avoids_{value}',
    verb: /^avoids (?:eating |drinking )?(?<value>.+)$/,
    value: readPlainFood,
    content: 'avoids {value}',
    permanence: 'standard',
    isList: 'always',
  },
  {
    predicate: 'allergic_to_{value}',
    verb: /^is (?:also |very |severely |highly |deathly |extremely |mildly )*allergic to (?:both )?(?<value>.+)$/,
    value: readAllergen,
    content: 'is allergic to {value}',
    permanence: 'permanent',
    importance: 9,
    isList: 'always',
  },
  {
    predicate: 'allergic_to_{value}',
    verb: /^has an? (?:very |severe |bad |serious |mild |known |strong )*allergy to (?<value>.+)$/,
    value: readAllergen,
    content: 'is allergic to {value}',
    permanence: 'permanent',
    importance: 9,
    isList: 'always',
  },
  {
    predicate: 'allergic_to_{value}',
    verb: /^has an? (?:severe |bad |serious |mild |known |strong )*(?!allergy)(?<value>[\p{L}-]+(?: [\p{L}-]+)?) allergy$/u,
    value: readAllergen,
    content: 'is allergic to {value}',
    permanence: 'permanent',
    importance: 9,
  },
  {
    predicate: 'intolerant_to_{value}',
    verb: /^is (?:very |highly |severely )?(?<value>lactose|gluten|fructose|histamine|dairy|caffeine)[- ]intolerant$/,
    value: anything,
    content: 'is {value} intolerant',
    permanence: 'permanent',
    importance: 8,
  },
  {
    predicate: 'intolerant_to_{value}',
    verb: /^(?:is intolerant (?:to|of)|has an intolerance to|does not tolerate|cannot tolerate) (?<value>.+)$/,
    value: (text) =>
      oneOf('lactose|gluten|fructose|histamine|dairy|caffeine|alcohol|eggs|wheat|soy|milk|sulphites|sulfites')(text),
    content: 'is intolerant to {value}',
    permanence: 'permanent',
    importance: 8,
    isList: 'always',
  },
  {
    predicate: 'diet',
    verb: new RegExp(
      `^(?:is|became|has become|turned|went)(?: an?)?(?: strict| lifelong| committed| proud)? (?<value>(?:${singleDiets})\\b.*)$`,
    ),
    value: oneOf(singleDiets),
    content: 'is {value}',
    permanence: 'permanent',
    importance: 8,
  },
  {
    predicate: 'diet_{value}',
    verb: new RegExp(
      `^(?:only eats|eats only|eats strictly|strictly eats|keeps|follows an?|is on an?|needs to eat|has to eat|eats) (?<value>(?:${otherDiets})\\b.*)$`,
    ),
    value: oneOf(otherDiets, '|food|meat|diet|meals|products'),
    content: 'eats {value} food',
    permanence: 'permanent',
    importance: 8,
  },
  {
    predicate: 'does_not_eat_{value}',
    verb: /^(?:does not|cannot|never) eats? (?:any )?(?<value>.+)$/,
    value: readFood,
    content: 'does not eat {value}',
    permanence: 'permanent',
    importance: 7,
    isList: 'always',
  },
  {
    predicate: 'does_not_drink_{value}',
    verb: /^(?:does not|cannot|never) drinks? (?:any )?(?<value>.+)$/,
    value: readFood,
    content: 'does not drink {value}',
    permanence: 'permanent',
    importance: 7,
    isList: 'always',
  },
  {
    predicate: 'smokes',
    verb: /^does not smoke(?<value>)$/,
    value: anything,
    content: 'does not smoke',
    permanence: 'stable',
  },
  { predicate: 'smokes', verb: /^smokes(?<value>)$/, value: anything, content: 'smokes', permanence: 'stable' },
  {
    predicate: 'condition_{value}',
    verb: /^has (?:got )?(?:also |chronic |mild |severe )*(?<value>.+)$/,
    value: readHealthyNoun,
    content: 'has {value}',
    permanence: 'stable',
    importance: 8,
  },
  {
    predicate: 'condition_{value}',
    verb: /^(?:suffers from|was diagnosed with|has been diagnosed with) (?<value>.+)$/,
    value: readComplaint,
    content: 'has {value}',
    permanence: 'stable',
    importance: 8,
    isList: 'always',
  },
  {
    predicate: 'condition_{value}',
    verb: /^is (?<value>diabetic|asthmatic|coeliac|celiac|epileptic|dyslexic|autistic|colou?r-?blind|deaf|blind|hard of hearing|anaemic|anemic)$/,
    value: anything,
    content: 'is {value}',
    permanence: 'stable',
    importance: 8,
  },
  {
    predicate: 'pregnancy',
    verb: /^is (?:\d{1,2} weeks )?pregnant(?<value>.*)$/,
    value: closed,
    content: 'is pregnant',
    permanence: 'volatile',
    importance: 8,
  },
  {
    predicate: 'takes_{value}',
    verb: /^takes (?:\d+ ?(?:mg|mcg|ml|g|units?|pills?|tablets?) (?:of )?)?(?<value>[\p{L}-]+(?:in|ol|one|ide|ate|il|am|ine|ole|ax|en|ium|vir|pine|xin)|vitamin \p{L}\d{0,2}|(?:blood pressure|heart|thyroid|sleeping) (?:pills|medication|tablets))(?: \d+ ?(?:mg|mcg|ml|g))?(?: for [\p{L} ]{2,30}?)? (?:(?:once|twice|three times) (?:a|per) (?:day|week)|daily|every (?:day|morning|evening|night|week)|at night|in the morning|before bed)(?: .{0,40})?$/u,
    value: (text) =>
      /^(?:train|wine|medicine|ride|plane|children|pen|time|phone|line|one|someone)$/i.test(text) ? null : text,
    content: 'takes {value}',
    permanence: 'standard',
    importance: 8,
  },
  {
    predicate: 'eats_{value}',
    verb: /^eats (?<value>.+)$/,
    value: readFood,
    content: 'eats {value}',
    permanence: 'standard',
    isEndingOnly: true,
    alsoKnownAs: ['likes_{value}', 'likes_eating_{value}'],
  },
  {
    predicate: 'drinks_{value}',
    verb: /^drinks (?<value>.+)$/,
    value: readFood,
    content: 'drinks {value}',
    permanence: 'standard',
    isEndingOnly: true,
    alsoKnownAs: ['likes_{value}', 'likes_drinking_{value}'],
  },
];

const likes = String.raw`(?:(?:really |absolutely |also |quite |still |particularly |especially )*(?:likes|loves|enjoys|adores)|is (?:very |really |quite )?fond of|is an? (?:big |huge |great )?fan of|is (?:really )?into)`;
const dislikes = String.raw`(?:(?:really |absolutely |also |strongly )*(?:dislikes|hates|detests|loathes|despises)|cannot stand|(?:really )?does not (?:really )?(?:like|enjoy|care for)|is not (?:really )?an? (?:big )?fan of)`;

const tastes: VerbRule[] = [
  {
    predicate: 'contact_by',
    verb: /^prefers (?:to be |being )(?:contacted|reached|notified|informed|messaged) (?:by|via|on|through|over) (?<value>.+)$/,
    value: readShortPhrase,
    content: 'prefers to be contacted by {value}',
    permanence: 'standard',
    importance: 6,
  },
  {
    predicate: 'prefers_between_{pair}',
    verb: /^(?:really |much |strongly |still )?prefers (?!to |that |not |if )(?<value>[^,;:]{2,60}? (?:over|to|rather than|instead of) \p{Ll}[^,;:]{1,60})$/u,
    value: readPhrase,
    content: 'prefers {value}',
    permanence: 'standard',
  },
  {
    predicate: 'prefers_{value}',
    verb: /^(?:really |much |strongly |still |generally )?prefers (?!to be |that |not |if |[^,;:]{2,60} (?:over|rather than|instead of) )(?<value>.+)$/,
    value: readPhrase,
    content: 'prefers {value}',
    permanence: 'standard',
  },
  {
    predicate: 'likes_{value}',
    verb: new RegExp(`^${likes} (?!to be )(?<value>.+)$`),
    value: readLiked,
    content: 'likes {value}',
    permanence: 'standard',
    isList: 'where it looks like one',
    opposite: 'dislikes_{value}',
  },
  {
    predicate: 'dislikes_{value}',
    verb: new RegExp(`^${dislikes} (?<value>.+)$`),
    value: readLiked,
    content: 'dislikes {value}',
    permanence: 'standard',
    isList: 'where it looks like one',
    opposite: 'likes_{value}',
  },
];

/** "the Beatles" and "the sea" are things to like; "the hotel" is one that we do not know. */
function readLiked(text: string): string | null {
  const isUnknown =
    /^the (?!sea\b|ocean\b|beach\b|mountains?\b|countryside\b|outdoors\b|theatre\b|theater\b|opera\b|cinema\b|rain\b|snow\b|cold\b|heat\b|smell of\b|taste of\b|sound of\b|\p{Lu})/u;
  return isUnknown.test(text) ? null : readPhrase(text);
}

const belongings: VerbRule[] = [
  {
    predicate: 'drives',
    verb: /^drives (?<value>an? .+)$/,
    value: readCar,
    content: 'drives {value}',
    permanence: 'standard',
  },
  {
    predicate: 'owns_{value}',
    verb: /^owns (?!up|it|this|that|the )(?<value>.+)$/,
    value: readPhrase,
    content: 'owns {value}',
    permanence: 'standard',
  },
  {
    predicate: 'children',
    verb: /^has (?:got )?(?<value>(?:one|two|three|four|five|six|seven|eight|no|\d{1,2}) (?:(?:small|young|grown|little|adult|teenage|school-age) )?(?:kids|children|kid|child))(?: .*)?$/,
    value: anything,
    content: 'has {value}',
    permanence: 'stable',
    importance: 6,
  },
];

const states: VerbRule[] = [
  {
    predicate: 'current_state',
    verb: /^(?:is|feels|has been)(?: feeling| currently| still| quite| really)* (?<value>(?:sick|ill|unwell|under the weather|travelling|traveling|abroad|away|out of town|out of (?:the )?office|jet-?lagged|in (?:the )?hospital|recovering from [\p{L} ]{3,30}|on (?:a )?(?:holiday|vacation|business trip|sick leave|parental leave|maternity leave|paternity leave|sabbatical|leave))(?:(?: (?:today|this|until|till|since|for|with|in|right now|at the moment|from|again)\b.{0,50})?))$/u,
    value: (text) => trimEnd(text),
    content: 'is {value}',
    permanence: 'ephemeral',
  },
  {
    predicate: 'current_state',
    verb: /^has (?:got |caught )?(?<value>(?:the flu|a (?:bad |nasty |slight )?(?:cold|fever|cough|stomach bug)|covid(?:-19)?|food poisoning|a sprained \p{L}+|a broken \p{L}+)(?: .{0,40})?)$/iu,
    value: (text) => trimEnd(text),
    content: 'has {value}',
    permanence: 'ephemeral',
  },
];

export const verbRules: readonly VerbRule[] = [...identity, ...work, ...health, ...tastes, ...belongings, ...states];
