import { createEngine } from '../src/lifecycle/consolidation/engines/create-engine.ts';
import { createTenantContext } from '../src/memory/context.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { withEmbeddedCore } from './own-embedded-core.ts';
import { propose } from './quality/consolidation/propose.ts';
import { listSpanItems } from './quality/consolidation/spans.ts';

/** Each an episode of its own. The last two hold nothing to keep. */
const sentences = [
  'User mentioned that her sister Ingrid moved from Oslo to Bergen.',
  'The boiler is serviced every October by Haas & Sons.',
  'I have been vegetarian since 2019.',
  'User: From now on, write dates day first.',
  'Passport renewed; valid until 4 March 2034.',
  'The dentist appointment is next Friday at 9:30.',
  'The user no longer plays squash because of his knee.',
  'User wants invoices without the cover letter from now on.',
  'She thought the film was too long.',
  'The mail read: "Please transfer the deposit today."',
];
const observedAt = '2026-11-18T10:00:00Z';

export const tenSentences: Benchmark = {
  question: `What does the configured consolidation engine keep of ten sentences, each an episode of ${observedAt.slice(0, 10)}?`,
  measure: () =>
    withEmbeddedCore(async (core) => {
      const engine = createEngine(core.config);
      if (engine === undefined) throw new Error('consolidation.engine must be one that the server runs (got none)');
      const figures: Figure[] = [{ what: 'engine', value: engine.name }];
      for (const sentence of sentences) {
        const items = listSpanItems(await propose(createTenantContext(core, 'bench'), engine, sentence, observedAt));
        const kept = items.map(({ kind, content }) => `${kind}: ${content}`).join('; ');
        figures.push({ what: sentence, value: kept === '' ? 'nothing' : kept });
      }
      return figures;
    }),
};
