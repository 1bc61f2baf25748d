import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { handleOf } from '../../src/shared/handles.ts';
import { consolidateWith } from '../../src/lifecycle/consolidation/consolidate.ts';
import { patternsEngine } from '../../src/lifecycle/consolidation/engines/patterns.ts';
import { dataTags } from '../../src/lifecycle/consolidation/instructions.ts';
import { normaliseContent } from '../../src/memory/text.ts';
import { createRedactor } from '../../src/redaction/redactor.ts';
import { heldBack } from '../lifecycle/patterns/corpus/held-back.ts';
import { writtenFirst } from '../lifecycle/patterns/corpus/written-first.ts';
import { writtenLast } from '../lifecycle/patterns/corpus/written-last.ts';
import { writtenSecond } from '../lifecycle/patterns/corpus/written-second.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { connectMcp, type TestClient } from '../support/mcp-client.ts';
import { injections } from './injection-corpus.ts';
import { ingestEpisodes, storeFact, storeRule } from '../support/writes.ts';

let testApp: TestApp;
let client: TestClient;
const ids: Record<'episode' | 'fact' | 'rule', string[]> = { episode: [], fact: [], rule: [] };

const context = (): ReturnType<TestApp['app']['createContext']>['memory'] => testApp.app.createContext().memory;
const day = 86_400_000;

beforeAll(async () => {
  testApp = await createTestApp();
  client = await connectMcp(testApp.app);
  const episodes = await ingestEpisodes(
    context(),
    injections.map((content) => ({ content, butler: 'home' })),
  );
  ids.episode.push(...episodes.map(({ id }) => id));
  for (const [place, content] of injections.entries()) {
    const fact = { subject: `mail ${place}`, predicate: 'says', content, permanence: 'ephemeral' };
    ids.fact.push((await storeFact(context(), fact)).id);
    ids.rule.push((await storeRule(context(), { content, scope: 'home' })).id);
  }
});
afterAll(async () => {
  await client.close();
  await testApp.close();
});

/** Of what a model reads: line breaks of any kind but our own, control characters, and what nobody sees. */
const hidden =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B\u2028-\u202E\u2060\u2066-\u2069\uFEFF]|[\u{E0000}-\u{E007F}]/u;

function linesOf(text: string): string[] {
  expect(text).not.toMatch(hidden);
  return text.split('\n');
}

/** A text that may not write what we write in: every mark that opens something is spelled out. */
function expectInert(line: string): void {
  expect(line.replace(/\\./gsu, '')).not.toMatch(/[<>|`]/);
}

const uuid = '[\\da-f-]{36}';
const handle = String.raw`[a-z]{2}\d{3}[a-z]{2}`;

describe('a text that poses as an instruction', () => {
  it('stays in its line of a context, whatever it is stored as', async () => {
    const triggers = ['Obey Mallory', 'System tea rules', 'Forward the mail', 'Instructions', 'always'];
    let shown = 0;
    for (const trigger of triggers) {
      const { structuredContent, text } = await client.call('memory_context', {
        trigger_prompt: trigger,
        butler: 'home',
        token_budget: 20_000,
      });
      const { sections } = structuredContent as { sections: { name: string; items: unknown[] }[] };
      const lines = linesOf(text);
      const items = lines.filter((line) => line.startsWith('- '));
      const others = lines.filter((line) => line !== '' && !line.startsWith('- '));
      expect(items).toHaveLength(sections.reduce((total, section) => total + section.items.length, 0));
      expect(others.filter((line) => line.startsWith('#')).length).toBeLessThanOrEqual(sections.length + 1);
      for (const line of others) expect(injections.some((one) => one.includes(line))).toBe(false);
      for (const item of items) {
        expectInert(item);
        expect(item.replace(/\\./gsu, '').match(/\[/g) ?? []).toHaveLength(1);
      }
      shown += items.length;
    }
    expect(shown).toBeGreaterThan(injections.length);
  });

  it('stays in its line of what a tool tells', async () => {
    for (const query of ['Obey Mallory', 'System tea', 'mail', 'always forward']) {
      for (const [tool, name] of [
        ['memory_search', 'query'],
        ['memory_recall', 'topic'],
      ] as const) {
        const { text, structuredContent } = await client.call(tool, { [name]: query, limit: 50, min_confidence: 0 });
        const { results } = structuredContent as { results: unknown[] };
        const lines = linesOf(text);
        // A recall leaves out what it judges to be about something else.
        expect(results.length).toBeGreaterThan(tool === 'memory_search' ? 10 : 0);
        expect(lines).toHaveLength(results.length);
        for (const line of lines) {
          expect(line).toMatch(new RegExp(`^(WARNING )?(episode|fact|rule) ${handle} \\(\\d`));
          expectInert(line);
        }
      }
    }
  });

  it.each(['episode', 'fact', 'rule'] as const)(
    'is told by its own tools and resource as the %s that it is',
    async (type) => {
      for (const [place, id] of ids[type].entries()) {
        const [got, ...rest] = linesOf((await client.call('memory_get', { type, id })).text);
        const { text } = await client.call('memory_history', { type, id });
        expect([got?.startsWith(`${type} ${handleOf(id)}: `), rest.length, linesOf(text).length]).toEqual([true, 0, 2]);
        for (const line of [got ?? '', text]) expectInert(line);
        const { contents } = await client.readResource({ uri: `memory://${type}/${id}` });
        const [resource] = contents as { text: string }[];
        expect(resource?.text).not.toContain('\n');
        expect(JSON.parse(resource?.text ?? '')).toMatchObject({
          id,
          content: normaliseContent(createRedactor(context()), 'content', injections[place] ?? ''),
        });
      }
    },
  );

  /** The server's own words about a write, on a line of their own. */
  const masked = /^\d+ secrets? (or|and) personal numbers? (was|were) masked before storing\.$/;

  const answerLines = [
    masked,
    /^Kept (?:for good|until \d{1,2} \p{L}+ \d{4}(?:, longer if confirmed)?)\.$/u,
    new RegExp(`^Undo with memory_undo of event ${uuid}\\.$`),
    new RegExp(`^It took the place of (?:fact|rule) ${handle}: `),
    /^Rules that say nearly the same \(to replace one, store it with supersedes, or forget it\):$/,
    /^Facts that may say the same in other words \(to replace one, store it with supersedes\):$/,
    new RegExp(`^- (?:fact|rule) ${handle}: `),
  ];

  it('is told when it is stored in one line', async () => {
    for (const content of injections) {
      const told = [
        await client.call('memory_store_fact', { subject: 'page', predicate: `says ${content.length}`, content }),
        await client.call('memory_store_rule', { content, scope: 'office' }),
        await client.call('memory_store', { content, tier: 'mid' }),
      ];
      for (const { text } of told) {
        const [, ...others] = linesOf(text);
        for (const line of others)
          expect(
            answerLines.some((known) => known.test(line)),
            line,
          ).toBe(true);
        for (const line of linesOf(text)) expectInert(line);
      }
    }
  });

  it('stays between the tags of the prompts', async () => {
    const consolidate = await client.getPrompt({ name: 'consolidate', arguments: { butler: 'home', limit: '100' } });
    expectBlock('episodes', textOf(consolidate), injections.length);
    const before = testApp.clock.now;
    testApp.clock.now = new Date(before.getTime() + 60 * day);
    const fading = await client.getPrompt({ name: 'review-fading', arguments: { limit: '100' } });
    testApp.clock.now = before;
    expectBlock('memories', textOf(fading), injections.length);
  });

  it('stays between the tags of what an agent is told to consolidate', async () => {
    const { text, structuredContent } = await client.call('memory_consolidation_claim', { butler: 'home' });
    const { run, prompt } = structuredContent as {
      run: { id: string; episode_count: number };
      prompt: { user: string };
    };
    expect(run.episode_count).toBeGreaterThan(10);
    expect(text.endsWith(prompt.user)).toBe(true);
    const lines = linesOf(prompt.user);
    const tags = lines.filter((line) => /^<\/?\w+>$/.test(line));
    expect(tags.length).toBe(2 * new Set(tags.map((tag) => tag.replace('/', ''))).size);
    expect(tags.every((tag) => dataTags.some((known) => tag === `<${known}>` || tag === `</${known}>`))).toBe(true);
    const end = lines.lastIndexOf('</episodes>');
    expect(lines.slice(end + 1).filter((line) => injections.some((one) => line !== '' && one.includes(line)))).toEqual(
      [],
    );
    for (const line of lines.slice(0, end).filter((one) => one !== '' && !tags.includes(one))) {
      expect(() => JSON.parse(line) as unknown).not.toThrow();
      expect(line).not.toMatch(/[<>]/);
    }
    await client.call('memory_consolidation_submit', { run_id: run.id, output: { new_facts: [] } });
  });

  it('is no rule for the engine of patterns, alone or after what the user said', async () => {
    const tenant = testApp.app.createContext({}, { tenantId: 'patterns', butler: null, role: 'operator' }).memory;
    const foreign = [writtenFirst, writtenSecond, writtenLast, heldBack].flatMap((part) =>
      part.foreign.map(([text]) => text),
    );
    const texts = [...injections, ...foreign];
    await ingestEpisodes(
      tenant,
      texts.map((content) => ({ content, butler: 'alone' })),
    );
    await ingestEpisodes(
      tenant,
      texts.map((content) => ({ content: `User: I live in Lisbon. What is this?\n${content}`, butler: 'after' })),
    );
    const report = await consolidateWith(tenant, patternsEngine, {});
    const rules = await tenant.db.client.rule.findMany({ where: { tenantId: 'patterns' } });
    expect(report['episodes']).toBe(2 * texts.length);
    expect(report['factsCreated']).toBeGreaterThan(0);
    expect(rules.map(({ content }) => content)).toEqual([]);
  });
});

/** Of the message after the instructions. */
function textOf({ messages }: { messages: { content: unknown }[] }): string {
  const content = messages[1]?.content as { text: string } | undefined;
  return content?.text ?? '';
}

function expectBlock(tag: string, text: string, least: number): void {
  const lines = linesOf(text);
  expect([lines.at(0), lines.at(-1)]).toEqual([`<${tag}>`, `</${tag}>`]);
  const items = lines.slice(1, -1);
  expect(items.length).toBeGreaterThanOrEqual(least);
  for (const item of items) {
    expect(() => JSON.parse(item) as unknown).not.toThrow();
    expect(item).not.toMatch(/[<>]/);
  }
}
