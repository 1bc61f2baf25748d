import { readSegments } from '../../../memory/episodes/segments.ts';
import type { ForeignItem } from '../../../memory/quarantine/quarantine.ts';
import type { ConsolidationEngine } from '../engine.ts';
import { findForeignItems } from './patterns/foreign-items.ts';
import { joinPointing } from './patterns/join.ts';
import { namesOf } from './patterns/introduction.ts';
import { judge } from './patterns/judge.ts';
import { loadKnown } from './patterns/known.ts';
import { Notebook } from './patterns/notebook.ts';
import { readEpisode } from './patterns/read-episode.ts';
import { Relatives } from './patterns/relatives.ts';
import { asRule, isWorthKeeping } from './patterns/worth.ts';

/** Reads sentences by their grammar and keeps what is worth it. Local and deterministic, without a language model. */
export const patternsEngine: ConsolidationEngine = {
  name: 'patterns',
  async extract(context, claim, signal) {
    const known = await loadKnown(context, claim.butler);
    const foreign: ForeignItem[] = [];
    // Later episodes of the claim know the user by the names that earlier ones give.
    const names = [...known.names];
    const notebook = new Notebook(new Relatives(context, claim.butler), { ...known, names });
    for (const episode of claim.episodes) {
      const { id, content, observedAt, createdAt } = episode;
      signal.throwIfAborted();
      const at = observedAt ?? createdAt;
      foreign.push(...findForeignItems(id, content, readSegments(episode)));
      const found = readEpisode(content, at, names, readSegments(episode));
      names.push(...found.flatMap(({ statement }) => namesOf(statement)));
      const verdicts = await judge(
        context.embedder,
        found.map(({ statement }) => statement),
      );
      const judged = found.map(({ statement, quote }, place) => {
        const verdict = verdicts[place] ?? null;
        return { statement: asRule(statement, verdict), quote, verdict, isNews: isWorthKeeping(statement, verdict) };
      });
      for (const { statement, quote, verdict, isNews } of joinPointing(judged, content)) {
        if (!isNews && (verdict?.keep ?? 0) < leastToCompare) continue;
        await notebook.add({ statement, verdict, at, isNews, evidence: { episode_id: id, quote } });
      }
      await pause();
    }
    return { output: notebook.output(), foreign };
  },
};

/** Between two episodes others have their turn. */
function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Less likely sentences still confirm or change what is known. */
const leastToCompare = 0.1;
