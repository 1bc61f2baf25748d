import { beginsOrder, findVerb } from './clauses.ts';
import { isOrder } from './instructions.ts';
import { endsOf, isAbbreviation } from './sentence-ends.ts';
import { tag } from './tags.ts';

/**
 * Text that somebody else wrote, or that gives orders. An attacker who can show it to a butler must not get it into the
 * memory: where it begins, reading ends.
 */

const sources =
  'leaflets?|e-?mails?|mails?|inbox|newsletter|messages?|letter|sms|voicemail|web ?pages?|web ?sites?|sites?|pages?|articles?|blogs?|blog posts?|posts?|tweets?|comments?|reviews?|tickets?|issue|documents?|docs?|pdfs?|attachments?|files?|readme|logs?|transcripts?|podcasts?|videos?|subtitles|ocr|sign|label|banner|adverts?|ads?|flyer|brochure|tool|tools|output|outputs|api|response|results?|snippets?|text|calendar|invites?|invitation|description|prompts?|notifications?|form|contract|manual|book|novel|song|lyrics|poem|story|script|character|chatbot|bot|recording|screenshot|image|caption|qr code|receipt|invoice|report|wiki|encyclopedia|forum|thread|chat|code|function|plugin|quote|quotation|movie|film|show|game|headline|survey|feed|database|record';
const tellings =
  'say|says|said|saying|state|states|stated|stating|read|reads|reading|contain|contains|contained|instruct|instructs|instructed|ask|asks|asked|tell|tells|told|claim|claims|claimed|demand|demands|mention|mentions|mentioned|want|wants|require|requires|suggest|suggests|suggested|advise|advises|advised|recommend|recommends|recommended|write|writes|wrote|describe|describes|explain|explains|return|returned|returns';
const determiners =
  "the|a|an|this|that|these|those|his|her|my|our|their|your|one|some|another|new|user's|each|any|from|of|in|by";

const isTelling = new RegExp(String.raw`\b(?:${tellings})\b`, 'i');

/** Between a source and what it says: nobody else who might be the one that says it. */
const between = String.raw`(?:(?!\b(?:he|she|we|they|user|I)(?:'d|'s|'ve)? )[^.!?\n])`;
/** "The letter from the bank:" names a source, "Invoice terms changed:" does not. */
const described = String.raw`(?:,? ?(?:["'(\d]|\b(?:${sources}|from|of|by|about|on|for|in|with|to|at|below|above|here|body|content|read|shared|sent|received|called|titled|named|dated)\b)${between}{0,58}?)?`;

/** A sentence that tells what a text says: it is passed over. */
const mention = new RegExp(
  String.raw`(?:^|[\n"'(\[>.!?] ?|(?<!\bhalf )\b(?:${determiners}) )(?:[\p{L}\p{N}-]+ ){0,2}(?:${sources})\b(?:${described}:(?!\d)|${between}{0,60}?(?:"|\b(?:${tellings})\b))|\b(?:according to(?! (?:the )?user\b)|forwarded)\b`,
  'giu',
);

/** Where others begin to speak for good. */
const beginnings: readonly RegExp[] = [
  /^[^\n]*(?:https?:|www\.)\S+[^\n]*:[ \t]*$/im,
  /^[ \t]*(?:[A-Z]{3,}\b(?: \d|:)|dear\b[^,\n]{1,40},)/m,
  /^[ \t]*dear\b[^,\n]{1,40},/im,
  /^[ \t]*(?:[-*] )?(?:system|tool|tools|function|developer|browser|search|observation|output|result|context|memory|memories|knowledge|data)\b[^\n:]{0,30}:/im,
  /^[ \t]*\[(?!user\b)[^\]\n]{1,60}\]/im,
  /<\/?[a-z!][^>\n]{0,200}>/i,
  /^[ \t]*(?:from|to|cc|bcc|subject|fwd?|fw|re|sent|reply-to)[ \t]*:/im,
  /[{[]\s*"/,
  /^[ \t]*(?:begin|start of|end of|end)? ?quot(?:e|ation)(?: of the day)?\b[ \t]*[.:!]/im,
  /\b(?:quoted? from|copied from|excerpt|pasted|translate|translation|repeat after me|how do you say|dear (?:customer|sir|madam|user|team|all)|this is an automated)\b/i,
  /\b(?:here(?:'s| is| are)|the following|see below|below is|(?:read|summari[sz]e|check|review|explain|fix|improve|proofread|rewrite|look at|what (?:does|is|do|are)) (?:this|these|the|my|that))\b[^\n]{0,80}\n/i,
  /\b(?:documents?|pages?|web ?pages?|content|description|transcript|article|file|log|output|results?|e-?mail|attachment|quote)\b[ \t]*(?:below|follows|attached)?[.:]?[ \t]*\n(?![ \t]*[-*•] )/i,
  /^[ \t]*(?:#{1,6} |={3,}|-{3,}|\*{3,})/m,
];

const orders: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override|bypass|discard)\b[^.\n]{0,40}\b(?:instructions?|rules?|prompts?|everything|above|previous|prior|told|guidelines|guardrails|restrictions)\b/i,
  /\b(?:system prompt|system message|you are now|jailbreak|developer mode|new instructions?|unrestricted|base64|admin rights|when you read this|hidden text|prompt injection|do anything now|as an ai|override\s*:)/i,
  /\bDAN\b/,
  /\bas (?:the|an|your) (?:administrator|admin|developer|operator)\b/i,
  /^[ \t]*(?:dear|hello|hi|hey)\b[^,\n]{1,40},[ \t]*$/im,
  /^[ \t]*(?:(?:kind|best|warm) regards|regards|best wishes|sincerely|yours (?:truly|sincerely|faithfully)|unsubscribe|sent from my)\b/im,
];

/** "Dentist on file: Dr. Moe", "the wrong day in the calendar: …": the butler's own records. */
const ownRecord =
  /\b(?:on (?:file|record)|(?:in|into|from) (?:the|my|our) (?:calendar|file|record|database))(?: \p{L}+)?:$/iu;

/** Verbs for bringing or showing a text of others. */
const showing =
  /\b(?:pasted?|copied|forward(?:ed|s)?|shar(?:ed|es)|show(?:ed|s|n)?|quot(?:ed|es)|read|translat(?:ed|es)|summari[sz](?:ed|es)|fetch(?:ed|es)|opened|loaded|dictat(?:ed|es)|tools?|web|sites?|outputs?|prompts?|search\w*)\b/i;
/** Somebody speaks for themselves, to somebody, or to a machine. */
const speaking =
  /"|https?:|\b(?:I|me|my|mine|we|us|our|you|your|yours|please|always|never|must|shall|should|from now on|do not|don't|users?|customers?|assistants?|agents?|ai|bots?|butlers?|models?|remember|ignore)\b/i;

/**
 * "Dr. Moe has the results: the dose goes up to 88": the writer tells what a letter or a result brought, where a verb stands
 * before the colon, and in the rest of the line nobody speaks for themselves or gives an order.
 */
function isReport(text: string, index: number, found: string): boolean {
  if (!found.endsWith(':')) return false;
  const stop = text.indexOf('\n', index);
  const line = text.slice(startOfSentence(text, index + 1), stop < 0 ? text.length : stop);
  const colon = line.indexOf(':');
  const [head, told] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  const verb = findVerb(tag(head));
  if (told === '' || verb < 1 || isTelling.test(head) || showing.test(head) || speaking.test(head)) return false;
  return isTold(told);
}

/**
 * Whether the writer tells on after a colon: nobody speaks for themselves or gives an order in the rest of the line. Later
 * quotations are found by themselves.
 */
export function isTold(text: string): boolean {
  const [end = text.length] = endsOf(text);
  const [first, rest] = [text.slice(0, end), text.slice(end)];
  const isOrdering =
    text.split(/[.!?;] /).some((part) => beginsOrder(tag(part.trim()))) ||
    text.split(/, /).some((part) => isOrder(part));
  return !speaking.test(first) && !isOrdering && !speaking.test(rest.replace(/\b(?:the )?user\b|"/gi, ''));
}

const ownHeading = /^[ \t]*#{1,3} (?<title>\p{L}[\p{L}' ]{0,39})\n+(?<rest>[\s\S]+)$/u;
const beginsList = /^[ \t]*(?:[-*•]|\d{1,2}[.)]) /u;
/** Somebody speaks for themselves, to somebody, or to a machine; notes that a butler makes of a session do not. */
const addressing =
  /https?:|\b(?:I|me|my|mine|we|us|our|you|your|yours|users|customers?|assistants?|agents?|ai|bots?|models?|ignore)\b/i;

/** Returns the heading of notes: one first line in a few words, below it a list, and nobody who speaks. */
export function readHeading(text: string): { title: string; length: number } | null {
  const { title = '', rest = '' } = ownHeading.exec(text)?.groups ?? {};
  if (rest === '' || addressing.test(rest) || !beginsList.test(rest)) return null;
  return { title: title.trim(), length: text.length - rest.length };
}

/** The parts of a text in which the user or its writer speaks: none when it gives orders. */
export function findOwnParts(given: string): readonly OwnPart[] {
  if (orders.some((order) => order.test(given))) return [];
  // The heading of notes is no page; the places in the text stay as they are.
  const heading = readHeading(given)?.length ?? 0;
  const text = ' '.repeat(heading) + given.slice(heading);
  const starts = beginnings.map((beginning) => beginning.exec(text)?.index ?? text.length);
  const first = Math.min(...starts);
  const length = first === text.length ? first : startOfSentence(text, first);
  const parts: OwnPart[] = [];
  let start = heading;
  for (const found of text.slice(0, length).matchAll(mention)) {
    const index = found.index + Math.max(0, found[0].search(/[\p{L}\p{N}]/u));
    if (index < start || ownRecord.test(found[0]) || isReport(text, index, found[0])) continue;
    const from = startOfSentence(text, index + 1);
    const end = endOfMention(text, index);
    if (from > start) parts.push({ start, end: from, isAfterOthers: start > heading });
    if (end === null || end >= length) return parts;
    start = end;
  }
  if (start < length) parts.push({ start, end: length, isAfterOthers: start > heading });
  return parts;
}

export interface OwnPart {
  readonly start: number;
  readonly end: number;
  /** It follows somebody else's words in its line: only what names the user is the writer's again. */
  readonly isAfterOthers: boolean;
}

/** Where the sentence ends that tells what others say; null where nobody can tell, as after a colon. */
function endOfMention(text: string, index: number): number | null {
  const stop = text.indexOf('\n', index);
  const line = text.slice(index, stop < 0 ? text.length : stop);
  const masked = line.replace(/"[^"]*"/g, (quoted) => quoted.replace(/[.!?](?!"$)/g, '_'));
  if ((masked.match(/"/g) ?? []).length % 2 === 1) return null;
  const end = [...masked.matchAll(/[.!?]["')]*(?= |$)/g)].find((one) => !isAbbreviation(masked, one.index + 1)) ?? null;
  const sentence = end === null ? line : line.slice(0, end.index + end[0].length);
  const colon = /:(?!\d)/.exec(sentence.replace(/"[^"]*"/g, (quoted) => '_'.repeat(quoted.length)));
  if (colon !== null && !/^: ?_/.test(sentence.slice(colon.index).replace(/"[^"]*"/g, '_'))) return null;
  return end === null || stop === index + end.index + end[0].length ? null : index + end.index + end[0].length;
}

function startOfSentence(text: string, place: number): number {
  const before = text.slice(0, place);
  const ends = [...before.matchAll(/[.!?](?= )/g)].map(({ index }) => index + 1);
  return Math.max(before.lastIndexOf('\n') + 1, ends.findLast((end) => !isAbbreviation(text, end)) ?? 0);
}
