import { it } from 'vitest';
import { storeEpisode } from '../../src/memory/episodes.ts';
import { storeFact } from '../../src/memory/facts.ts';
import { storeRule } from '../../src/memory/rules.ts';
import { buildContext } from '../../src/retrieval/context.ts';
import { getReceipt } from '../../src/retrieval/receipts.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { useRetrieval } from './setup.ts';

const retrieval = useRetrieval();
it('measures', async () => {
  const context = retrieval.context();
  await storeFact(context, { subject: 'seed', predicate: 'seed', content: 'tea' });
  await storeRule(context, { content: 'tea' });
  await storeEpisode(context, { butler: 'health', content: 'tea' });
  await context.db.asOwner(async (client) => {
    const words = `(ARRAY['tea','coffee','milk','sugar','garden','chess','music','train','doctor','morning','evening','friend','report','invoice','travel','hotel','window','paper','winter','summer','bread','cheese','river','mountain'])`;
    const text = `(SELECT string_agg(${words}[1+floor(random()*24+0*w)::int], ' ') FROM generate_series(1,10+0*g) w)`;
    const vec = `(SELECT ('['||string_agg((random()-0.5+0*w)::text, ',')||']')::vector FROM generate_series(1,384+0*g) w)`;
    for (const [table, extra, values] of [
      ['facts', 'subject, predicate, recorded_at, last_confirmed_at', `'s'||g, 'p'||g, now(), now()`],
      ['rules', 'scope, last_confirmed_at', `'global', now()`],
      ['episodes', 'butler, expires_at', `'health', now() + interval '900 days'`],
    ] as const) {
      await client.query(`INSERT INTO ${table} (tenant_id, id, content, created_at, embedding, embedding_version_id, ${extra})
        SELECT 'default', gen_random_uuid(), ${text}, '2026-02-20'::timestamptz + g * interval '1 second', ${vec}, (SELECT embedding_version_id FROM ${table} WHERE embedding_version_id IS NOT NULL LIMIT 1), ${values}
        FROM generate_series(1, ${table === 'facts' ? 1000 : 300}) g`);
      await client.query(`ANALYZE ${table}`);
    }
  });
  const time = async (name: string, work: () => Promise<unknown>) => {
    const all: number[] = [];
    for (let i = 0; i < 30; i += 1) { const t = performance.now(); await work(); all.push(performance.now() - t); }
    all.sort((a, b) => a - b);
    console.log(name, 'first..', all[0]?.toFixed(1), 'median', all[15]?.toFixed(1), 'p95', all[28]?.toFixed(1));
  };
  await time('recall 20', () => recallMemories(context, { topic: 'tea in the garden with a friend', scope: 'health' }));
  await time('recall 100', () => recallMemories(context, { topic: 'tea in the garden with a friend', scope: 'health', limit: 100 }));
  await time('context', () => buildContext(context, { triggerPrompt: 'tea in the garden with a friend', butler: 'health' }));
  const o = await buildContext(context, { triggerPrompt: 'tea in the garden with a friend', butler: 'health' });
  const r = await getReceipt(context, o.receiptId);
  console.log(o.tokensUsed, o.sections.map((s) => s.items.length), JSON.stringify(r.stageMilliseconds), r.candidates.length, r.dropped.length, JSON.stringify(r.droppedUnnamed));
  const { keepReceipts } = await import('../../src/retrieval/receipts.ts');
  const { assembleContext } = await import('../../src/retrieval/context.ts');
  const a = await assembleContext(context, { triggerPrompt: 'tea in the garden with a friend', butler: 'health' });
  await time('assemble', () => assembleContext(context, { triggerPrompt: 'tea in the garden with a friend', butler: 'health' }));
  const draft = { kind: 'context' as const, butler: 'health', sessionId: null, query: 'x', intent: null, candidates: a.candidates, shown: [], dropped: a.dropped, tokenBudget: 1, tokensUsed: 1, tokenizer: 'x', milliseconds: {}, at: new Date() };
  await time('keep', () => keepReceipts(context, [draft]));
  await time('keep empty', () => keepReceipts(context, [{ ...draft, candidates: [], dropped: [] }]));
  await time('select 1', () => context.db.tenant('default').$queryRawUnsafe('SELECT 1'));
  console.log(JSON.stringify(r.candidates).length, JSON.stringify(r.dropped).length, JSON.stringify(r.chosen).length);
  await time('context 0', () => buildContext(context, { triggerPrompt: 'tea in the garden with a friend', butler: 'health', tokenBudget: 0 }));
}, 300_000);
