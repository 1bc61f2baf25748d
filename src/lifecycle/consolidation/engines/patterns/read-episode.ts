import { ownSentences } from './own-speech.ts';
import { readSentence } from './read-sentence.ts';
import type { Statement } from './statement.ts';

export interface Found {
  readonly statement: Statement;
  /** The sentence that says it, as it stands in the episode. */
  readonly quote: string;
}

const telling =
  /\b(?:the user|user|user's)\b|\bI (?:told|asked|informed|reminded|suggested|recommended|advised|offered|explained|answered|replied|helped|have (?:booked|sent|scheduled|added|ordered|reserved|updated|cancelled|created|checked)|booked|scheduled|reserved|can help|am (?:an? (?:\p{L}+ )?(?:assistant|butler|bot|ai)|happy to|here to|able to))\b/iu;

/** The user's own words, or a greeting: "I", "my", a question, an instruction. */
const plain =
  /\b(?:I|i|my|me|I'm|I've|I'll|I'd)\b|^(?:hi|hello|hey|ok|okay|thanks|thank you|please|good (?:morning|evening|afternoon))\b|^(?:please )?(?:always|never|don't|do not|from now on|in future|going forward|only|stop|keep|whenever|every time|actually|also|remember)\b/i;

/** What an episode says, in its order. */
export function readEpisode(content: string, observedAt: Date): Found[] {
  const sentences = ownSentences(content);
  const isAgentTelling = sentences.some(({ voice, text }) => voice === 'narrator' && telling.test(text));
  const saidOn = observedAt.toISOString().slice(0, 10);
  let isPlainSpeech = true;
  return sentences.flatMap((sentence) => {
    isPlainSpeech &&= plain.test(sentence.text);
    const statements = readSentence(sentence, { isAgentTelling, isPlainSpeech, saidOn });
    return statements.map((statement) => ({ statement, quote: sentence.quote }));
  });
}
