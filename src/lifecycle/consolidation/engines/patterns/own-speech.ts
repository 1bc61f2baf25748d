import { isCommonWord, tag } from './tags.ts';
import { isForeign, textBesideSegments, type Segment } from '../../../../memory/episodes/segments.ts';
import { beginsOrder, findVerb } from './clauses.ts';
import { findOwnParts, isTold, readHeading, type OwnPart } from './foreign-text.ts';
import { endsOf } from './sentence-ends.ts';

/** The speaker: the user, the writer of the episode, or a butler in a line of its own. */
export type Voice = 'user' | 'narrator' | 'butler';

export interface Sentence {
  /** As it stands in the episode. */
  readonly quote: string;
  /** To be read: straight quotation marks, one blank where there were several. */
  readonly text: string;
  readonly voice: Voice;
  /** Its line says who speaks; in the lines after it, somebody may have pasted anything. */
  readonly isAttributed: boolean;
  /** It begins its line. */
  readonly startsLine: boolean;
}

/** What is beyond it is not read: a memory is not that long, and the time that it takes is bounded. */
export const characterLimit = 20_000;
/** A longer sentence is not read: it is a list, or no sentence. */
export const sentenceLimit = 400;

/** The sentences of an episode in which the user speaks, or its writer; not code, quotations, others, or what follows. */
export function ownSentences(content: string, segments: readonly Segment[] = []): Sentence[] {
  if (segments.length === 0) return sentencesOf(content, null);
  const beside = sentencesOf(textBesideSegments({ content, segments }), null);
  return [...beside, ...segments.filter((segment) => !isForeign(segment)).flatMap((one) => sentencesOf(one.text, one))];
}

/** A butler that tells of the user in the third person is the writer of what it says. */
const tellsOfUser = /\b(?:the user|user)(?:'s)?\b(?!:)/i;

function sentencesOf(content: string, segment: Segment | null): Sentence[] {
  const text = straighten(content.slice(0, characterLimit));
  const own = segment?.speaker === 'user' ? 'user' : 'narrator';
  const voice = segment?.speaker === 'assistant' && !tellsOfUser.test(text) ? 'butler' : own;
  const speech: Speech = { voice, segmentVoice: segment === null ? null : voice, isCode: false, sentences: [] };
  for (const part of findOwnParts(text)) {
    if (!part.isAfterOthers) readPart(content, text, part, speech);
    else if (!readAfterOthers(content, text, part, speech)) break;
  }
  const title = readHeading(text)?.title ?? '';
  return title === '' || ofSession.test(title)
    ? speech.sentences
    : speech.sentences.map((sentence) => nameTopic(sentence, title));
}

/** It names the session and not a topic. */
const ofSession =
  /\b(?:talk|session|call|chat|conversation|meeting|intro\p{L}*|notes?|summary|updates?|facts?|memo)\b/iu;

/** "The dog" over "- Pwdin, corgi, 9 yrs": a point without a verb says of what it is by its heading alone. */
function nameTopic(sentence: Sentence, title: string): Sentence {
  if (!sentence.startsLine || findVerb(tag(sentence.text)) >= 0) return sentence;
  return { ...sentence, text: `${title}: ${sentence.text}` };
}

interface Speech {
  voice: Voice | null;
  /** Of the whole segment: a line within it that names another speaker may be pasted, and earns no trust. */
  segmentVoice: Voice | null;
  isCode: boolean;
  sentences: Sentence[];
}

function readPart(content: string, text: string, { start, end }: OwnPart, speech: Speech): void {
  for (const line of linesOf(text, start, end)) {
    if (/^\s*(?:```|~~~)/.test(line.text)) speech.isCode = !speech.isCode;
    else if (!speech.isCode && !/^\s*(?:>|\||\$ |    )/.test(line.text)) {
      const label = distrust(readLabel(line.text), speech);
      if (label !== null && label.lasts) speech.voice = label.voice;
      const isAttributed = speech.segmentVoice === null ? label !== null : line.start === 0 && label === null;
      const speaker = { voice: label === null ? speech.voice : label.voice, isAttributed };
      addSentences(speech.sentences, content, line, label?.length ?? bulletLength(line.text), speaker);
    }
  }
}

function distrust(label: Label | null, { segmentVoice }: Speech): Label | null {
  if (label === null || segmentVoice === null || label.voice === segmentVoice) return label;
  return { ...label, voice: null };
}

const namesUser = /^(?:the )?user\b(?!:)|^(?:she|he|his|her)\b/i;

/** Reads on in the same line only what names the user: the rest may still be somebody else's. */
function readAfterOthers(content: string, text: string, { start, end }: OwnPart, speech: Speech): boolean {
  const [line] = linesOf(text, start, end);
  if (line === undefined || speech.voice === null || speech.isCode) return false;
  const found: Sentence[] = [];
  addSentences(found, content, line, 0, { voice: speech.voice, isAttributed: false });
  speech.sentences.push(...found.filter(({ text: said }) => namesUser.test(said)));
  return line.start + line.text.length >= end;
}

function bulletLength(text: string): number {
  return /^\s*(?:[-*•]|\d{1,2}[.)]) +/.exec(text)?.[0].length ?? 0;
}

interface Line {
  readonly start: number;
  readonly text: string;
}

function* linesOf(text: string, from: number, length: number): Generator<Line> {
  let start = from;
  while (start < length) {
    const end = text.indexOf('\n', start);
    const stop = end < 0 || end > length ? length : end;
    yield { start, text: text.slice(start, stop) };
    start = stop + 1;
  }
}

interface Label {
  readonly voice: Voice | null;
  readonly length: number;
  /** Until another speaks, and not for this line alone. */
  readonly lasts: boolean;
}

const label = /^\s*(?:[-*•] )?((?:the )?[\p{L}][\p{L}\p{N} .'()-]{0,30}?)\s*:(?=\s|"|$)\s*/iu;
const users = /^(?:the )?(?:user|human|me|customer|client|owner|guest)(?: \([^)]*\))?$/i;
const reports =
  /^(?:the )?user (?:(?:also|just|then|again|later|has) )?(?:said|says|wrote|writes|told me|stated|mentioned|added|replied|answered|confirmed|explained|noted)(?: today| this| earlier| yesterday| again)?$/i;
/** Headings of notes, and words that people put before what they say. */
const headings =
  /^(?:(?:session |meeting |call |conversation |user |quick |personal )?(?:noted?|notes|summary|facts?|info|profile|preferences?|update|memo|reminder|background)|remember|important|health|diet|travel|work|home|finance|family|correction|actually|fyi|ps|btw|changed my mind|i(?:'ve| have)? changed my mind|to note|heads up|new|also)$/i;

function readLabel(text: string): Label | null {
  const found = label.exec(text);
  if (found === null) return null;
  const [{ length }, name = ''] = found;
  if (users.test(name)) return { voice: 'user', length, lasts: true };
  if (/^(?:the )?(?:assistant|butler)$/i.test(name)) return { voice: 'butler', length, lasts: true };
  if (reports.test(name)) return { voice: 'user', length, lasts: false };
  const rest = text.slice(length);
  if (tellsOfOrders.test(name) || /^(?:what|why|how|where)\b|\bI\b/.test(name)) return null;
  if (hasVerb(name) || (isTelling(name) && isTold(rest)) || isPortrait(rest)) return null;
  const isSpeech = speaks.test(/^[^.!?]*/.exec(rest)?.[0] ?? '');
  if (!isSpeech && isTopic(name, rest)) return null;
  if (headings.test(name) || (isHeading(name) && !isSpeech)) return null;
  // "- granddaughter: Lía": in a list, and in small letters, a topic.
  if (!isSpeech && (/^\s*[-*•] /.test(text) || /^\p{Ll}/u.test(name))) return null;
  // After a quotation the one who quotes speaks again.
  const isQuoted = /^"[^"]*"/.test(rest) && / /.test(name);
  return { voice: null, length, lasts: !isQuoted && (!/ /.test(name) || /^\p{Lu}\S+ \p{Lu}\S+$/u.test(name)) };
}

/** "The test came back: I carry the gene" names no speaker: a verb that tells of something else stands before the colon. */
function hasVerb(name: string): boolean {
  if (name.includes('.')) return false;
  const words = tag(name);
  const isOrder = words.length > 2 && beginsOrder(words);
  return isOrder || words.some(({ pos, lower, lemma }) => pos === 'VERB' && lower !== lemma && !tellings.test(lower));
}

/** "The airline answered: 214 dollars back": what somebody let the writer know, in a few words of the writer. */
function isTelling(name: string): boolean {
  return / \p{Ll}/u.test(name) && tellings.test(name.split(' ').at(-1) ?? '');
}

/** "Thibault Vernhes: makes Cantal in a dairy": the writer says what the one before the colon does. */
function isPortrait(rest: string): boolean {
  const [first] = tag(rest.slice(0, 40));
  return (
    first !== undefined &&
    first.pos === 'VERB' &&
    /^\p{Ll}+s$/u.test(first.text) &&
    first.lower !== first.lemma &&
    isTold(rest)
  );
}

const tellings =
  /^(?:says?|said|saying|writes?|wrote|written|texted|tells?|told|asks?|asked|repl(?:ies|ied)|answers?|answered|quotes?|quoted|states?|stated|reads?|reading|messaged|mailed|emailed|posted|shared|forwarded|pasted|sent|left|called|named|contains?|adds?|added|warns?|warned|advises?|advised|claims?|claimed|explains?|explained|confirms?|confirmed|reports?|reported|announces?|announced|suggests?|suggested|recommends?|recommended|notes?|noted)$/;

/** "User corrected the butler: dates are written day first": the writer goes on. */
const tellsOfOrders =
  /^(?:the )?user (?:corrected|reminded|instructed|clarified|decided|insisted|complained|wants|wanted|prefers|asked)\b(?!.*\b(?:say|says|said|reads?|quote\w*)\b)/i;
const firstPerson = /\b(?:I|I'm|I've|my|we|our)\b/;

/** "Bees: two colonies survived": a common noun before a colon is a topic, where nobody speaks for themselves after it. */
function isTopic(name: string, rest: string): boolean {
  if (/(?:said|says|wrote|writes|texted|told|asked|replied|answered|quote|states?)$/i.test(name)) return false;
  const [first = '', ...others] = name.split(' ');
  const isNoun = isCommonWord(first) || isCommonWord(first.replace(/s$/, ''));
  return (
    !firstPerson.test(rest) && isNoun && others.every((word) => isCommonWord(word) || /^(?:\d+|\p{Lu}.*)$/u.test(word))
  );
}

/** Somebody speaks for themselves, or to somebody. */
const speaks = /^["'(]|\b(?:I|i|my|me|you|your|we|our|always|never|from now on)\b/;
const heading =
  /^(?:\p{L}+ed|horse|cat|dog|pets?|employer|doctor|gp|dentist|weight|guests?|plans?|kids|children|car|address|allergies|medication|medicines?|people|dates?|money|budget|rent|bank|school|hobbies|food|birthdays?|contacts?|appointments?|phone|household|garden|result|results)$/iu;

/** "Moved house: the user gave up the flat": a phrase before a colon, and not a name. */
function isHeading(name: string): boolean {
  if (/(?:said|says|wrote|writes|texted|told|asked|replied|answered|quote|states?)$/i.test(name)) return false;
  return / /.test(name) ? / \p{Ll}/u.test(name) : heading.test(name);
}

interface Speaker {
  /** Null for one who is neither the user nor the writer. */
  readonly voice: Voice | null;
  readonly isAttributed: boolean;
  /** Somebody was quoted in the line: only what names the user is the writer's again. */
  readonly isAfterOthers?: boolean;
}

/** The sentences of a line from a place in it. A speaker named within it speaks until its end. */
function addSentences(sentences: Sentence[], content: string, line: Line, from: number, first: Speaker): void {
  let speaker = first;
  let start = from;
  for (const end of endsOf(line.text)) {
    if (end <= start || line.text.slice(start, end).trim() === '') continue;
    const text = line.text.slice(start, end);
    const said = start === from ? null : readLabel(text);
    const isQuotation = said?.voice === null && /:\s*"[^"]*"$/.test(text.trim());
    if (isQuotation) speaker = { ...speaker, isAfterOthers: true };
    else if (said !== null) speaker = { voice: said.voice, isAttributed: true };
    if (isQuotation || (speaker.isAfterOthers === true && !namesUser.test(text.trim()))) {
      start = end;
      continue;
    }
    const place = start + (said?.length ?? 0);
    if (end - place <= sentenceLimit)
      addSentence(
        sentences,
        content,
        { start: line.start + place, text: line.text.slice(place, end), startsLine: start === from },
        speaker,
      );
    start = end;
  }
}

function addSentence(
  sentences: Sentence[],
  content: string,
  { start, text, startsLine }: Line & { readonly startsLine: boolean },
  { voice, isAttributed }: Speaker,
): void {
  const readable = text.replace(/\s+/g, ' ').trim();
  if (readable === '' || voice === null) return;
  sentences.push({
    quote: content.slice(start, start + text.length).trim(),
    text: readable,
    voice,
    isAttributed,
    startsLine,
  });
}

/** What stands between single marks is a quotation when it is long. One character for one, so that places in it are places in the episode. */
function straighten(text: string): string {
  return text
    .replace(/[‘’ʼ]/g, "'")
    .replace(/[“”„«»]/g, '"')
    .replace(/(?<![\p{L}\d])'((?:[^'"\n]|(?<=\p{L})'(?=\p{L})){30,300})'(?![\p{L}\d])/gu, '"$1"')
    .replace(/[\u00a0\t\r]/g, ' ');
}
