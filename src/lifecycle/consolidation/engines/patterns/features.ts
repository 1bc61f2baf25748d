import { doubts } from './refusals.ts';
import { isSeldomWrong, userSubject, type Statement } from './statement.ts';

/** A statement and its place among those of its episode. */
export interface Setting {
  readonly statement: Statement;
  readonly place: number;
  readonly count: number;
}

/** What the surface of a sentence tells about its worth, beside its vector. */
const features: Readonly<Record<string, RegExp>> = {
  aboutUser: /^User\b(?!')/,
  aboutUsersThing: /^User's\b/,
  aboutThe: /^The (?!user\b)/,
  aboutName: /^(?!User\b|The\b|An?\b|In\b|On\b|If\b|As\b|Next\b)\p{Lu}\p{L}+ /u,
  namesUser: /\b(?:the )?user\b/i,
  otherName: /(?<!^)(?<![.:] )\b\p{Lu}\p{Ll}+/u,
  number: /\d/,
  clock: /\d:\d\d|\bo'clock\b|\bnoon\b/,
  date: /\b\d{4}-\d\d-\d\d\b/,
  year: /\b(?:19|20)\d\d\b(?!-)/,
  weekday: /\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b/,
  recurring:
    /\b(?:every|each|twice|daily|weekly|always|usually|on (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days|a (?:day|week|month|year)|most)\b/i,
  past: /^(?:User|\p{Lu}\p{L}+|The \p{L}+) (?:\p{L}+ed|got|went|had|was|were|took|made|found|knew|lost|left|won|had)\b/u,
  presentS: /^(?:User|\p{Lu}\p{L}+)(?: also| now| still| only| always| never)? (?!is\b|was\b|has\b)\p{Ll}+s\b/u,
  isA: /\bis (?:an?|the)\b/,
  is: /\bis\b/,
  was: /\b(?:was|were)\b/,
  has: /\bhas\b/,
  progressive: /\bis \p{L}+ing\b/u,
  perfect: /\bhas (?:\p{L}+ed|been|taken|given|got|come)\b/u,
  future: /\b(?:will|is going to|from 20\d\d|starts?|until|by)\b/,
  negation: /\b(?:not|no|never|cannot|without|nothing)\b/i,
  change: /\b(?:no longer|any ?more|stopped|gave up|quit|sold|moved|cancelled|switched|changed|instead|since|now)\b/i,
  moment: /\b(?:just|right now|at the moment|currently|again|today|tonight|in the (?:morning|afternoon|evening))\b/i,
  pronoun: /\b(?:it|this|that|there|them|these|those)\b/i,
  possessive: /\b(?:his|her|their|the user's)\b/i,
  kin: /\b(?:wife|husband|partner|mother|father|mum|dad|sister|brother|son|daughter|child\w*|kids?|baby|grand\w+|aunt|uncle|cousin|nephew|niece|friend|colleague|boss|neighbour|flatmate|dog|cat|twins?)\b/i,
  health:
    /\b(?:mg|allergic|allergy|doctor|dose|tablets?|surgery|diabet\w+|pain|pressure|pulse|hospital|clinic|medic\w+|physio\w*)\b/i,
  taste: /\b(?:likes?|loves?|hates?|dislikes?|prefers?|enjoys?|favourite|cannot stand|avoids?)\b/i,
  wants: /\b(?:wants?|would like|insists|expects|asked|requested)\b/i,
  duty: /\b(?:should|must|are to|is to|need to|may be)\b/i,
  imperative: /^(?:Always|Never|Do not|Stop|Keep|Use|Send|Ask|Only|Write|Call|Leave|Put|Whenever|When|If)\b/,
  session:
    /\b(?:draft|file|answer|summary|version|document|session|chat|transcript|reply|suggestion|window|article|page|list|table|screen|link|tool|query|server|test|build|run|download\w*|upload\w*)\b/i,
  mood: /\b(?:tired|hungry|bored|happy|mood|hurry|annoyed|amused|curious|funny|lovely|terrible|nice|queue|weather|sunny|cold|rain)\b/i,
  lookup:
    /^(?:The|A|An) (?:\p{L}+ ){1,3}(?:is|are|was|costs?|takes?|has|closes?|opens?|lasts?|weighs?|lists?|gives?|leaves?)\b/u,
  short: /^(?:\S+ ){0,3}\S+$/,
  long: /^(?:\S+ ){15,}/,
  money: /\b(?:euros?|pounds?|francs?|crowns?|dollars?|rent|fee|pays?|costs?|salary|earns?|owes?)\b/i,
  startsPast: /^(?!User|The|\p{Lu}\p{L}+ (?:is|was|has))\p{Lu}\p{L}+ed\b/u,
  userPast:
    /^User \p{L}+ed\b|^User (?:got|went|had|was|were|took|made|found|knew|lost|left|won|sent|read|told|thought|laughed|said)\b/u,
  label: /^[\p{L} ]{2,30}:/u,
  colon: /:/,
  startsPronoun: /^(?:It|This|That|They|She|He|There|These|Those|We|You|One|Both)\b/,
  you: /\byou(?:r|rs)?\b/i,
  butler: /\bthe butler\b/i,
  startsButler: /^The butler\b/,
  quotation: /["“]|(?<= )'/,
  opinion:
    /\b(?:says?|said|thinks?|thought|claims?|claimed|believes?|reckons?|joked|called it|swears|hopes|insists that|mused)\b/i,
  asked: /^(?:User |She |He |\p{Lu}\p{L}+ )?(?:asked|wanted to|wondered|requested)\b/u,
  would: /\b(?:would|could|might|may)\b/i,
  no: /\bno\b/i,
  comma: /,/,
  commas: /,.*,.*,/,
  since: /\b(?:until|till|from|since|as of|starting|by)\b/i,
  ordinal: /\b\d+(?:st|nd|rd|th)\b/,
  hour: /\b\d{1,2}(?::\d\d| ?[ap]m)|\bo'clock\b|\b(?:at|past|to) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|half|quarter)\b/i,
  unit: /\b\d[\d.,]*\s?(?:mg|g|kg|ml|µg|micrograms?|units?|euros?|dollars?|pounds?|francs?|kroner|kr|%|km|cm|m|years?)\b/i,
  month:
    /\b(?:January|February|March|April|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)\b/,
  numeral: /\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/i,
  twoNames: /(?:[^.:] )\p{Lu}\p{L}+.* \p{Lu}\p{L}+/u,
  title: /\b(?:Dr|Mr|Mrs|Ms|Prof|Miss|Madame|Don|Doña)\b/,
  stored:
    /\b(?:kept|stored|stands?|lies|hangs?|sits?|locked|in the (?:drawer|cupboard|cellar|attic|box|safe|garage|folder))\b/i,
  limit:
    /\b(?:must|may|allowed|only|never|always|no longer|any ?more|not any|instead of|rather than|unless|whenever)\b/i,
  thisDay:
    /\b(?:today|tonight|this (?:morning|afternoon|evening|week)|yesterday|last night)\b|\bon \d{4}-\d\d-\d\d(?: in the \p{L}+)?$/iu,
  wasDone:
    /\b(?:was|were) (?:looked|read|done|sent|found|given|shown|played|sorted|redone|compared|booked|added|ordered)\b/i,
  butlersAct:
    /^(?:Read|Looked|Found|Drafted|Checked|Compared|Set|Added|Played|Sent|Searched|Converted|Translated|Summari[sz]ed|Ordered|Talked|Chatted|Spent|Printed|Wrote|Told|Gave|Explained|Helped|Worked|Had|Counted|Named|Listed)\b/,
  feeling:
    /\b(?:felt|feels?|mood|proud|glad|sad|cross|annoyed|pleased|relieved|delighted|laugh\w*|cried|hum\w*|sigh\w*|grumbl\w*|complain\w*|vent\w*|swore|moan\w*)\b/i,
  startsIf: /^If\b/,
  if: /\bif\b/i,
  startsGerund: /^\p{Lu}\p{L}+ing\b/u,
  startsNoun: /^\p{Lu}\p{Ll}+ \p{Ll}+(?<!ed|s)\b/u,
  veryLong: /^(?:\S+ ){22,}/,
  veryShort: /^(?:\S+ ){0,2}\S+$/,
};

export function featuresOf({ statement, place, count }: Setting): number[] {
  const surface = Object.values(features).map((pattern) => pattern.test(statement.content));
  const isFact = statement.says === 'fact';
  const form = [
    statement.isSpeech,
    place === 0,
    place > 0 && place === count - 1,
    count === 1,
    isFact && statement.predicate !== null,
    !isFact,
    !isFact || statement.mayBeRule,
    isFact && statement.subject !== userSubject,
    isSeldomWrong(statement),
    ...doubts.map((doubt) => isFact && statement.doubts.includes(doubt)),
  ];
  return [...[...surface, ...form].map(Number), Math.min(count, 8) / 8, place / count];
}
