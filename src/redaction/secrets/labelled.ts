import type { Meter } from '../finding.ts';
import type { Span } from '../scan.ts';
import { endOfName, labelOf, labelStart, type Label } from './labels.ts';
import { isSecretValue, type Candidate, type Tie } from './values.ts';

/**
 * Finds `<label> <separator> <value>`, whatever the label, the separator and the quoting: `password: …`, `my api key is …`,
 * `{\"client_secret\":\"…\"}`, `--token …`. Only the value is taken: what it was for is worth remembering.
 */
export function findLabelled(text: string, meter: Meter): Span[] {
  const spans: Span[] = [];
  meter.steps += text.length;
  labelStart.lastIndex = 0;
  for (let head = labelStart.exec(text); head !== null; head = labelStart.exec(text)) {
    const from = head.index;
    const window = text.slice(from, from + longest);
    meter.steps += window.length;
    const before = text.slice(Math.max(0, from - 48), from);
    const found = readValue(new Cursor(window, endOfName(window, head[0].length)), labelOf(head), before);
    // Labels within a label have their turn: in `api_key: token: …` the value follows the second.
    if (found === null) continue;
    const [start, end] = [from + found.start, from + found.end];
    spans.push({ start, end, canonical: text.slice(start, end) });
    labelStart.lastIndex = end;
  }
  return spans;
}

/** A label, what it is for, a separator and a value of the greatest length. */
const longest = 520;

interface Range {
  start: number;
  end: number;
}

/** Reads a text piece by piece. Every pattern is sticky, and none has a quantifier without a bound. */
class Cursor {
  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  readonly text: string;
  at: number;

  take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    this.at += found?.length ?? 0;
    return found;
  }

  sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }
}

const insideWord = /[\p{L}\p{N}_]|[-.][\p{L}\p{N}_]/uy;
const possessive = /['’]s(?= )/y;
/** What ends the name: quotation marks, brackets, emphasis. */
const closers = /(?:\\{0,8}["'`”’»\])*_~]){0,5}/y;
const remark = /[ \t]{0,3}\([^)\n]{1,40}\)/y;
const signSource = '(?:=>|:=|->|→|[=:：＝|]|[–—](?=\\s)|-(?= )|(?<=\\w)>(?=[^\\s<]))';
const verbs =
  'is|was|are|were|equals|reads|ist|war|lautet|heißt|heisst|es|era|son|est|était|sono|è|é|são|são|luidt|jest|är|var|это|是|は';
const verbSource = `\\s(?:${verbs})(?:\\s(?:now|still|currently|again|just|simply|called|actually|probably|set to|changed to|jetzt|noch|ahora|maintenant|nu|now:))?(?=[\\s:]|$)`;
const sign = new RegExp(`[ \\t]{0,3}${signSource}`, 'y');
const verb = new RegExp(`${verbSource}:?`, 'iy');
const chineseVerb = /[是は]/y;
/** "for the backup disk", "of my iPad". */
const purpose = new RegExp(
  `\\s(?:for|of|to|at|on|in|from|für|fürs|vom|von|zum|zur|am|im|del?|de la|du|des|pour|para|do|da|per|voor|van|til|för|till|dla|для)\\s(?:[^,;:=!?.\\n]|\\.(?=\\w)){1,60}?(?=[ \\t]{0,3}(?::|=)|${verbSource})`,
  'iuy',
);
/** One more noun before a colon: "password router: …". */
const noun =
  /[ _](?!manager|hint|policy|length|strength|reset|field|hash|expir|type|count|limit|budget|name|file|path|url|link|id\b|min|max|rotation|date|history|rule|requirement|change|update|generator|check|format|age)[\p{L}\p{N}-]{2,20}(?=[ \t]{0,2}[:=])/iuy;
/** "I changed my password to …". */
const change = /\sto(?=\s)/iy;
const changed = /(?:chang|set|reset|updat|switch|rotat|geänder|gesetzt)\p{L}*(?:\s[\p{L}'’-]{1,16}){0,4}\s$/iu;
const polishVerb = /\sto(?=\s)/iy;
const attributeValue = /["']\s{1,3}(?:value|content)\s?=\s?(?=["'])/iy;
const call = /\((?=["'`])/y;
const option = /--?[\p{L}\p{N}-]*$/u;

function readValue(cursor: Cursor, label: Label, before: string): Range | null {
  const hasPossessive = cursor.take(possessive) !== null;
  if (!hasPossessive && cursor.sees(insideWord)) return null;
  const tie = hasPossessive ? 'sentence' : readTie(cursor, before);
  if (tie === null) return null;
  return readCandidate(cursor, label, tie);
}

/** Reads what stands between a label and its value. */
function readTie(cursor: Cursor, before: string): Tie | null {
  if (cursor.take(attributeValue) !== null || cursor.take(call) !== null) return 'explicit';
  cursor.take(closers);
  cursor.take(remark);
  if (cursor.take(purpose) === null) cursor.take(noun);
  const found = cursor.take(sign);
  if (found !== null) return /=/.test(found) ? 'explicit' : 'colon';
  if (cursor.take(verb) !== null || cursor.take(chineseVerb) !== null) return 'sentence';
  if (/has[łl]o$/i.test(cursor.text.slice(0, cursor.at)) && cursor.take(polishVerb) !== null) return 'sentence';
  if (changed.test(before) && cursor.take(change) !== null) return 'sentence';
  if (!cursor.sees(/[ \t]/y)) return null;
  return option.test(before) ? 'explicit' : 'beside';
}

/** The value may stand on a line below its label, then alone on it. */
const lineBreak = /[ \t]{0,3}(?:\r?\n[ \t]{0,16}){1,2}/y;
const blanks = /[ \t]{1,8}/y;
/** Emphasis that closes after the colon: `**Password:** …`. */
const emphasis = /[*_~]{1,3}(?=\s)/y;
const scheme = /(?:bearer|basic|token|apikey|digest)[ \t]{1,3}(?=[^\s:=])/iy;
const bareQuote = /(?:\\{0,8})(["'`«“„‘])[ \u00a0]?/y;

function readCandidate(cursor: Cursor, label: Label, tie: Tie): Range | null {
  cursor.take(emphasis);
  cursor.take(blanks);
  const isBelow = tie !== 'beside' && cursor.take(lineBreak) !== null;
  cursor.take(scheme);
  const { text, at } = cursor;
  const opening = cursor.take(bareQuote);
  const quoted = opening === null ? null : readQuoted(text, cursor.at, opening);
  const range = quoted ?? readBare(text, opening === null ? at : cursor.at, { isPhrase: label.kind === 'phrase', tie });
  const candidate: Candidate = {
    value: text.slice(range.start, range.end),
    tie: quoted !== null && tie !== 'beside' ? 'explicit' : tie,
    isQuoted: quoted !== null,
    rest: text.slice(range.end, range.end + 24),
  };
  if (isBelow && !(isAlone(candidate) && /\d|\p{Ll}\p{Lu}|[_!#$%&*@]/u.test(candidate.value))) return null;
  return isSecretValue(label, candidate) ? range : null;
}

function isAlone({ rest }: Candidate): boolean {
  return /^["'`”’»*.,;)]{0,3}[ \t]{0,3}(?:\r?\n|$)/.test(rest);
}

const closingOf: Record<string, string> = { '«': '»', '“': '”', '„': '“”', '‘': '’' };

/** A quotation ends at a mark with as many backslashes before it as the opening one has: deeper ones are within it. */
function readQuoted(text: string, start: number, opening: string): Range | null {
  const depth = opening.indexOf(opening.replace(/^\\+/, ''));
  const mark = opening[depth] ?? '"';
  const closing = closingOf[mark] ?? mark;
  for (let at = start; at < text.length && text[at] !== '\n'; at++) {
    if (!closing.includes(text[at] ?? '')) continue;
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes++;
    if (backslashes > depth) continue;
    const end = at - backslashes;
    return { start, end: end - (/\s*$/.exec(text.slice(start, end))?.[0].length ?? 0) };
  }
  return null;
}

/** The next name in a list: `…&page=2`, `…;Encrypt=yes`, `…,port:1`. Or the end of the text. */
const separatorAhead = /[&;,](?=\s|$|["'{]?[\w.-]{1,40}["']?\s?[:=])|[&;](?=\w{1,40}=)/y;
const bareEnd = /[\s"`<«»“”]|\\(?=[nrt"'`\\])|['’](?![\p{L}\p{N}])|[)\]}>](?![\p{L}\p{N}])/uy;
const phraseEnd = /\n|[.,;:!?)"”»](?:\s|$)/y;

function readBare(text: string, start: number, { isPhrase, tie }: { isPhrase: boolean; tie: Tie }): Range {
  let end = start;
  while (end < text.length && !endsAt(text, end, isPhrase && tie !== 'beside')) end++;
  const trailing = /[.,;:]+$/.exec(text.slice(start, end))?.[0].length ?? 0;
  return { start, end: end - trailing };
}

function endsAt(text: string, at: number, isPhrase: boolean): boolean {
  if (isPhrase) return matchesAt(phraseEnd, text, at);
  return matchesAt(bareEnd, text, at) || matchesAt(separatorAhead, text, at);
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
