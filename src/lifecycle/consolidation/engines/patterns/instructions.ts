import { capitalise, trimEnd } from './values.ts';
import { expandContractions, gerundOf, instructionAboutUser } from './grammar.ts';
import type { RuleStatement } from './statement.ts';
import { instructionVerbs } from './words.ts';

/** A standing instruction that the user gives: how it is said, and how it is kept. */
interface InstructionForm {
  readonly said: RegExp;
  readonly kept: (groups: Readonly<Record<string, string>>) => string;
}

const verb = `(?:${instructionVerbs})\\b`;
const gerunds = new Map(instructionVerbs.split('|').map((base) => [gerundOf(base), base]));
const polite = '(?:please |kindly )?';

/** In the user's own words. */
const direct: readonly InstructionForm[] = [
  { said: new RegExp(`^${polite}always ${polite}(?<deed>${verb}.+)$`, 'i'), kept: ({ deed }) => `Always ${deed}` },
  { said: new RegExp(`^${polite}never(?: ever)? (?<deed>${verb}.+)$`, 'i'), kept: ({ deed }) => `Never ${deed}` },
  { said: new RegExp(`^${polite}do not ever (?<deed>${verb}.+)$`, 'i'), kept: ({ deed }) => `Never ${deed}` },
  { said: new RegExp(`^${polite}do not (?<deed>${verb}.+)$`, 'i'), kept: ({ deed }) => `Do not ${deed}` },
  { said: new RegExp(`^${polite}(?<deed>only ${verb}.+)$`, 'i'), kept: ({ deed }) => capitalise(deed ?? '') },
  {
    said: new RegExp(`^${polite}stop (?<gerund>${[...gerunds.keys()].join('|')}) (?<rest>.+)$`, 'i'),
    kept: ({ gerund, rest }) => `Do not ${gerunds.get((gerund ?? '').toLowerCase())} ${rest}`,
  },
  {
    said: new RegExp(
      `^(?:from now on|from today on|going forward|in (?:the )?future|as of (?:now|today)),? ${polite}(?:you should )?(?<deed>(?:always |never |do not |only |be )?${verb}.+)$`,
      'i',
    ),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
  { said: new RegExp(`^${polite}(?<deed>${verb}.+?),? from now on$`, 'i'), kept: ({ deed }) => capitalise(deed ?? '') },
  {
    said: new RegExp(
      `^(?<occasion>(?:whenever|every time|each time|any time|anytime) (?:i|it|there|someone|anyone|the|my|a|we)\\b[^,]{2,100}),? ${polite}(?<deed>(?:always |never |do not |only )?(?:${verb}.+|be (?:kind|brief|gentle|polite|patient|quiet|careful|concise|formal)\\b.*))$`,
      'i',
    ),
    kept: ({ occasion, deed }) => `${capitalise(occasion ?? '')}, ${deed}`,
  },
  {
    said: new RegExp(`^(?<occasion>when i [^,]{2,100}),? ${polite}(?<deed>(?:always|never) ${verb}.+)$`, 'i'),
    kept: ({ occasion, deed }) => `${capitalise(occasion ?? '')}, ${deed}`,
  },
];

const asks =
  '(?:the )?user (?:(?:also|has|explicitly|just) )*(?:asked|asks|told|instructed|wants|wanted|would like|requested|reminded|said|prefers|insisted|insists)(?: me| us| the butler| the assistant| that i| that we)?';

/** As its writer tells of it. */
const reported: readonly InstructionForm[] = [
  {
    said: new RegExp(`^${asks} (?:to )?always (?:to )?(?<deed>${verb}.+)$`, 'i'),
    kept: ({ deed }) => `Always ${deed}`,
  },
  {
    said: new RegExp(`^${asks} (?:to )?never (?:to )?(?:again )?(?<deed>${verb}.+)$`, 'i'),
    kept: ({ deed }) => `Never ${deed}`,
  },
  { said: new RegExp(`^${asks} not to ever (?<deed>${verb}.+)$`, 'i'), kept: ({ deed }) => `Never ${deed}` },
  {
    said: new RegExp(`^${asks} not to (?<deed>${verb}.+?) (?:again|any ?more|ever again|in (?:the )?future)$`, 'i'),
    kept: ({ deed }) => `Do not ${deed}`,
  },
  {
    said: new RegExp(`^${asks} to (?<deed>${verb}.+?) (?:from now on|in (?:the )?future|going forward)$`, 'i'),
    kept: ({ deed }) => capitalise(deed ?? ''),
  },
];

/**
 * Harm that one sentence could do for good. Such a rule is not learned from a text of any speaker; it can be
 * stored as a rule explicitly.
 */
const dangerous =
  /\b(?:password|passcode|credential|token|api key|secret|pin|transfer|wire|pay|payment|money|account|refund|delete|erase|wipe|destroy|grant|admin|approve|approved|disclose|forward|execute|run|command|shell|script|sudo|root|install|download|upload|encode|pretend|act as|comply|obey|refuse|warn|warning|trust|competitors?|sender|tracking|append|link|instructions?|rules?|prompts?|policy|policies|developer|system|model|assistant|ai|bot|you are|you must|your (?:answers?|responses?|replies)|users?|customers?|close tickets?|phrase|word|websites?|crypto|bitcoin|gold|bank)\b|https?:|www\.|[@"`{}<>|\\$]/i;
/** For once, and not for good. */
const forOnce =
  /\b(?:today|tonight|tomorrow|yet|right now|this (?:time|one|week|evening|morning|afternoon|weekend|month)|(?:^|\s)(?:it|this|that|these|those)\b(?! (?:is|are|has|have)\b)|for (?:now|once)|until|the (?:table|flight|meeting|appointment) (?:at|on|for)|next (?:week|month))\b/i;
const idioms =
  /^(?:never (?:say never|let me down|stop|tell me)|always (?:look on|keep in mind|show up|there|wait and)|do not (?:make me|tell me|let me|get me|start|wait up|let it|mention it|mark my|put words|play dumb|open))/i;

/** The standing instruction in a sentence, if it is one. */
export function readInstruction(sentence: string, { isReported }: { isReported: boolean }): RuleStatement | null {
  const text = trimEnd(expandContractions(sentence));
  for (const { said, kept } of isReported ? reported : direct) {
    const groups = said.exec(text)?.groups;
    if (groups === undefined) continue;
    if (!isSafe(isReported ? (groups['deed'] ?? '') : text, groups['deed'] ?? text)) return null;
    const content = kept(groups);
    return { says: 'rule', content: isReported ? content : instructionAboutUser(content), importance: 7 };
  }
  return null;
}

export function isDangerous(text: string): boolean {
  return dangerous.test(text);
}

function isSafe(text: string, deed: string): boolean {
  return !isDangerous(text) && !forOnce.test(deed) && !idioms.test(text) && text.includes(' ');
}
