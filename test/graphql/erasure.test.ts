import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createToken } from '../../src/auth/tokens.ts';
import type { MemoryContext } from '../../src/memory/context.ts';
import { newRequestContext } from '../../src/shared/request-context.ts';
import { createGuardedApp, type TestApp } from '../support/app.ts';
import { storeEpisode, storeFact } from '../support/writes.ts';

let testApp: TestApp;
const tokens: Record<string, string> = {};

const context = (): MemoryContext => ({
  ...testApp.core,
  db: testApp.core.db.forTenant('default'),
  principal: { tenantId: 'default', butler: null, role: 'admin' },
  requestContext: newRequestContext(),
});

beforeAll(async () => {
  testApp = await createGuardedApp();
  for (const role of ['butler', 'operator', 'admin']) {
    const { token } = await createToken(context(), {
      role,
      butler: role === 'butler' ? 'home' : undefined,
      name: role,
      expiresAt: null,
    });
    tokens[role] = token;
  }
});
afterAll(() => testApp.close());

interface Answer {
  data?: Record<string, Record<string, unknown>> | null;
  errors?: { extensions: { code: string } }[];
}

async function ask(role: string, query: string, variables: object = {}): Promise<Answer> {
  const response = await testApp.app.fetch(
    new Request('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tokens[role]}` },
      body: JSON.stringify({ query, variables }),
    }),
  );
  return (await response.json()) as Answer;
}

const plan = `query ($subject: String, $type: MemoryType, $id: String) {
  erasurePlan(subject: $subject, type: $type, id: $id) { confirmation memories { type uuid } related { uuid } }
}`;
const eraseSubject = `mutation ($input: EraseSubjectInput!) {
  eraseSubject(input: $input) {
    ... on EraseSubjectPayload { eventId erasure { uuid actor hash memories { uuid } counts { name count } } }
    ... on Problem { code message }
  }
}`;
const eraseMemory = `mutation ($input: EraseMemoryInput!) {
  eraseMemory(input: $input) { ... on EraseMemoryPayload { erasure { uuid } } ... on Problem { code message } }
}`;

async function storeOne(predicate: string): Promise<string> {
  const fact = await storeFact(context(), { subject: 'Ada', predicate, content: 'tea' });
  return fact.id;
}

describe('erasing', () => {
  it.each(['butler', 'operator'])('is not open to the role %s', async (role) => {
    const id = await storeOne(`drink of the ${role}`);
    for (const { query, variables } of [
      { query: plan, variables: { subject: 'Ada' } },
      { query: eraseMemory, variables: { input: { type: 'fact', id, confirm: id } } },
      { query: eraseSubject, variables: { input: { subject: 'Ada', confirm: 'x' } } },
    ]) {
      expect((await ask(role, query, variables)).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    }
  });

  it('tells an admin what it would take, and takes that', async () => {
    const id = await storeOne('food');
    const one = await ask('admin', plan, { type: 'fact', id });
    expect(one.data?.['erasurePlan']).toMatchObject({ memories: [{ type: 'fact', uuid: id }], related: [] });
    const refused = await ask('admin', eraseMemory, { input: { type: 'fact', id, confirm: 'yes' } });
    expect(refused.data?.['eraseMemory']).toMatchObject({ code: 'INVALID_INPUT' });
    const done = await ask('admin', eraseMemory, { input: { type: 'fact', id, confirm: id } });
    expect(done.data?.['eraseMemory']).toHaveProperty('erasure.uuid');

    const { data } = await ask('admin', plan, { subject: 'ada' });
    const { confirmation: confirm, memories } = (data ?? {})['erasurePlan'] as unknown as {
      confirmation: string;
      memories: object[];
    };
    const all = await ask('admin', eraseSubject, { input: { subject: 'ada', confirm } });
    expect(all.data?.['eraseSubject']).toMatchObject({
      eventId: expect.any(String) as string,
      erasure: { actor: 'admin', hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    });
    expect(memories.length).toBeGreaterThan(0);
    expect((await ask('admin', plan, { subject: 'ada' })).data?.['erasurePlan']).toMatchObject({ memories: [] });
  });

  it('leaves answers that say that it is gone, and none that says what it was', async () => {
    const episode = await storeEpisode(context(), { butler: 'home', content: 'Grace ordered sarsaparilla' });
    const { id } = await storeFact(context(), {
      subject: 'Grace',
      predicate: 'likes',
      content: 'root drinks',
      sourceEpisodeId: episode.id,
    });
    const gone = await storeFact(context(), { subject: 'Grace', predicate: 'dislikes', content: 'sarsaparilla' });
    for (const input of [
      { type: 'episode', id: episode.id, confirm: episode.id },
      { type: 'fact', id: gone.id, confirm: gone.id },
    ]) {
      expect((await ask('admin', eraseMemory, { input })).data?.['eraseMemory']).toHaveProperty('erasure.uuid');
    }
    const answer = await ask(
      'operator',
      `query ($fact: UUID!, $gone: String!, $episode: String!) {
        fact(id: $fact) { content links { target { ... on Tombstone { reason } } } provenance { depth } }
        memory(type: fact, id: $gone) { content }
        history(type: fact, id: $gone) { versions { memory { content } changes event { eventType before after } } }
        ofEpisode: history(type: episode, id: $episode) { versions { memory { content } event { eventType } } }
        asOf(at: "2026-03-01T12:00:00Z") { memory(type: fact, id: $gone) { content } facts(first: 5) { totalCount } }
        diff(from: "2026-02-01T12:00:00Z", to: "2026-03-02T12:00:00Z") {
          changes(first: 50) { edges { node { uuid kind before { content } after { content } } } }
        }
        explain(input: { type: fact, id: $gone, query: "root" }) { account memory { stage } }
      }`,
      { fact: id, gone: gone.id, episode: episode.id },
    );
    expect(answer.errors).toBeUndefined();
    expect(JSON.stringify(answer.data)).not.toContain('sarsaparilla');
    expect(answer.data).toMatchObject({
      fact: { content: 'root drinks', links: [{ target: { reason: 'erased' } }] },
      memory: null,
      history: {
        versions: [
          { memory: null, event: { eventType: 'fact.stored', before: null, after: null } },
          { memory: null, event: { eventType: 'fact.erased' } },
        ],
      },
      asOf: { memory: null },
      explain: { memory: { stage: 'not_found' } },
    });
    expect(answer.data?.['diff']).toMatchObject({
      changes: {
        edges: expect.arrayContaining([
          { node: { uuid: gone.id, kind: 'removed', before: null, after: null } },
        ]) as unknown,
      },
    });
  });
});
