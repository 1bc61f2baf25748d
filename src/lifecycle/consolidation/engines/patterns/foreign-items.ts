import { isForeign, type Segment } from '../../../../memory/episodes/segments.ts';
import type { ForeignItem } from '../../../../memory/quarantine/quarantine.ts';
import { unframe } from './frames.ts';
import { expandContractions } from './grammar.ts';
import { isDangerousInstruction, readInstruction } from './instructions.ts';
import { characterLimit, ownSentences, sentenceLimit } from './own-speech.ts';

/** More of one episode are not held back: nobody would read them. */
const itemLimit = 20;

const label = /^\s*(?:[-*•>|]+\s*)*(?:[\p{L}][\p{L} .'-]{0,30}:\s*)?/u;
/** What would have been learned as a fact: it speaks of the user, or as the user. */
const speaksOfUser = /^(?:the user|user|user's|i|i'm|i've|my|we|our)\b/i;
const statement =
  /\b(?:is|are|am|was|were|has|have|had|will|likes?|loves?|hates?|lives?|works?|wants?|prefers?|needs?|owns?|moved|drinks?|eats?|takes?|'m|'ve)\b/i;

/** Finds instructions and statements about the user in text of others, and instructions of the user that could do harm. */
export function findForeignItems(
  episodeId: string,
  content: string,
  segments: readonly Segment[],
): readonly ForeignItem[] {
  const sentences = ownSentences(content, segments);
  const own = new Set(sentences.map(({ quote }) => quote));
  const texts = [content, ...segments.filter(isForeign).map(({ text }) => text)];
  const items = new Map<string, ForeignItem>();
  for (const { text, voice } of sentences) {
    if (voice !== 'butler' && isDangerous(text)) items.set(text, { episodeId, kind: 'rule', content: text });
  }
  for (const sentence of texts.flatMap(sentencesOf)) {
    if ([...own].some((quote) => quote.includes(sentence) || sentence.includes(quote))) continue;
    const said = sentence.replace(label, '').trim();
    const kind = kindOf(said);
    if (kind !== null && items.size < itemLimit) items.set(said, { episodeId, kind, content: said });
  }
  return [...items.values()];
}

/** What the user asks for and no text can teach: only an operator lets it become a rule. */
function isDangerous(text: string): boolean {
  const said = unframe(text.replace(/[.!]+$/, '')).text;
  return [said, text].some((one) =>
    [false, true].some((isReported) => isDangerousInstruction(expandContractions(one), { isReported })),
  );
}

function sentencesOf(text: string): string[] {
  const lines = text.slice(0, characterLimit).split('\n');
  const sentences = lines.flatMap((line) => line.split(/(?<=[.!?]["')]*)\s+/));
  return sentences.map((sentence) => sentence.trim()).filter(({ length }) => length > 0 && length <= sentenceLimit);
}

function kindOf(said: string): ForeignItem['kind'] | null {
  if (/\?["')]*$/.test(said) || said.split(' ').length < 3) return null;
  const text = said.replace(/^["'(]+|[.!"')]+$/g, '');
  const instruction = readInstruction(text, { isReported: false }) ?? readInstruction(text, { isReported: true });
  if (instruction !== null) return 'rule';
  return speaksOfUser.test(text) && statement.test(text) ? 'fact' : null;
}
