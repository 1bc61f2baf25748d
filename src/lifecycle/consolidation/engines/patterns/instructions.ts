import { capitalise, trimEnd } from './values.ts';
import { gerundOf, instructionAboutUser } from './grammar.ts';
import { instructionVerbs } from './words.ts';

/** A standing instruction: how it is said, and how it is kept. */
interface InstructionForm {
  readonly said: RegExp;
  readonly kept: (groups: Readonly<Record<string, string>>) => string;
}

const verb = `(?:${instructionVerbs})\\b`;
const gerunds = new Map(instructionVerbs.split('|').map((base) => [gerundOf(base), base]));
const polite = '(?:please |kindly |and |also |so |just )*';
/** What a butler makes or sends: an order about these in the plural is meant for good. */
const outputs =
  'answers?|replies|explanations?|summar(?:y|ies)|reports?|letters?|e?-?mails?|messages?|drafts?|captions?|dates?|numbers?|recipes?|reminders?|notifications?|lists?|texts?|invoices?|complaints?|stories|meetings?|appointments?|bookings?|calls?|seats?|flights?|hotels?|layouts?|headings?|bullet points?|units?|prices?|amounts?|sums?|hours|invitations?|documents?|translations?|notes|slides|photos|files?|names?|digests?|news|politics|suggestions?|tables?|spelling|measurements?|deliveries|tickets?|instructions?|quotes|sources|examples|emojis?|puns|jokes|posts?|minutes|phone numbers?|birthday cards?|connections?|rooms?|trains?|oat milk|milk|groceries|ingredients|portions|playlists?|music|alarms?|charts|temperatures|titles?|claims?';
const standing =
  /\b(?:from now on|from today on|going forward|in (?:the )?future|as of now|always|never|every time|each time|next time|whenever|any ?more|any longer|ever|only|without|no longer|at all times|as a rule|by default|for good|in every|for every|in all|all of them|no more than|at most|at least|instead|altogether|before any|without exception|not .* but)\b/i;

/** In the user's own words. */
const direct: readonly InstructionForm[] = [
  { said: form(`${polite}always ${polite}(?<deed>${verb}.+)`), kept: ({ deed }) => `Always ${deed}` },
  { said: form(`${polite}never(?: ever)? (?<deed>${verb}.+)`), kept: ({ deed }) => `Never ${deed}` },
  { said: form(`${polite}do not ever (?<deed>${verb}.+)`), kept: ({ deed }) => `Never ${deed}` },
  { said: form(`${polite}do not (?<deed>${verb}.+)`), kept: ({ deed }) => `Do not ${deed}` },
  { said: form(`${polite}(?<deed>only ${verb}.+)`), kept: ({ deed }) => capitalise(deed ?? '') },
  { said: form(`${polite}remember to (?<deed>${verb}.+)`), kept: ({ deed }) => capitalise(deed ?? '') },
  {
    said: form(`i (?<deed>(?:do not|never) want to be \\p{L}+(?:ed|en|t|ld)\\b.+)`),
    kept: ({ deed }) => `The user ${deed?.replace(/^do /, 'does ').replace('never want', 'never wants')}`,
  },
  {
    said: form(`${polite}stop (?<gerund>${[...gerunds.keys()].join('|')}) (?<rest>.+)`),
    kept: ({ gerund, rest }) => `Do not ${gerunds.get((gerund ?? '').toLowerCase())} ${rest}`,
  },
  { said: form(`${polite}(?<deed>stop \\p{L}{3,}ing \\p{L}+ .+)`), kept: ({ deed }) => capitalise(deed ?? '') },
  {
    said: form(
      `(?:ok |okay )?(?:so )?(?:from now on|from today on|going forward|in (?:the )?future|as of (?:now|today)|next time|as a rule|in every \\p{L}+),? ${polite}(?:you should )?(?<deed>(?:always |never |do not |only |be |no )?(?:${verb}|more\\b).+)`,
    ),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
  {
    said: form(`${polite}(?<deed>${verb}.+?),? (?:from now on|in (?:the )?future|as a rule|every time|each time)`),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
  {
    said: form(
      `${polite}(?<occasion>(?:whenever|every time|each time|any time|anytime|when|if) (?:i|it|there|someone|anyone|anybody|the|my|a|we|you|she|he|they|\\p{Lu}\\p{L}+)\\b[^,]{2,100}), ?${polite}(?<deed>(?:always |never |do not |only )?(?:${verb}.+|be (?:kind|brief|gentle|polite|patient|quiet|careful|concise|formal)\\b.*|i am not in.*))`,
    ),
    kept: ({ occasion, deed }) => `${capitalise(occasion ?? '')}, ${deed}`,
  },
  {
    said: form(
      `${polite}(?<deed>(?:keep|leave out|limit|cut|write|use|format|sign|mirror|group|spell|round|address|list) (?:(?:all|any|my|the|our) )*(?:\\p{L}+ )?(?:${outputs}|with|as|in)\\b.+)`,
    ),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
  { said: form(`${polite}(?<deed>ask me (?:first|before).+)`), kept: ({ deed }) => capitalise(deed ?? '') },
  { said: form(`(?<units>[\\p{L} -]{3,30}) only,? please`), kept: ({ units }) => `Use ${units} only` },
  { said: form(`(?:please,? )?no more (?<deed>(?:${outputs}).*)`), kept: ({ deed }) => `No more ${deed}` },
];

const asks =
  "(?:(?:the )?user|she|he|they|\\p{Lu}[\\p{L}'-]+) (?:(?:also|has|had|explicitly|just|then|again) )*(?:asked|asks|told|tells|instructed|wants|wanted|would like|requested|reminded|said|prefers|insisted|insists)(?: me| us| the butler| the assistant| that i| that we)?";
const wants = "(?<who>(?:the )?user|she|he|they|asked|\\p{Lu}[\\p{L}'-]+)?";

/** As its writer tells of it. */
const reported: readonly InstructionForm[] = [
  { said: form(`${asks} (?:to )?always (?:to )?(?<deed>${verb}.+)`), kept: ({ deed }) => `Always ${deed}` },
  { said: form(`${asks} (?:to )?never (?:to )?(?:again )?(?<deed>${verb}.+)`), kept: ({ deed }) => `Never ${deed}` },
  { said: form(`${asks} not to ever (?<deed>${verb}.+)`), kept: ({ deed }) => `Never ${deed}` },
  {
    said: form(`${asks} not to (?<deed>${verb}.+?)(?: (?:again|any ?more|ever again|in (?:the )?future))?`),
    kept: ({ deed }) => `Do not ${deed}`,
  },
  {
    said: form(`${asks} (?:always to|to always) (?<deed>be \\p{L}+ .+)`),
    kept: ({ deed }) => `The user wants always to ${deed}`,
  },
  { said: form(`${asks} to (?<deed>stop \\p{L}+ing\\b.+)`), kept: ({ deed }) => capitalise(deed ?? '') },
  {
    said: form(`the butler (?:is to|should|must|has to) (?<deed>(?:always |never |not )?${verb}.+)`),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
  {
    said: form(
      `${asks} to (?<deed>${verb}.+?),? (?:from now on|in (?:the )?future|going forward|every time|each time|as a rule)`,
    ),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
  {
    said: form(
      `${asks} to (?<deed>(?:keep|use|write|leave|sort|list|send|show|put|round|group|limit|spell|format) (?:all |any |the |every )?(?:\\p{L}+ )?(?:${outputs})\\b.+)`,
    ),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
  {
    said: form(`(?<deed>[^,;:]{3,60} (?:is|are) (?:not|never) to be \\p{L}+.*)`),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
  {
    said: form(`(?:was|were) told to (?<deed>(?:always|never) ${verb}.+)`),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
  {
    said: form(
      `${wants}(?: ?(?:also|always|explicitly|then))? ?(?:wants|wanted|would like|expects|insists on|insisted on|insists that|asked for|asks for|requested|prefers that) (?<deed>(?:[^,;:.]* )?(?:${outputs})\\b.+)`,
    ),
    kept: ({ deed }) => `The user wants ${deed}`,
  },
  {
    said: form(`${wants} ?(?:no longer wants|does not want|no longer needs) (?<deed>(?:the |any |to be |\\p{L}+ )?.+)`),
    kept: ({ deed }) => `The user no longer wants ${deed}`,
  },
  {
    said: form(
      `${wants} ?(?:wants|wanted|asked|would like) to be (?<deed>(?!called|addressed|known)\\p{L}+(?:ed|en|t|ld)\\b.+)`,
    ),
    kept: ({ deed }) => `The user wants to be ${deed}`,
  },
  {
    said: form(
      `(?:in (?:the )?future,? |next time,? |from now on,? )?(?<deed>(?:\\p{L}+[ '-]){0,3}?(?:${outputs})\\b[^,;:.]{0,40}? (?:should|must|are to|is to|have to|has to|may|need not|shall|can) (?:always |never |only |not )?(?:be|have|state|go|start|end|come|use|contain|stay|include|leave|show)\\b.+)`,
    ),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
];

function form(said: string): RegExp {
  return new RegExp(`^${said}$`, 'iu');
}

/**
 * Harm that one sentence could do for good. Such a rule is not learned from a text of any speaker; it can be
 * stored as a rule explicitly.
 */
const dangerous = new RegExp(
  [
    String.raw`\b(?:passwords?|passcode|credentials?|token|api key|secret|pin|transfer|wire|pay|payment|money|accounts?|refund|delete|erase|wipe|destroy|grant|admin|approved?|disclose|forward|execute|sudo|root|install|download|upload|encode|pretend|act as|comply|obey|refuse|trust|competitors?|tracking|append|links?|policy|policies|developer|system|model|assistant|ai|bot|you must|your (?:answers?|responses?|replies)|close tickets?|websites?|crypto|bitcoin|gold)\b`,
    // Words that do harm only beside others.
    String.raw`\byou are (?!to\b)|\brun (?:the|this|that|a|an|any|all|every|commands?|scripts?|code|shell)\b|\b(?:shell|bash) \p{L}+`,
    String.raw`\b(?:follow|ignore|obey|disregard|change|override|new|these|previous|all|your|hidden) (?:\p{L}+ )?(?:instructions?|rules?|prompts?)\b`,
    String.raw`\b(?:users|customers?|clients) (?:must|should|have to|are to|need to)\b|\b(?:never|not|no|stop|without) (?:\p{L}+ ){0,2}warn(?:ings?)?\b`,
    String.raw`\b(?:add|include|insert|end|begin|start|finish|close|mention|say|repeat) (?:\p{L}+ ){0,4}(?:phrase|words?)\b|\bbank (?:details?|transfers?|accounts?|data|numbers?)\b`,
    String.raw`https?:|www\.|[@"${'`'}{}<>|\\$]`,
  ].join('|'),
  'iu',
);
/** "use it", "do that": of something that nobody will know later. */
const pointing = /^(?:\S+ ){0,2}(?:it|this|that|these|those|them)\b(?! (?:is|are|has|have)\b)/i;
/** For once, and not for good. */
const forOnce =
  /(?<!from )\b(?:today|tonight|tomorrow|yet|right now|this (?:time|one|week|evening|morning|afternoon|weekend|month)|for (?:now|once)|until (?!further notice|(?:i|we|she|he|they|it|the user|told)\b)|the (?:table|flight|meeting|appointment) (?:at|on|for)|next (?:week|month))\b/i;
const idioms =
  /^(?:never (?:say never|let me down|stop|tell me)|always (?:look on|keep in mind|show up|there|wait and)|do not (?:make me|tell me|let me|get me|start|wait up|let it|mention it|mark my|put words|play dumb|open))/i;

/** Returns the standing instruction in a sentence or clause, or null where it is none. */
export function readInstruction(sentence: string, { isReported }: { isReported: boolean }): string | null {
  const text = trimEnd(sentence);
  for (const { said, kept } of isReported ? reported : direct) {
    const groups = said.exec(text)?.groups;
    if (groups === undefined) continue;
    if (isReported && kept(groups).startsWith('The user') && !isStanding(text)) continue;
    // "asked for a recipe without them": one, and not all to come.
    if (isReported && /^The user wants (?:an?|one|another|this|that) /.test(kept(groups))) continue;
    const whole = text.replace(/,? as a rule\b/i, '');
    const deed = groups['deed'] ?? text;
    const isUnclear = groups['occasion'] === undefined && pointing.test(deed);
    if (isUnclear || !isSafe(isReported ? deed : whole, deed)) return null;
    const content = kept(groups);
    return isReported ? content : instructionAboutUser(content);
  }
  return null;
}

/** Whether a sentence is an order. */
export function isOrder(sentence: string): boolean {
  return order.test(sentence) || readInstruction(sentence, { isReported: false }) !== null;
}

/** "Heat pump serviced" begins with a noun: an order goes on with what it is about. */
const object =
  '(?:the|an?|my|our|your|all|any|every|each|it|them|me|us|him|her|this|that|these|those|no|only|not|more|less|in|as|at|with|before|after|when|if|to|out|up|off|on|down|away|back|for)';
const order = new RegExp(
  `^${polite}(?:(?:from now on|from today on|going forward|in (?:the )?future|as of now|next time),? )?${polite}(?:(?:always|never|do not|stop|make sure|be sure)\\b|only ${verb}|${verb} ${object}\\b)`,
  'iu',
);

/** Whether a sentence is a standing instruction that is never learned from a text, because it could do harm for good. */
export function isDangerousInstruction(sentence: string, { isReported }: { isReported: boolean }): boolean {
  const text = trimEnd(sentence).replace(/,? ?\b(?:the )?user (?:said|insisted|added|explained)\b,?/gi, '');
  const forms = [...(isReported ? reported : direct).map(({ said }) => said), anyOrder];
  const groups = forms.map((said) => said.exec(text)?.groups).find((one) => one !== undefined);
  const deed = groups?.['deed'] ?? text;
  return groups !== undefined && isDangerous(isReported ? deed : text) && !forOnce.test(deed) && !idioms.test(text);
}

/** Verbs that no rule is learned with, such as "pay", are among these. */
const anyOrder =
  /^(?:(?:the )?user (?:wants|asked|told) (?:me|us|the butler) to |(?:please |kindly )?(?:from now on,? |in (?:the )?future,? )?)(?:always|never|do not ever) (?<deed>\p{L}+ .+)$/iu;

/** "wants a table" is a request; "wants tables without borders" is meant for good. */
function isStanding(text: string): boolean {
  return (
    standing.test(text) ||
    /\b(?:no|not|kept|for later|rather than)\b/i.test(text) ||
    /\b(?:wants|would like|expects|insists that|asked for) (?:all |any |the |every )?(?:\p{L}+ )?\p{L}+s (?:in|with|to|be|\p{L}+ed|for|by)\b|\bat once\b|\bfirst\b/u.test(
      text,
    )
  );
}

function isDangerous(text: string): boolean {
  return dangerous.test(text);
}

/** Whether a sentence may become a rule: nothing dangerous, and not for once. */
export function isSafeRule(sentence: string): boolean {
  // The user is named in most of them, and short words are quoted: "the mill".
  const text = sentence.replace(/\b(?:the )?user\b/gi, 'they').replace(/"([^"\s]+(?: [^"\s]+){0,3})"/g, '$1');
  return isSafe(text, text);
}

function isSafe(text: string, deed: string): boolean {
  return !isDangerous(text) && !forOnce.test(deed) && !idioms.test(text) && text.includes(' ');
}
