import type { Span } from '../finding.ts';
import { endOfRun } from '../scan.ts';
import { endOfName, readLabel, labelStart, type Label } from './labels.ts';
import { isSecretValue, isStrongValue, type Candidate, type Tie } from './values.ts';

/**
 * Finds `<label> <separator> <value>`, whatever the label, the separator and the quoting: `password: …`, `my api key is …`,
 * `{\"client_secret\":\"…\"}`, `--token …`. Only the value is taken: what it was for is worth remembering.
 */
export function findLabelled(text: string): Span[] {
  const spans: Span[] = [];
  labelStart.lastIndex = 0;
  for (let head = labelStart.exec(text); head !== null; head = labelStart.exec(text)) {
    const from = head.index;
    const window = text.slice(from, from + longest);
    const before = text.slice(Math.max(0, from - 48), from);
    const cursor = new Cursor(window, endOfName(window, head[0].length));
    const label = readLabel(head);
    const found = [...readValueBefore(cursor, label, before), ...readValues(cursor, label, before)];
    // A label within this one has its turn: in `api_key: token: …` the value follows the second.
    labelStart.lastIndex = from + 1;
    for (const { start, end } of found) {
      const last = end === longest ? endOfRun(text, from + end, longValue) : from + end;
      spans.push({ start: from + start, end: last, canonical: text.slice(from + start, last) });
      labelStart.lastIndex = Math.max(labelStart.lastIndex, last);
    }
  }
  return spans;
}

/** Characters that are read for a label. A value that reaches beyond them goes on to the next blank or quotation mark. */
const longest = 520;
const longValue = /[^\s"'`<>]*/y;

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
const verbSource = `\\s(?:${verbs}|(?:has been|have been|had been|was|is|will be|wurde|ist)\\s(?:changed|set|reset|updated|geändert|gesetzt)\\s(?:to|auf))(?:\\s(?:now|still|currently|again|just|simply|called|actually|probably|set to|changed to|jetzt|noch|ahora|maintenant|nu|now:))?(?=[\\s:]|$)`;
const sign = new RegExp(`[ \\t]{0,3}${signSource}`, 'y');
const verb = new RegExp(`${verbSource}:?`, 'iy');
const joinedVerb = /[是は为為]/y;
/** "for the backup disk", "of my iPad". */
const purpose = new RegExp(
  `\\s(?:for|of|to|at|on|in|from|für|fürs|vom|von|zum|zur|am|im|bei|beim|del?|de la|du|des|pour|para|do|da|per|voor|van|til|för|till|dla|для)\\s(?:[^,;:=!?.\\n]|\\.(?=\\w)){1,60}?(?=[ \\t]{0,3}${signSource}|${verbSource})`,
  'iuy',
);
/** Words that make a label the name of something else. */
const about =
  '(?:manager|hint|policy|length|strength|reset|field|hash|digest|checksum|fingerprint|expir|type|count|limit|budget|name|file|path|url|link|ids?\\b|min|max|rotation|date|history|rule|requirement|generator|format|age\\b)';
const aboutAhead = new RegExp(`[ \\t_-]?${about}`, 'iuy');
const valueBefore = /(?:^|[\s"'`(:])(?<value>[^\s"'`(]{6,48})["'`]? (?:is|was|as|ist|als) (?:[\p{L}'’-]{1,12} ){0,3}$/u;
/** Other words between a label and its value: "the password you need is …". What follows must look like a secret. */
const aside = new RegExp(
  `(?:,|[ \\t_](?!${about}))(?:[^.;:=!?\\n]|\\.(?=\\w)){1,48}?(?=[ \\t]{0,3}${signSource}|${verbSource})|[^;:=\\n]{0,40}?[.,?!]\\s(?:it|that|es|das)(?:['’]s|\\s(?:is|was|ist|war|lautet))(?=\\s)|[?!](?= )|\\s(?:changed )?from(?= )`,
  'iuy',
);
/** "I changed my password to …". */
const change = /\s(?:to|as|auf)(?=\s)/iy;
const changed = /(?:chang|set|reset|updat|switch|rotat|geänder|gesetzt)\p{L}*(?:\s[\p{L}'’-]{1,16}){0,4}\s$/iu;
const polishVerb = /\sto(?=\s)/iy;
const attributeValue = /["']\s{1,3}(?:value|content)\s?=\s?(?=["'])/iy;
/** `define('DB_PASSWORD', '…')`. */
const nextArgument = /["']\s?,\s?(?=["'][^"'\n]{0,80}[\d!#$%&*@^~+=])/y;
const firstArgument = /\(\s?["'][\w.-]{0,40}$/;
const call = /\((?=["'`])/y;
const option = /(?:^|\s)--?[\p{L}\p{N}-]*$/u;
/** A line that has nothing but the label is the heading of the next. */
const isHeading = /(?:^|\n)[#*>|\s-]{0,6}[\p{L}\p{N} -]{0,30}$/u;

function readValues(cursor: Cursor, label: Label, before: string): Range[] {
  const isPossessive = cursor.take(possessive) !== null;
  if (!isPossessive && !cursor.sees(joinedVerb) && cursor.sees(insideWord)) return [];
  const tie = isPossessive ? 'sentence' : readTie(cursor, before);
  const found = tie === null ? null : readCandidate(cursor, label, tie);
  return found === null ? [] : [found, ...readMore(cursor.text, found.end)];
}

/** "… is my password", where it is not "… is my password manager". The range is relative to the label, and negative. */
function readValueBefore(cursor: Cursor, label: Label, before: string): Range[] {
  const found = label.kind === 'password' && !cursor.sees(aboutAhead) ? valueBefore.exec(before) : null;
  const value = found?.groups?.['value'] ?? '';
  if (found === null || !isStrongValue(value)) return [];
  const start = found.index + found[0].indexOf(value) - before.length;
  return [{ start, end: start + value.length }];
}

/** Reads what stands between a label and its value. */
function readTie(cursor: Cursor, before: string): Tie | null {
  if (cursor.take(attributeValue) !== null || cursor.take(call) !== null) return 'explicit';
  if (firstArgument.test(before) && cursor.take(nextArgument) !== null) return 'explicit';
  cursor.take(closers);
  cursor.take(remark);
  if (changed.test(before) && cursor.take(change) !== null) return 'sentence';
  const direct = readSeparator(cursor);
  if (direct !== null) return direct;
  if (cursor.take(purpose) !== null) return readSeparator(cursor);
  if (option.test(before)) return cursor.sees(/[ \t]/y) ? 'explicit' : null;
  const { at } = cursor;
  if (cursor.take(aside) !== null) {
    readSeparator(cursor);
    if (!cursor.sees(/[ \t]{0,8}$/y)) return 'beside';
  }
  cursor.at = at;
  return cursor.sees(/[ \t]/y) || (isHeading.test(before) && cursor.sees(lineBreak)) ? 'beside' : null;
}

function readSeparator(cursor: Cursor): Tie | null {
  const found = cursor.take(sign);
  if (found !== null) return found.includes('=') ? 'explicit' : 'colon';
  if (cursor.take(verb) !== null || cursor.take(joinedVerb) !== null) return 'sentence';
  const isPolish = /has[łl]o$/i.test(cursor.text.slice(0, cursor.at));
  return isPolish && cursor.take(polishVerb) !== null ? 'sentence' : null;
}

/** The value may stand on a line below its label, then alone on it. */
const lineBreak = /[ \t]{0,3}(?:\r?\n(?:[-=]{3,40}\r?\n)?[ \t]{0,16}){1,2}/y;
const fence = /```(?:\w{0,12}\r?\n)?[ \t]{0,16}/y;
/** A bracket around something with a digit and no blank; others hold remarks and names to fill in. */
const bracket = /[<([](?=[^\s<>()[\]]{0,64}\d[^\s<>()[\]]{0,64}[>)\]])/y;
const blanks = /[ \t]{1,8}/y;
/** Emphasis that closes after the colon: `**Password:** …`. */
const emphasis = /[*_~]{1,3}(?=\s)/y;
const scheme = /(?:bearer|basic|token|apikey|digest)[ \t]{1,3}(?=[^\s:=])/iy;
const bareQuote = /(?:\\{0,8})(["'`«“„‘])[ \u00a0]?/y;

function readCandidate(cursor: Cursor, label: Label, tie: Tie): Range | null {
  cursor.take(emphasis);
  cursor.take(blanks);
  const isBelow = cursor.take(lineBreak) !== null;
  cursor.take(fence);
  cursor.take(scheme);
  cursor.take(bracket);
  const { text, at } = cursor;
  const opening = cursor.take(bareQuote);
  const quoted = opening === null ? null : readQuoted(text, cursor.at, opening);
  const isPhrase = label.kind === 'phrase' && tie !== 'beside';
  const range = quoted ?? readBare(text, opening === null ? at : cursor.at, isPhrase ? phraseEnd : bareEnd);
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

/** Further values after the first: "changed from … to …", "either … or …". They must look like secrets by themselves. */
function readMore(text: string, from: number): Range[] {
  const more: Range[] = [];
  const cursor = new Cursor(text, from);
  while (more.length < 8 && cursor.take(conjunction) !== null) {
    const range = readBare(text, cursor.at);
    const value = text.slice(range.start, range.end);
    if (!isStrongValue(value) || /^[\w.-]+[:=]/.test(value)) break;
    more.push(range);
    cursor.at = range.end;
  }
  return more;
}

const conjunction = /["'`”]?(?:\s(?:to|or|and|und|oder|auf|y|o|et|ou)\s|,\s|\s\/\s)["'`“]?/iy;

/**
 * Where a value without quotation marks ends: at a blank, a mark or bracket that closes something, or before the next
 * name in a list (`…&page=2`, `…;Encrypt=yes`, `…,port:1`).
 */
const bareEnd =
  /[\s"`<«»“”、。，\u3040-\u30ff\u4e00-\u9fff]|\\(?=[nrt"'`\\])|['’)\]}>](?![\p{L}\p{N}])|[&;,](?=\s|$|["'{]?[\w.-]{1,40}["']?\s?[:=])/gu;
const phraseEnd = /\n|[.,;:!?)"”»](?=\s|$)/g;

function readBare(text: string, start: number, end: RegExp = bareEnd): Range {
  end.lastIndex = start;
  let last = end.exec(text)?.index ?? text.length;
  while (last > start && '.,;:'.includes(text[last - 1] ?? ' ')) last--;
  return { start, end: last };
}
