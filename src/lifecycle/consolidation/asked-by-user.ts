import { ownSentences } from './engines/patterns/own-speech.ts';
import { readEpisodeId, type Evidence } from './output.ts';

/** The writer of an episode tells that the user asked for something. */
const reports =
  /\buser\b[^.!?]{0,60}\b(?:asks?|asked|wants?|wanted|tells?|told|requests?|requested|insists?|insisted|instructed|reminded|prefers|would like|said|says)\b/i;

/** The name of the speaker before a line: not part of the sentence. */
const label = /^[\p{L} ]{1,30}:\s*/u;

/**
 * Returns whether the user asks for something in a quote: in a line of the user's own, or as the writer of the episode
 * reports it. What others wrote counts for nothing, whatever an engine says of it.
 */
export function isAskedByUser(evidence: readonly Evidence[], contents: ReadonlyMap<string, string>): boolean {
  return evidence.some((one) => {
    const quote = one.quote.trim().replace(label, '');
    const sentences = ownSentences(contents.get(readEpisodeId(one)) ?? '');
    return sentences
      .filter((sentence) => quote !== '' && sentence.quote.includes(quote))
      .some(({ voice, isAttributed, text }) =>
        voice === 'user' ? isAttributed : voice === 'narrator' && reports.test(text),
      );
  });
}
