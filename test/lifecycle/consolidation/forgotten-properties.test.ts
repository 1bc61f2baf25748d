import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRows } from '../../../src/encryption/sealing.ts';
import { applyOutput } from '../../../src/lifecycle/consolidation/apply.ts';
import { patternsEngine } from '../../../src/lifecycle/consolidation/engines/patterns.ts';
import { requeueEpisodes } from '../../../src/lifecycle/consolidation/requeue.ts';
import { forgetMemory } from '../../../src/memory/forgetting/forget.ts';
import type { MemoryContext } from '../../../src/memory/context.ts';
import { findDifferences } from '../../../src/memory/history/verify.ts';
import { createTestCore, type TestCore } from '../../support/core.ts';
import { drill } from '../../support/drill.ts';
import { claimNext, observe, passSeconds } from './setup.ts';

/** As in test/memory/properties.test.ts. */
const numRuns = Number(process.env['BUTLER_PROPERTY_RUNS'] ?? drill({ sample: 4, all: 20 }));
const seed = Number(process.env['BUTLER_PROPERTY_SEED'] ?? 1);

/** What is said, and the word by which it is known. */
const statements = [
  ['User: I live in Bergen.', 'Bergen'],
  ['User: I work at Norsk Hydro.', 'Hydro'],
  ['User: My dentist is called Ekholm. The lamp is broken.', 'Ekholm'],
  ['User: I am allergic to hazelnuts.', 'hazelnut'],
] as const;

type Step = { do: 'say' | 'forget'; what: number } | { do: 'requeue' | 'consolidate' };

const what = fc.nat(statements.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('say' as const), what }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('forget' as const), what }) },
  { weight: 2, arbitrary: fc.constant({ do: 'requeue' as const }) },
  { weight: 3, arbitrary: fc.constant({ do: 'consolidate' as const }) },
);

let core: TestCore;
let tenants = 0;

beforeAll(async () => {
  core = await createTestCore();
});
afterAll(() => core.close());

class World {
  readonly #tenantId = `tenant ${++tenants}`;
  /** What was said since it was last forgotten, and what is known: as a person would expect. */
  readonly #said = new Set<number>();
  readonly known = new Set<number>();

  readonly context = (): MemoryContext => core.context({ tenantId: this.#tenantId });

  async listKnown(): Promise<Map<number, string[]>> {
    const where = { tenantId: this.#tenantId, validity: { in: ['active', 'fading'] } };
    const facts = await openRows(
      this.context(),
      await core.db.forTenant(this.#tenantId).client.fact.findMany({ where }),
    );
    const found = new Map<number, string[]>();
    for (const [place, [, word]] of statements.entries()) {
      const ids = facts.filter(({ content }) => content.includes(word)).map(({ id }) => id);
      if (ids.length > 0) found.set(place, ids);
    }
    return found;
  }

  async take(one: Step): Promise<void> {
    passSeconds(core, 60);
    if (one.do === 'say') {
      await observe({ ...core, context: this.context }, 'home', statements[one.what]?.[0] ?? '');
      this.#said.add(one.what);
    } else if (one.do === 'forget') await this.#forget(one.what);
    else if (one.do === 'requeue') await this.#requeue();
    else await this.consolidate();
  }

  async #forget(place: number): Promise<void> {
    const ids = (await this.listKnown()).get(place) ?? [];
    for (const id of ids) await forgetMemory(this.context(), { type: 'fact', id });
    if (ids.length === 0) return;
    this.known.delete(place);
    this.#said.delete(place);
  }

  async #requeue(): Promise<void> {
    const where = { tenantId: this.#tenantId, consolidationStatus: { not: 'pending' } };
    const episodes = await core.db.forTenant(this.#tenantId).client.episode.findMany({ where });
    if (episodes.length > 0) await requeueEpisodes(this.context(), { ids: episodes.map(({ id }) => id) });
  }

  async consolidate(): Promise<void> {
    const where = { tenantId: this.#tenantId, consolidationStatus: 'pending' };
    while ((await core.db.forTenant(this.#tenantId).client.episode.count({ where })) > 0) {
      const claim = await claimNext(this.context());
      const { output } = await patternsEngine.extract(this.context(), claim, new AbortController().signal);
      await applyOutput(this.context(), claim.runId, output);
    }
    for (const place of this.#said) this.known.add(place);
    this.#said.clear();
  }
}

it('what was forgotten is learned only from what is said later, however often the rest is read again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const world = new World();
      for (const one of steps) {
        await world.take(one);
        expect(new Set((await world.listKnown()).keys())).toEqual(world.known);
      }
      await world.take({ do: 'requeue' });
      await world.take({ do: 'consolidate' });
      expect(new Set((await world.listKnown()).keys())).toEqual(world.known);
      expect(await findDifferences(world.context())).toEqual([]);
    }),
    { numRuns, seed },
  );
});
