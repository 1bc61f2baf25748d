import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FactValidity } from '../../src/memory/facts/fact-values.ts';
import { createGuardedApp, type TestApp } from '../support/app.ts';
import { enrol, throughEveryDoor, type Caller, type Door, type MatchView } from './doors.ts';

describe('what was forgotten', () => {
  let testApp: TestApp;
  let operator: Caller;
  let butler: Caller;
  let names = 0;

  beforeAll(async () => {
    testApp = await createGuardedApp();
    operator = await enrol(testApp, { tenantId: 'house', role: 'operator', butler: null });
    butler = await enrol(testApp, { tenantId: 'house', role: 'butler', butler: 'alfred' });
  });
  afterAll(() => testApp.close());

  throughEveryDoor((open) => {
    let byOperator: Door;
    let byButler: Door;
    let word: string;

    beforeEach(async () => {
      byOperator = await open(testApp, operator);
      byButler = await open(testApp, butler);
      word = `umbrella${++names}`;
    });
    afterEach(() => Promise.all([byOperator.close(), byButler.close()]));

    const forgetFactAndRule = async (): Promise<void> => {
      const fact = await byOperator.storeFact({ subject: 'user', predicate: word, content: `lost the ${word}` });
      const rule = await byOperator.storeRule({ content: `Dry the ${word}` });
      await byOperator.storeFact({ subject: 'user', predicate: `new ${word}`, content: `bought the ${word}` });
      await byOperator.forgetMemory({ type: 'fact', id: fact.id });
      await byOperator.forgetMemory({ type: 'rule', id: rule.id });
    };
    /** By meaning, a search also finds what other tests stored. */
    const contentsOf = (found: MatchView[]): string[] =>
      found
        .map(({ content }) => content as string)
        .filter((content) => content.endsWith(word))
        .toSorted();

    it.each(['retracted', 'forgotten'])(
      'is found by an operator who asks for %s, and for nothing else',
      async (name) => {
        await forgetFactAndRule();
        const validity = [name as FactValidity];
        const gone = [`Dry the ${word}`, `lost the ${word}`];

        for (const mode of ['hybrid', 'keyword', 'semantic'] as const) {
          const found = await byOperator.search({ query: word, validity, mode });
          expect(contentsOf(found)).toEqual(gone);
          expect(found.map((one) => one['validity'])).toEqual(found.map(() => 'retracted'));
        }
        expect(contentsOf(await byOperator.recall({ topic: word, validity }))).toEqual(gone);
        expect(contentsOf(await byOperator.search({ query: word, mode: 'keyword' }))).toEqual([`bought the ${word}`]);
        expect(
          contentsOf(await byOperator.search({ query: word, mode: 'keyword', validity: ['active', ...validity] })),
        ).toEqual([...gone, `bought the ${word}`].toSorted());
      },
    );

    it.each(['retracted', 'forgotten'])(
      'is refused to a butler who asks for %s, with the role that may',
      async (name) => {
        await forgetFactAndRule();
        const validity = ['active', name as FactValidity] as const;
        const refusal = {
          code: 'FORBIDDEN',
          message: expect.stringMatching(/^validity must not contain retracted.*operator/) as string,
        };

        await expect(byButler.search({ query: word, validity })).rejects.toMatchObject(refusal);
        await expect(byButler.recall({ topic: word, validity })).rejects.toMatchObject(refusal);
        expect(contentsOf(await byButler.search({ query: word, mode: 'keyword' }))).toEqual([`bought the ${word}`]);
      },
    );
  });
});
