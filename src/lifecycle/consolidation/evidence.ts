import type { Evidence } from './output.ts';
import { Refusal } from './refusal.ts';

/** As the episode itself has it. */
export function episodeIdOf({ episode_id: given }: Evidence): string {
  return given.trim().toLowerCase();
}

/** The episodes that an item follows from, each once and in the order given. Throws if one of them does not say so. */
export function checkEvidence(evidence: readonly Evidence[], contents: ReadonlyMap<string, string>): string[] {
  const ids = evidence.map((one, place) => {
    const { quote } = one;
    const id = episodeIdOf(one);
    const content = contents.get(id);
    if (content === undefined) throw new Refusal(`evidence.${place}.episode_id: is not an episode of this run`);
    const words = comparable(quote);
    if (words === '') throw new Refusal(`evidence.${place}.quote: is blank`);
    if (!comparable(content).includes(words))
      throw new Refusal(`evidence.${place}.quote: does not stand in the episode`);
    return id;
  });
  return [...new Set(ids)];
}

/** Models write other blanks, quotation marks and ligatures than what they read; nothing else may differ. */
export function comparable(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[‘’‚‛′`´]/gu, "'")
    .replace(/[“”„‟″«»]/gu, '"')
    .replace(/\s+/gu, ' ')
    .trim();
}
