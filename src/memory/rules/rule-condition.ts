/**
 * Returns whether a rule applies only in some situations: "When the bell rings, …", "On Mondays, …". A rule without a
 * condition applies always and belongs to every context. Reads English, and only the first sentence: what follows it
 * explains or refines it.
 */
export function hasCondition(content: string): boolean {
  const sentence = readFirstSentence(content);
  return clause.test(sentence) || time.test(sentence) || opening.test(sentence);
}

/** Without quoted words, which are not the rule's own, and without phrases that only look like a condition. */
function readFirstSentence(content: string): string {
  const text = content.slice(0, longestSentence).replace(/^ANTI-PATTERN: Do NOT /, '');
  const [first = ''] = text.replace(quoted, ' ').split(/(?<=[.!?])\s|\n/, 1);
  return first.replace(unconditional, ' ').replace(/\s+/g, ' ').trim();
}

const longestSentence = 500;
const quoted = /"[^"]*"|“[^”]*”|«[^»]*»|(?<!\p{L})['‘][^'’]*['’](?!\p{L})/gu;

const unconditional =
  /\b(?:even (?:if|when)|whether or not|no matter (?:if|when)|(?:if|when|where)(?: at all)? (?:in doubt|possible|needed|necessary)|unless [^,;]*\botherwise|from now on|from today on|in (?:general|principle|any case|every case|all cases|the future|future)|at (?:all times|any time)|by default|without exception|as a rule)\b/gi;

const clause =
  /\b(?:if|unless|when|whenever|while|during|in case|in the event|as soon as|as long as|provided that|every time|each time)\b/i;

const day = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|workdays?|holidays?|birthdays?';
const season = 'spring|summer|autumn|winter';
const hours = 'morning|afternoon|evening|night';
const time = new RegExp(
  `\\b(?:(?:on|every|each|over|at)(?: the)? (?:${day})|at (?:night|noon|midnight)|(?:in|during) the (?:${hours})|in (?:${season}))\\b`,
  'i',
);

/** A phrase or clause before the rule itself: "After dinner, …", "Once the guests have left, …", "For invoices: …". */
const opening =
  /^(?:(?:always|please|also|and),? )?(?:before|after|until|once|on|in|at|for|with|without|within|from|under|upon|should)\b[^,:]{1,80}[,:]/i;
