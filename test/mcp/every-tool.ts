import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { expect } from 'vitest';
import { tools } from '../../src/mcp/tools/tools.ts';

type Arguments = Record<string, unknown>;

/** What the calls before answered, by the tool that was called. */
type Answers = Record<string, Record<string, unknown>>;

const referenceTo = (type: string, answers: Answers): Arguments => ({
  type,
  id: answers[`memory_store_${type}`]?.['id'],
});

/** The event of the last change that a history tells of. */
function lastEventOf({ memory_history: history }: Answers): unknown {
  const versions = history?.['versions'] as { event: { id: string } }[];
  return versions.at(-1)?.event.id;
}

/** One good call of every tool, in an order in which each finds what it needs. */
const calls: [name: string, given: (answers: Answers) => Arguments][] = [
  ['memory_store_episode', () => ({ content: 'User asked for tea', butler: 'general' })],
  [
    'memory_store_fact',
    () => ({ subject: 'user', predicate: 'drinks', content: 'User drinks tea', tags: '["drink"]' }),
  ],
  ['memory_store_rule', () => ({ content: 'Offer tea before coffee' })],
  ['memory_store', () => ({ content: 'The kettle is new' })],
  ['memory_ingest_batch', () => ({ episodes: '[{"content": "User asked for milk", "butler": "general"}]' })],
  ['memory_get', (answers) => referenceTo('fact', answers)],
  ['memory_search', () => ({ query: 'tea', types: '["fact", "rule"]', limit: '5' })],
  ['memory_recall', () => ({ topic: 'tea' })],
  ['memory_explain', ({ memory_recall: recall }) => ({ receipt_id: recall?.['receipt_id'] })],
  ['memory_context', () => ({ trigger_prompt: 'Serve a drink', butler: 'general', token_budget: '500' })],
  ['memory_context_batch', () => ({ requests: '[{"trigger_prompt": "Serve a drink", "butler": "general"}]' })],
  ['memory_confirm', (answers) => referenceTo('fact', answers)],
  ['memory_mark_helpful', (answers) => ({ rule_id: referenceTo('rule', answers)['id'] })],
  ['memory_mark_harmful', (answers) => ({ rule_id: referenceTo('rule', answers)['id'], reason: 'There was no tea' })],
  ['memory_forget', (answers) => referenceTo('episode', answers)],
  ['memory_restore', (answers) => referenceTo('episode', answers)],
  ['memory_history', (answers) => referenceTo('episode', answers)],
  ['memory_undo', (answers) => ({ event_id: lastEventOf(answers) })],
  ['memory_stats', () => ({})],
  ['memory_activity_stream', () => ({ limit: 5 })],
  ['memory_health', () => ({})],
  ['memory_consolidation_claim', () => ({ butler: 'general', limit: '5' })],
  [
    'memory_consolidation_submit',
    ({ memory_consolidation_claim: claim }) => ({
      run_id: (claim?.['run'] as { id: string } | undefined)?.id,
      output: '{"new_facts": []}',
    }),
  ],
  ['memory_consolidation_requeue', () => ({ status: 'consolidated', engine: 'agent' })],
];

/**
 * Lists the tools, so that the client knows their output schemas and holds every answer to them, then calls each. Fails
 * when one refuses, or when one is missing here.
 */
export async function callEveryTool(client: Client): Promise<void> {
  const listed = (await client.listTools()).tools;
  expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  expect(calls.map(([name]) => name).toSorted()).toEqual(listed.map(({ name }) => name).toSorted());
  const answers: Answers = {};
  for (const [name, given] of calls) {
    const answer = await client.callTool({ name, arguments: given(answers) });
    expect(answer, name).not.toHaveProperty('isError');
    const result = answer.structuredContent as Record<string, unknown>;
    const { outputSchema } = listed.find((tool) => tool.name === name) ?? {};
    expect(Object.keys(outputSchema?.properties ?? {}), name).toEqual(expect.arrayContaining(Object.keys(result)));
    answers[name] = result;
  }
}
