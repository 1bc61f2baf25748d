import { expect, it } from 'vitest';
import { requestGraphQL } from '../support/graphql-request.ts';
import { useRetrieval } from './setup.ts';
import { storeFact } from '../support/writes.ts';

const retrieval = useRetrieval();

const ask = async <T>(document: string, variables: Record<string, unknown> = {}): Promise<T> => {
  const { data, errors } = await requestGraphQL(
    (request) => retrieval.app.app.fetch(request),
    'http://localhost',
    document,
    variables,
  );
  expect(errors).toBeUndefined();
  return data as T;
};

interface Batch {
  batch: { answers: { query: string; receiptId: string | null; results: { uuid: string; score: number }[] }[] };
}

const answers = 'answers { query receiptId results { uuid score } }';

it('answers several searches or recalls at once, in their order and as each alone', async () => {
  const context = retrieval.context();
  const tea = await storeFact(context, { subject: 'guest', predicate: 'drink', content: 'green tea' });
  const soup = await storeFact(context, { subject: 'guest', predicate: 'meal', content: 'leek soup' });
  const searches = await ask<Batch>(
    `{ batch: searchBatch(inputs: [{ query: "soup" }, { query: "tea" }]) { ${answers} } }`,
  );
  const recalls = await ask<Batch>(
    `{ batch: recallBatch(inputs: [{ topic: "soup" }, { topic: "tea" }]) { ${answers} } }`,
  );
  const alone = await ask<{ search: unknown }>(
    '{ search(input: { query: "soup" }) { query receiptId results { uuid score } } }',
  );

  expect(searches.batch.answers.map(({ results }) => results[0]?.uuid)).toEqual([soup.id, tea.id]);
  expect(searches.batch.answers[0]).toEqual(alone.search);
  expect(recalls.batch.answers.map(({ results }) => results[0]?.uuid)).toEqual([soup.id, tea.id]);
  expect(new Set(recalls.batch.answers.map(({ receiptId }) => receiptId)).size).toBe(2);
});

it('shows memories as of a moment, with the confidence of then, and counts no reference for it', async () => {
  const context = retrieval.context();
  const asOf = new Date(context.now().getTime() + 5 * 86_400_000);
  const fact = { subject: 'owner', predicate: 'city', permanence: 'stable' };
  const first = await storeFact(context, { ...fact, content: 'Lisbon' });
  const document = `query ($asOf: DateTime) {
    recall(input: { topic: "owner city", asOf: $asOf }) {
      results { uuid effectiveConfidence memory { ... on Fact { content validity } } }
    }
  }`;
  const { recall } = await retrieval.after(20, async () => {
    await storeFact(context, { ...fact, content: 'Porto' });
    return ask<{ recall: { results: unknown[] } }>(document, { asOf });
  });
  await retrieval.app.app.stop();
  const row = await context.db.client.fact.findFirstOrThrow({
    where: { tenantId: context.principal.tenantId, id: first.id },
  });

  expect(recall.results).toEqual([
    {
      uuid: first.id,
      effectiveConfidence: expect.closeTo(Math.exp(-0.002 * 5), 9),
      memory: { content: 'Lisbon', validity: 'active' },
    },
  ]);
  expect(row.referenceCount).toBe(0);
});

it('keeps the moment in the receipt, tells it and replays what was shown as of it', async () => {
  const context = retrieval.context();
  const asOf = new Date(context.now().getTime() + 5 * 86_400_000);
  const fact = { subject: 'gardener', predicate: 'allotment', permanence: 'stable' };
  const first = await storeFact(context, { ...fact, content: 'Braga' });
  const replayed = await retrieval.after(20, async () => {
    await storeFact(context, { ...fact, content: 'Faro' });
    const { recall } = await ask<{ recall: { receiptId: string } }>(
      'query ($asOf: DateTime) { recall(input: { topic: "gardener allotment", asOf: $asOf }) { receiptId } }',
      { asOf },
    );
    return ask<Record<string, unknown>>(
      `query ($id: String!) {
        replay(receiptId: $id) { isExact receipt { asOf } memories { uuid ... on Fact { content effectiveConfidence } } }
        explain(input: { receiptId: $id }) { account }
      }`,
      { id: recall.receiptId },
    );
  });

  expect(replayed).toMatchObject({
    replay: {
      isExact: true,
      receipt: { asOf: asOf.toISOString() },
      memories: [{ uuid: first.id, content: 'Braga', effectiveConfidence: expect.closeTo(Math.exp(-0.002 * 5), 9) }],
    },
    explain: { account: expect.stringContaining(`as of ${asOf.toISOString()}`) },
  });
});

it('explains a memory as of a moment, and refuses that for a context', async () => {
  const context = retrieval.context();
  const asOf = new Date(context.now().getTime() + 86_400_000);
  const { id } = await storeFact(context, { subject: 'cook', predicate: 'city', content: 'Tavira' });
  const explain = (kind: string): Promise<{ data?: unknown; errors?: { message: string }[] }> =>
    requestGraphQL(
      (request) => retrieval.app.app.fetch(request),
      'http://localhost',
      `query ($input: ExplainInput!) { explain(input: $input) { memory { came } } }`,
      { input: { query: 'cook city', type: 'fact', id, kind, scope: 'home', asOf } },
    );

  expect(await retrieval.after(3, () => explain('recall'))).toMatchObject({
    data: { explain: { memory: { came: true } } },
  });
  expect((await explain('context')).errors?.[0]?.message).toContain('as_of');
});
