import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { buildInputSchema } from '../../src/mcp/bridge/json-schema.ts';
import { bindTools } from '../../src/mcp/server.ts';
import { tools } from '../../src/mcp/tools/tools.ts';
import { packageRoot } from '../../src/shared/package-root.ts';
import { toolGroups } from '../../src/config/tool-groups.ts';

const page = readFileSync(join(packageRoot, 'docs', 'mcp.md'), 'utf8');

const oneMemory = {
  arguments: { id: 'string', idempotency_key: 'string', type: 'string' },
  required: ['id', 'type'],
};
const oneRule = {
  arguments: {
    evidence: 'object',
    idempotency_key: 'string',
    reason: 'string',
    rule_id: 'string',
    session_id: 'string',
  },
  required: ['rule_id'],
};

const retrieval = {
  as_of: 'string',
  valid_at: 'string',
  butler: 'string',
  from: 'string',
  generation: 'array',
  limit: 'integer',
  maturity: 'array',
  min_confidence: 'number',
  mode: 'string',
  permanence: 'array',
  predicate: 'string',
  scope: 'string',
  session_id: 'string',
  subject: 'string',
  tags: 'array',
  to: 'string',
  types: 'array',
  validity: 'array',
};

/** The public surface. Whoever changes it changes it for every agent there is, so it is written out here. */
const surface: Record<string, { arguments: Record<string, string>; required: string[]; isReadOnly: boolean }> = {
  memory_store_episode: {
    arguments: {
      butler: 'string',
      content: 'string',
      idempotency_key: 'string',
      importance: 'number',
      metadata: 'object',
      observed_at: 'string',
      segments: 'array',
      session_id: 'string',
      tags: 'array',
    },
    required: ['content'],
    isReadOnly: false,
  },
  memory_store_fact: {
    arguments: {
      confidence: 'number',
      content: 'string',
      idempotency_key: 'string',
      importance: 'number',
      kind: 'string',
      metadata: 'object',
      observed_at: 'string',
      permanence: 'string',
      predicate: 'string',
      scope: 'string',
      several: 'boolean',
      source_butler: 'string',
      source_episode_id: 'string',
      subject: 'string',
      supersedes: 'string',
      tags: 'array',
      valid_from: 'string',
      valid_to: 'string',
    },
    required: ['content', 'predicate', 'subject'],
    isReadOnly: false,
  },
  memory_store_rule: {
    arguments: {
      asked_by_user: 'boolean',
      content: 'string',
      idempotency_key: 'string',
      importance: 'number',
      metadata: 'object',
      scope: 'string',
      source_butler: 'string',
      source_episode_id: 'string',
      supersedes: 'string',
      tags: 'array',
    },
    required: ['content'],
    isReadOnly: false,
  },
  memory_get: {
    arguments: { id: 'string', session_id: 'string', type: 'string' },
    required: ['id'],
    isReadOnly: true,
  },
  memory_confirm: { ...oneMemory, isReadOnly: false },
  memory_forget: {
    arguments: { ...oneMemory.arguments, about: 'string', confirm: 'boolean', sources: 'boolean' },
    required: [],
    isReadOnly: false,
  },
  memory_restore: { ...oneMemory, isReadOnly: false },
  memory_mark_helpful: { ...oneRule, isReadOnly: false },
  memory_mark_harmful: { ...oneRule, isReadOnly: false },
  memory_store: {
    arguments: { content: 'string', idempotency_key: 'string', supersedes: 'string', tags: 'array', tier: 'string' },
    required: ['content'],
    isReadOnly: false,
  },
  memory_ingest_batch: { arguments: { episodes: 'array' }, required: ['episodes'], isReadOnly: false },
  memory_undo: {
    arguments: { event_id: 'string', idempotency_key: 'string' },
    required: ['event_id'],
    isReadOnly: false,
  },
  memory_history: { arguments: { id: 'string', type: 'string' }, required: ['id', 'type'], isReadOnly: true },
  memory_stats: { arguments: { scope: 'string' }, required: [], isReadOnly: true },
  memory_activity_stream: {
    arguments: { limit: 'integer', scope: 'string', since: 'string' },
    required: [],
    isReadOnly: true,
  },
  memory_search: { arguments: { query: 'string', ...retrieval }, required: ['query'], isReadOnly: true },
  memory_recall: { arguments: { topic: 'string', ...retrieval }, required: ['topic'], isReadOnly: true },
  memory_context: {
    arguments: {
      butler: 'string',
      include_episodes: 'boolean',
      session_id: 'string',
      token_budget: 'integer',
      trigger_prompt: 'string',
    },
    required: ['butler', 'trigger_prompt'],
    isReadOnly: true,
  },
  memory_context_batch: { arguments: { requests: 'array' }, required: ['requests'], isReadOnly: true },
  memory_explain: {
    arguments: {
      as_of: 'string',
      id: 'string',
      kind: 'string',
      limit: 'integer',
      query: 'string',
      receipt_id: 'string',
      scope: 'string',
      token_budget: 'integer',
      type: 'string',
      types: 'array',
    },
    required: [],
    isReadOnly: true,
  },
  memory_health: { arguments: {}, required: [], isReadOnly: true },
  memory_consolidation_claim: {
    arguments: { butler: 'string', limit: 'integer' },
    required: [],
    isReadOnly: false,
  },
  memory_consolidation_submit: {
    arguments: { output: 'object', run_id: 'string' },
    required: ['output', 'run_id'],
    isReadOnly: false,
  },
  memory_consolidation_requeue: {
    arguments: {
      butler: 'string',
      engine: 'string',
      ids: 'array',
      limit: 'integer',
      nothing_found: 'boolean',
      since: 'string',
      status: 'string',
    },
    required: [],
    isReadOnly: false,
  },
};

describe('the tools', () => {
  const bound = bindTools(schema);

  it('are these and no others, each name once', () => {
    expect(tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(surface).toSorted());
  });

  it.each(Object.entries(surface))('%s takes these arguments', (name, expected) => {
    const { tool, operation } = bound.get(name) ?? expect.unreachable(`${name} is not a tool`);
    const { properties, required } = buildInputSchema(operation);
    const { request_context, ...own } = Object.fromEntries(
      Object.entries(properties).map(([argument, { type }]) => [argument, type]),
    );

    expect(request_context).toBe('object');
    expect({
      arguments: own,
      required: required.toSorted(),
      isReadOnly: tool.annotations.readOnlyHint,
    }).toEqual({ ...expected, required: expected.required.toSorted() });
  });

  it.each(toolGroups)('of the group %s are in the table of docs/mcp.md', (group) => {
    const row = new RegExp(`^\\| \`${group}\` +\\|.*$`, 'm').exec(page)?.[0] ?? '';
    const expected = tools.filter((tool) => tool.group === group).map(({ name }) => name);

    expect(row.match(/memory_\w+/g) ?? []).toEqual(expected);
  });

  it('describe themselves and every argument', () => {
    for (const { tool, operation } of bound.values()) {
      expect(operation.field.description, tool.name).toMatch(/\w/);
      for (const { name, description } of operation.arguments) {
        expect(description, `${tool.name}, ${name}`).toMatch(/\w/);
      }
    }
  });
});
