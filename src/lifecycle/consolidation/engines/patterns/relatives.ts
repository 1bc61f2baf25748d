import { listNearestKnown } from '../../../../db/queries/near-known.ts';
import type { Embedding } from '../../../../embedding/embedder.ts';
import type { MemoryContext } from '../../../../memory/context.ts';
import { expectVersions, findVersionOf } from '../../../../memory/embedding-versions.ts';
import { globalScope } from '../../../../memory/values.ts';
import { compareWords, type Likelihoods } from './compare.ts';
import type { Known } from './known.ts';
import { canJudgeRelations, cosineOf, judgeRelations, type Compared } from './relation-judge.ts';
import { countCommon, mayBeSame, mayConcern, type Topic } from './topic.ts';
import { readWordVectors } from './word-vectors.ts';

/** A known fact, and what a statement is likely to be to it. */
export interface Relative extends Likelihoods {
  readonly known: Known;
}

/** So many facts are compared with a statement: those that share most words with it, and the nearest by their vectors. */
const mostBy = { words: 6, vector: 8 };

/** Finds what a statement changes or repeats. Embeds each text once. */
export class Relatives {
  readonly #context: MemoryContext;
  readonly #butler: string;
  readonly #embedded = new Map<string, Embedding>();

  constructor(context: MemoryContext, butler: string) {
    this.#context = context;
    this.#butler = butler;
  }

  /** A fact of a later day is compared the other way round: it may have replaced what is said. */
  async compare(pool: readonly Known[], said: Topic, at: Date): Promise<Relative[]> {
    if (!canJudgeRelations(this.#context.embedder)) {
      const alike = pool.filter(({ topic }) => mayBeSame(topic, said));
      return nearestByWords(alike, said).map((known) => {
        const [older, newer] = known.since > at ? [said, known.topic] : [known.topic, said];
        return { known, ...compareWords(older, newer) };
      });
    }
    const alike = pool.filter(({ topic }) => mayConcern(topic, said));
    const likely = new Set([...nearestByWords(alike, said), ...(await this.#nearestByVector(alike, said))]);
    await this.#embed([said, ...[...likely].map(({ topic }) => topic)]);
    const candidates = [...likely].map(({ topic, since }) => ({ ...this.#compared(topic), isLater: since > at }));
    const judged = judgeRelations(candidates, this.#compared(said));
    return [...likely].flatMap((known, place) => {
      const likelihoods = judged[place];
      return likelihoods === undefined ? [] : { known, ...likelihoods };
    });
  }

  async #nearestByVector(alike: readonly Known[], said: Topic): Promise<Known[]> {
    const versions = await expectVersions(this.#context);
    const version = findVersionOf(versions, this.#context.embedder.model);
    await this.#embed([said]);
    const { vector } = this.#compared(said);
    const scopes = [globalScope, this.#butler];
    const near =
      version === undefined
        ? []
        : await listNearestKnown(this.#context.db.client, { vector, version, scopes, limit: 2 * mostBy.vector });
    const stored = new Map(alike.map((known) => [known.id, known]));
    const found = near.flatMap((id) => stored.get(id) ?? []).slice(0, mostBy.vector);
    return [...found, ...this.#nearestOfClaim(alike, vector)];
  }

  /** What the claim itself says is not stored yet; its vectors were made when it was compared. */
  #nearestOfClaim(alike: readonly Known[], vector: Float32Array): Known[] {
    return alike
      .filter(({ isStored }) => !isStored)
      .map((known) => ({ known, cosine: cosineOf(this.#compared(known.topic).vector, vector) }))
      .toSorted((a, b) => b.cosine - a.cosine)
      .slice(0, mostBy.vector)
      .map(({ known }) => known);
  }

  async #embed(topics: readonly Topic[]): Promise<void> {
    const contents = [...new Set(topics.map(({ content }) => content))];
    const lacking = contents.filter((content) => !this.#embedded.has(content) && content.trim() !== '');
    const embedded = lacking.length === 0 ? [] : await this.#context.embedder.embed(lacking);
    for (const [place, content] of lacking.entries()) this.#embedded.set(content, embedded[place] ?? blank);
  }

  #compared(topic: Topic): Compared {
    const { vector, tokens } = this.#embedded.get(topic.content) ?? blank;
    return { topic, vector, words: readWordVectors(topic, tokens) };
  }
}

/** What a blank text is taken for: the model embeds none. */
const blank: Embedding = { vector: new Float32Array(), tokens: null };

/** Rare words tell more: each counts by how few of the facts have it. */
function nearestByWords(pool: readonly Known[], said: Topic): Known[] {
  const counts = new Map(
    [...said.words].map((word) => [word, pool.filter(({ topic }) => topic.words.has(word)).length]),
  );
  const score = (topic: Topic): number =>
    [...said.words].reduce((sum, word) => sum + (topic.words.has(word) ? 1 / (counts.get(word) ?? 1) : 0), 0);
  return pool
    .map((known) => ({ known, score: score(known.topic), values: countCommon(known.topic.names, said.names) }))
    .filter((one) => one.score > 0)
    .toSorted((a, b) => b.score - a.score || b.values - a.values)
    .slice(0, mostBy.words)
    .map(({ known }) => known);
}
