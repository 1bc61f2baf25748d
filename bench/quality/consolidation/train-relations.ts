// node --import tsx bench/quality/consolidation/train-relations.ts: trains the judge that tells whether a statement changes or
// repeats a known one, on the development stores and pairs, and writes its weights. Prints what heads that were trained on
// other stores say of each store, and what the final ones say of the stores and pairs that are set aside.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modelKey, type Embedder } from '../../../src/embedding/embedder.ts';
import { inThousandths } from '../../../src/lifecycle/consolidation/engines/patterns/judge.ts';
import {
  cosineOf,
  inputsOf,
  likelihoodsOf,
  sumOf,
  type Compared,
  type RelationHead,
  type RelationHeads,
} from '../../../src/lifecycle/consolidation/engines/patterns/relation-judge.ts';
import { topicOf } from '../../../src/lifecycle/consolidation/engines/patterns/topic.ts';
import { readWordVectors } from '../../../src/lifecycle/consolidation/engines/patterns/word-vectors.ts';
import { packageRoot } from '../../../src/shared/package-root.ts';
import { withEmbeddedCore } from '../../own-embedded-core.ts';
import { readSet } from './score.ts';
import { trainLogistic, trainNet, type Row } from './train-net.ts';
import type { NoteChange } from './stores.ts';

type Known = string | { subject: string; predicate: string; content: string };

interface Pair {
  first: Known;
  second: string;
  relation: 'changes' | 'repeats' | 'beside';
}

/** What is known, and what is said later: of each, which of the known it changes or repeats. */
interface Store {
  name: string;
  known: readonly Known[];
  said: readonly { text: string; changes: readonly number[]; repeats: readonly number[]; beside?: readonly number[] }[];
}

/** A statement beside one of the known sentences that are nearest to it. */
interface Example {
  /** What the heads judge it by. */
  input: readonly number[];
  outcome: number;
  weight: number;
}

/** A statement with its examples. */
interface Said {
  statement: Compared;
  tellsChange: boolean;
  examples: readonly Example[];
  fold: number;
}

const folds = 4;
const tellsPenalty = 0.1;
/** Sentences of a store that a statement is compared with: the engine compares about as many. */
const nearest = 10;
/** Pairs make a store: the firsts of so many are known together. */
const pairsOfStore = 30;
/** Of a sentence that the labels call neither changed nor repeated, beside one that they name. */
const unnamedWeight = 0.15;
/** One in so many of them is trained on. */
const thinning = 3;
/** Stores at the end of each file that are set aside. */
const setAside = { stores: 4, 'stores-2': 2, 'stores-3': 2 };

function withoutStop(text: string): string {
  return text.replace(/[.!]+$/, '');
}

function topicOfKnown(given: Known): Compared['topic'] {
  return typeof given === 'string'
    ? topicOf('user', withoutStop(given), null)
    : topicOf(given.subject, given.content, given.predicate);
}

/** One first may stand in several pairs: it is known once. */
function storesOf(name: string, pairs: readonly Pair[]): Store[] {
  return Array.from({ length: Math.ceil(pairs.length / pairsOfStore) }, (_, place): Store => {
    const own = pairs.slice(place * pairsOfStore, (place + 1) * pairsOfStore);
    const keys = [...new Set(own.map(({ first }) => JSON.stringify(first)))];
    const said = own.map(({ first, second, relation }) => {
      const named = [keys.indexOf(JSON.stringify(first))];
      return { text: second, changes: [], repeats: [], beside: [], [relation]: named };
    });
    return { name: `${name} ${place}`, known: keys.map((key) => JSON.parse(key) as Known), said };
  });
}

function readStores(): { training: Store[]; aside: Store[] } {
  const notes = (readSet('note-changes', 'development') as NoteChange[]).map(({ first, second, relation }): Pair => {
    return { first: first.text, second: second.text, relation: relation === 'unrelated' ? 'beside' : relation };
  });
  const read = (name: string): Store[] => storesOf(name, readSet(name, 'development') as Pair[]);
  const training: Store[] = ['pairs', 'pairs-2', 'pairs-3'].flatMap(read);
  const aside = read('pairs-validation');
  for (const [name, count] of Object.entries(setAside)) {
    const stores = readSet(name, 'development') as Store[];
    training.push(...stores.slice(0, -count));
    aside.push(...stores.slice(-count));
  }
  return { training: [...training, ...storesOf('note-changes', notes)], aside };
}

async function embedAll(embedder: Embedder, stores: readonly Store[]): Promise<(topic: Compared['topic']) => Compared> {
  const topics = stores.flatMap(({ known, said }) => [...known, ...said.map(({ text }) => text)]).map(topicOfKnown);
  const distinct = [...new Set(topics.map(({ content }) => content))];
  const embedded = await embedder.embed(distinct);
  const found = new Map(distinct.map((content, place) => [content, embedded[place]]));
  return (topic) => {
    const { vector = new Float32Array(), tokens = null } = found.get(topic.content) ?? {};
    return { topic, vector, words: readWordVectors(topic, tokens) };
  };
}

/**
 * Compares a statement with all that a store knows, and with less: of a young store only a few are known, and where what
 * changed is not known, the nearest is none of it.
 */
function poolsOf({ known, said }: Store, place: number): Set<number>[] {
  const { changes, repeats, beside = [] } = said[place] as Store['said'][number];
  const named = new Set([...changes, ...repeats, ...beside]);
  const all = known.map((_, at) => at);
  const unnamed = all.filter((at) => !named.has(at));
  const few = unnamed.filter((at) => (at + place) % fewOf === 0);
  return [all, [...named, ...few], unnamed, few].map((pool) => new Set(pool));
}

/** A young store knows one in so many. */
const fewOf = 6;

function compareAll(
  store: Store,
  {
    fold,
    embedded,
    isWhole = false,
  }: { fold: number; embedded: (topic: Compared['topic']) => Compared; isWhole?: boolean },
): Said[] {
  const { known, said } = store;
  const candidates = known.map((one) => embedded(topicOfKnown(one)));
  return said.flatMap(({ text, changes, repeats, beside = [] }, index): Said[] => {
    const statement = embedded(topicOfKnown(text));
    const cosines = candidates.map(({ vector }) => cosineOf(vector, statement.vector));
    const ranked = candidates.map((_, place) => place).toSorted((a, b) => (cosines[b] ?? 0) - (cosines[a] ?? 0));
    const pools = poolsOf(store, index).slice(0, isWhole ? 1 : undefined);
    const examples = pools.flatMap((pool) => {
      const near = ranked
        .filter((place) => pool.has(place))
        .filter((place, rank) => rank < nearest || changes.includes(place) || repeats.includes(place));
      const inputs = inputsOf(
        near.map((place) => candidates[place] as Compared),
        statement,
      );
      return near.flatMap((place, at): Example[] => {
        const isNamed = [changes, repeats, beside].some((places) => places.includes(place));
        // Of the many others, some stand for all.
        if (!isNamed && !isWhole && (at + index) % thinning !== 0) return [];
        const outcome = changes.includes(place) ? 0 : repeats.includes(place) ? 1 : 2;
        return [{ input: inputs[at] ?? [], outcome, weight: isNamed ? 1 : thinning * unnamedWeight }];
      });
    });
    return [{ statement, tellsChange: changes.length > 0, examples, fold }];
  });
}

/** The vectors are of length 1: the values that the head sees are on the scale of the features. */
const vectorScale = 6;

function trainTells(said: readonly Said[]): RelationHead {
  const rows = said.map(({ statement, tellsChange }): Row => {
    return { input: statement.vector.map((value) => vectorScale * value), outcome: tellsChange ? 0 : 1, weight: 1 };
  });
  const { bias, weights } = trainLogistic(rows, tellsPenalty);
  return { bias, weights: weights.map((weight) => vectorScale * weight) };
}

/** Each statement is told by a head that did not see it, or the other heads would rely on it too much. */
function trainHeads(said: readonly Said[]): RelationHeads {
  const rows = Array.from({ length: folds }, (_, fold) => {
    const tells = trainTells(said.filter((one) => one.fold !== fold));
    return said.filter((one) => one.fold === fold).flatMap((one) => rowsOf(one, tells));
  }).flat();
  return { tells: trainTells(said), ...trainNet(rows) };
}

function rowsOf({ statement, examples }: Said, head: RelationHead): Row[] {
  const tells = sumOf(head, statement.vector);
  return examples.map(({ input, outcome, weight }) => ({ input: [tells, ...input], outcome, weight }));
}

/** What heads make of a statement: the likelihoods of its examples. */
interface Judged {
  examples: readonly Example[];
  changes: readonly number[];
  repeats: readonly number[];
}

function judgeAll(heads: RelationHeads, said: readonly Said[]): Judged[] {
  return said.map((one): Judged => {
    const found = rowsOf(one, heads.tells).map(({ input }) => likelihoodsOf(heads, Array.from(input)));
    return {
      examples: one.examples,
      changes: found.map(({ changes }) => changes),
      repeats: found.map(({ repeats }) => repeats),
    };
  });
}

/** For some thresholds: of what changed, the share that is found; and how many others a statement finds. */
function report(name: string, judged: readonly Judged[]): string[] {
  const line = (relation: 'changes' | 'repeats', least: number): string => {
    const outcome = relation === 'changes' ? 0 : 1;
    const all = judged.flatMap((one) =>
      one.examples.map((example, place) => {
        return { isMeant: example.outcome === outcome, isFound: (one[relation][place] ?? 0) >= least };
      }),
    );
    const meant = all.filter(({ isMeant }) => isMeant);
    const found = meant.filter(({ isFound }) => isFound).length;
    const others = all.filter(({ isMeant, isFound }) => isFound && !isMeant).length;
    const share = ((100 * found) / meant.length).toFixed(1);
    return `  ${relation} >= ${least}: ${found} of ${meant.length} (${share} %), and ${others} others of ${judged.length} statements`;
  };
  return [
    name,
    ...[0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8].map((least) => line('changes', least)),
    ...[0.4, 0.5, 0.6, 0.7, 0.8].map((least) => line('repeats', least)),
  ];
}

function writeWeights(model: string, { tells, hidden, changes, repeats }: RelationHeads): void {
  const file = join(packageRoot, 'src', 'lifecycle', 'consolidation', 'engines', 'patterns', 'relation-weights.ts');
  const heads = { tells: inThousandths(tells), hidden: hidden.map(inThousandths) };
  const data = JSON.stringify({ model, ...heads, changes: inThousandths(changes), repeats: inThousandths(repeats) });
  const note =
    '// Generated by bench/quality/consolidation/train-relations.ts from the development stores and pairs. Do not edit.';
  writeFileSync(file, `${note}\nexport const relationWeights = ${data};\n`);
}

await withEmbeddedCore(async ({ embedder }) => {
  const { training, aside } = readStores();
  const embedded = await embedAll(embedder, [...training, ...aside]);
  const said = training.flatMap((store, place) => compareAll(store, { fold: place % folds, embedded }));
  const unseen = Array.from({ length: folds }, (_, fold) => {
    const heads = trainHeads(said.filter((one) => one.fold !== fold));
    return judgeAll(
      heads,
      said.filter((one) => one.fold === fold),
    );
  }).flat();
  const heads = trainHeads(said);
  writeWeights(modelKey(embedder.model), heads);
  const ofAside = (isStore: boolean): Judged[] =>
    aside
      .filter(({ name }) => isStore !== name.startsWith('pairs'))
      .flatMap((store) => judgeAll(heads, compareAll(store, { fold: 0, embedded, isWhole: true })));
  const lines = [
    ...report(`${folds} folds of ${training.length} stores`, unseen),
    ...report('stores set aside', ofAside(true)),
    ...report('pairs set aside', ofAside(false)),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
});
