import { segmentsOf } from '../../../memory/episodes/segments.ts';
import type { ForeignItem } from '../../../memory/quarantine/quarantine.ts';
import type { ConsolidationEngine } from '../engine.ts';
import { findForeignItems } from './patterns/foreign-items.ts';
import { judge, type Verdict } from './patterns/judge.ts';
import { loadKnown, namesOfUser } from './patterns/known.ts';
import { Notebook } from './patterns/notebook.ts';
import { readEpisode } from './patterns/read-episode.ts';
import { isSafeRule } from './patterns/instructions.ts';
import type { Statement } from './patterns/statement.ts';

/** Reads sentences by their grammar and keeps what is worth it. Local and deterministic, without a language model. */
export const patternsEngine: ConsolidationEngine = {
  name: 'patterns',
  async extract(context, claim, signal) {
    const known = await loadKnown(context, claim.butler);
    const names = namesOfUser(known);
    const foreign: ForeignItem[] = [];
    const notebook = new Notebook(context, known, names);
    for (const episode of claim.episodes) {
      const { id, content, observedAt, createdAt } = episode;
      signal.throwIfAborted();
      const at = observedAt ?? createdAt;
      foreign.push(...findForeignItems(id, content, segmentsOf(episode)));
      const found = readEpisode(content, at, names, segmentsOf(episode));
      const verdicts = await judge(
        context.embedder,
        found.map(({ statement }) => statement),
      );
      const judged = found.map(({ statement, quote }, place) => ({
        statement,
        quote,
        verdict: verdicts[place] ?? null,
      }));
      for (const one of judged) {
        const { statement, quote, verdict } = one;
        const isNews = isWorthKeeping(one, judged);
        if (!isNews && (verdict?.keep ?? 0) < leastToCompare) continue;
        await notebook.add({
          statement: asRule(statement, verdict),
          verdict,
          at,
          isNews,
          evidence: { episode_id: id, quote },
        });
      }
      await pause();
    }
    return { output: notebook.output(), foreign };
  },
};

interface Judged {
  readonly statement: Statement;
  readonly verdict: Verdict | null;
}

/** Between two episodes others have their turn. */
function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Beside a sentence that is surely worth keeping, others of the episode more often are. */
const thresholds = { alone: -0.1, beside: -0.25 };
const sure = 0.6;
/** Less likely sentences still confirm or change what is known. */
const leastToCompare = 0.1;

function isWorthKeeping({ statement, verdict }: Judged, all: readonly Judged[]): boolean {
  if (statement.threshold === null) return true;
  // Without the judge, a note is kept only of the user and of persons.
  if (verdict === null)
    return (
      statement.says === 'rule' ||
      statement.predicate !== null ||
      /^User\b/.test(statement.content) ||
      statement.subject !== 'user'
    );
  const isBeside = all.some((other) => other.statement !== statement && (other.verdict?.keep ?? 0) >= sure);
  return verdict.keep >= statement.threshold + (isBeside ? thresholds.beside : thresholds.alone);
}

/** What the judge is certain to be an instruction is one, though no form of instructions fits it. */
const surelyInstruction = 0.8;

function asRule(statement: Statement, verdict: Verdict | null): Statement {
  if (statement.says === 'rule' || statement.predicate !== null || (verdict?.instruction ?? 0) < surelyInstruction)
    return statement;
  if (!statement.mayBeRule || !isSafeRule(statement.content)) return statement;
  return { says: 'rule', content: statement.content, importance: 7, threshold: null };
}
