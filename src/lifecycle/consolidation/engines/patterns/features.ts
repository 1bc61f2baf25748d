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
};

export function featuresOf(sentence: string): number[] {
  return Object.values(features).map((pattern) => (pattern.test(sentence) ? 1 : 0));
}
