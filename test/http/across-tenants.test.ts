import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { exportSPKI, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createToken, rotateToken, type IssuedToken, type NewToken } from '../../src/auth/tokens.ts';
import type { AccessRecord, MemoryEvent } from '../../src/generated/prisma/client.ts';
import type { MemoryContext, Principal } from '../../src/memory/context.ts';
import { issueToken } from '../../src/commands/token.ts';
import { texts } from '../fuzz/texts.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { storeFact } from '../support/writes.ts';

/** An admin of the house, and a neighbour whom only who has a grant may enter. */

let testApp: TestApp;
let privateKey: CryptoKey;
let reader: IssuedToken;
let writer: IssuedToken;
let plain: IssuedToken;

const issuer = 'https://login.example';
const audience = 'butler-memory';
const admin: Principal = { tenantId: 'house', butler: null, role: 'admin' };

const contextOf = (principal: Principal): MemoryContext => testApp.app.createContext({}, principal).memory;
const issue = (given: Partial<NewToken>): Promise<IssuedToken> =>
  createToken(contextOf(admin), { name: 'test', role: 'admin', ...given });

beforeAll(async () => {
  const keys = await generateKeyPair('RS256', { extractable: true });
  privateKey = keys.privateKey;
  const keyFile = join(inject('testRun').directory, 'across-issuer.pem');
  await writeFile(keyFile, await exportSPKI(keys.publicKey));
  const config = testConfig();
  const jwt = { ...config.auth.jwt, issuer, audience, keyFile };
  const auth = { ...config.auth, mode: 'required' as const, jwt };
  testApp = await createTestApp({ ...config, auth, mcp: { ...config.mcp, sessions: true } });
  reader = await issue({ across: ['neighbour', 'nowhere'] });
  writer = await issue({ across: ['*'], acrossWrite: true });
  plain = await issue({});
  for (const tenantId of ['house', 'neighbour', 'stranger']) {
    const fact = { subject: 'user', predicate: 'drinks', content: `Tea of the ${tenantId}` };
    await storeFact(contextOf({ ...admin, tenantId }), fact);
  }
});
afterAll(() => testApp.close());

interface Sent {
  token: string;
  tenant?: string | undefined;
  session?: string | undefined;
}

const post = (path: string, { token, tenant, session }: Sent, body: unknown): Promise<Response> =>
  testApp.app.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
        ...(tenant !== undefined && { 'x-butler-tenant': tenant }),
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
    }),
  );

// oxlint-disable-next-line typescript/no-explicit-any -- what a query answers is what its test says
async function ask(query: string, { token }: IssuedToken, tenant?: string): Promise<any> {
  return (await post('/graphql', { token, tenant }, { query })).json();
}

// oxlint-disable-next-line typescript/no-explicit-any -- as above
async function call(name: string, given: object, { token }: IssuedToken, tenant?: string): Promise<any> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
  const answer = (await (await post('/mcp', { token, tenant }, message)).json()) as { result: unknown };
  return answer.result;
}

const facts = '{ facts(first: 9) { edges { node { content } } } }';
const contentsOf = ({ data }: { data: { facts: { edges: { node: { content: string } }[] } } }): string[] =>
  data.facts.edges.map(({ node }) => node.content);
const store = (predicate: string): string =>
  `mutation { storeFact(input: { subject: "user", predicate: "${predicate}", content: "x" }) { __typename } }`;

const records = (tenantId: string): Promise<AccessRecord[]> =>
  testApp.core.db.forTenant(tenantId).client.accessRecord.findMany({ orderBy: { id: 'asc' } });
const entries = (tenantId: string): Promise<MemoryEvent[]> =>
  testApp.core.db
    .forTenant(tenantId)
    .client.memoryEvent.findMany({ where: { eventType: 'tenant.entered' }, orderBy: { sequence: 'asc' } });

/** What was written down while it was done. */
async function newSince<T>(read: () => Promise<T[]>, work: () => Promise<unknown>): Promise<T[]> {
  const { length } = await read();
  await work();
  return (await read()).slice(length);
}

describe('another tenant', () => {
  it.each([
    ['an admin without a grant', () => plain, 'neighbour', 'none, as there is no grant across tenants'],
    ['an admin without a grant, at home', () => plain, 'house', 'none, as there is no grant across tenants'],
    ['a tenant that the grant does not name', () => reader, 'stranger', 'one that the grant names'],
    ['a name of none', () => reader, '', 'one that the grant names'],
    ['a tenant that is not there', () => reader, 'nowhere', 'a tenant that is there'],
    ['one that is not there, with a grant over all', () => writer, 'nowhere', 'a tenant that is there'],
    ['the sign for all', () => writer, '*', 'a tenant that is there'],
    ['what is broken', () => writer, '%', 'a tenant that is there'],
  ])('is refused: %s', async (_, token, tenant, allowed) => {
    for (const path of ['/graphql', '/mcp']) {
      const response = await post(path, { token: token().token, tenant }, { query: facts });
      expect(response.status).toBe(403);
      const message = `x-butler-tenant must be ${allowed} (got "${tenant}")`;
      expect(await response.json()).toEqual({ error: { code: 'FORBIDDEN', message } });
    }
  });

  it('is refused in words of ours, whatever it is called', async () => {
    expect((await ask(facts, writer, 'a%00b')).error.code).toBe('FORBIDDEN');
    const property = fc.asyncProperty(texts, async (text) => {
      const { error } = await ask(facts, writer, encodeURIComponent(text.toWellFormed()));
      expect(error).toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('a tenant that is there') });
    });
    await fc.assert(property, { seed: 20_260_301, numRuns: 100 });
  });

  it.each(['butler', 'operator'])('is refused to the role %s', async (role) => {
    const token = await issue({ role, butler: 'home' });
    expect((await ask(facts, token, 'neighbour')).error.code).toBe('FORBIDDEN');
    await expect(issue({ role, butler: 'home', across: ['neighbour'] })).rejects.toThrow(
      'across must be none, as the role is not admin (got ["neighbour"])',
    );
  });

  it('is entered by who names it, and left by who does not', async () => {
    expect(contentsOf(await ask(facts, reader, 'neighbour'))).toEqual(['Tea of the neighbour']);
    expect(contentsOf(await ask(facts, reader))).toEqual(['Tea of the house']);
    expect(contentsOf(await ask(facts, reader, 'house'))).toEqual(['Tea of the house']);
    const { structuredContent } = await call('memory_search', { query: 'tea' }, reader, 'neighbour');
    expect(structuredContent.results.map(({ content }: { content: string }) => content)).toEqual([
      'Tea of the neighbour',
    ]);
  });

  it('is entered by a name in other letters', async () => {
    await storeFact(contextOf({ ...admin, tenantId: 'Größe 5%' }), { subject: 's', predicate: 'p', content: 'Kaffee' });
    expect(contentsOf(await ask(facts, writer, encodeURIComponent('Größe 5%')))).toEqual(['Kaffee']);
  });

  it('is entered after the token was replaced, too', async () => {
    const old = await issue({ across: ['neighbour'] });
    const fresh = await rotateToken(contextOf(admin), old.record.id);
    expect(contentsOf(await ask(facts, fresh, 'neighbour'))).toEqual(['Tea of the neighbour']);
  });

  it('is not written in by a grant to read, through any door', async () => {
    const before = await testApp.core.db.forTenant('neighbour').client.fact.findMany();
    const message = 'the operation must be a read, as the grant is to read in tenant neighbour (got a write)';
    const { data, errors } = await ask(store('by GraphQL'), reader, 'neighbour');
    expect([data ?? null, errors[0].message, errors[0].extensions.code]).toEqual([null, message, 'FORBIDDEN']);
    const given = { subject: 'user', predicate: 'by MCP', content: 'x' };
    const { isError, content } = await call('memory_store_fact', given, reader, 'neighbour');
    expect([isError, content[0].text]).toEqual([true, expect.stringContaining(`FORBIDDEN: ${message}`)]);
    // The database refuses by itself what the code above it forgets.
    const visitor = { ...admin, tenantId: 'neighbour', visit: { home: 'house', mayWrite: false } };
    await expect(storeFact(contextOf(visitor), given)).rejects.toThrow('read-only transaction');
    const read = '{ search(input: { query: "tea" }, countReference: true) { candidates } }';
    expect((await ask(read, reader, 'neighbour')).data.search.candidates).toBeGreaterThan(0);
    const shown = '{ context(input: { triggerPrompt: "tea", butler: "home" }, countReference: true) { text } }';
    expect((await ask(shown, reader, 'neighbour')).data.context.text).not.toBe('');
    await testApp.app.createContext({}, visitor).references.flush();
    expect(await testApp.core.db.forTenant('neighbour').client.fact.findMany()).toEqual(before);
  });

  it('shows its visitor a context, and keeps the receipt', async () => {
    const query = '{ context(input: { triggerPrompt: "tea", butler: "home" }) { receiptId text } }';
    const { data } = await ask(query, reader, 'neighbour');
    expect(data.context.text).toContain('Tea of the neighbour');
    const where = { id: data.context.receiptId };
    expect(await testApp.core.db.forTenant('neighbour').client.contextReceipt.count({ where })).toBe(1);
  });

  it('is written in by a grant to write, and its event says who it was', async () => {
    expect((await ask(store('drinks at night'), writer, 'neighbour')).data.storeFact).toEqual({
      __typename: 'StoreFactPayload',
    });
    const event = await testApp.core.db
      .forTenant('neighbour')
      .client.memoryEvent.findFirstOrThrow({ where: { eventType: 'fact.stored' }, orderBy: { sequence: 'desc' } });
    expect(event.actor).toBe(`admin@house by token ${writer.record.id}`);
  });

  it('leaves a session of the Model Context Protocol where it was opened', async () => {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const { token } = writer;
    const opened = await post(
      '/mcp',
      { token, tenant: 'neighbour' },
      { jsonrpc: '2.0', id: 0, method: 'initialize', params },
    );
    const session = opened.headers.get('mcp-session-id') ?? expect.unreachable('no session was given');
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const statusIn = async (tenant?: string, by = token): Promise<number> =>
      (await post('/mcp', { token: by, tenant, session }, list)).status;
    expect(await statusIn('neighbour')).toBe(200);
    expect([await statusIn(), await statusIn('stranger'), await statusIn('neighbour', reader.token)]).toEqual([
      404, 404, 404,
    ]);
  });
});

describe('the command line', () => {
  it.each([
    [{ across: 'neighbour,stranger' }, 'tenant house, admin, reads in neighbour and stranger'],
    [{ across: 'all', acrossWrite: true }, 'tenant house, admin, reads and writes in all tenants'],
    [{}, 'tenant house, admin'],
  ])('makes a token with %j', async (given, about) => {
    const lines: string[] = [];
    const options = { role: 'admin', tenant: 'house', name: 'support', ...given };
    await issueToken(testApp.core, options, (line) => lines.push(line));
    expect(lines[1]?.replace(/^\S+ {2}/, '')).toBe(`support: ${about}`);
  });

  it('makes none that writes nowhere', async () => {
    await expect(issue({ acrossWrite: true })).rejects.toThrow(
      'across-write must be given with the tenants to write in (got true)',
    );
  });
});

describe('a request across tenants is written down', () => {
  it.each([
    ['a read over GraphQL', () => ask(facts, reader, 'neighbour'), 'read', ['facts']],
    ['a read over MCP', () => call('memory_search', { query: 'secret tea' }, reader, 'neighbour'), 'read', ['search']],
    [
      'two reads at once',
      () => ask('{ rules { totalCount } ...a } fragment a on Query { stats { at } }', reader, 'neighbour'),
      'read',
      ['rules', 'stats'],
    ],
    ['a write', () => ask(store('tells secrets'), writer, 'neighbour'), 'write', ['storeFact']],
    ['a write that is refused', () => ask(store('tells secrets'), reader, 'neighbour'), 'write', ['storeFact']],
  ])('once on either side, and as an event: %s', async (_, work, kind, operations) => {
    const written = await newSince(
      () => records('house'),
      async () => {
        const entered = await newSince(
          () => records('neighbour'),
          async () => {
            const [event, ...more] = await newSince(() => entries('neighbour'), work);
            expect(more).toEqual([]);
            expect(event).toMatchObject({ entityType: 'tenant', entityId: 'neighbour' });
            expect(event?.actor).toMatch(/^admin@house by token /);
            expect(event?.payload).toMatchObject({ after: { home_tenant: 'house', kind, operations } });
            expect(JSON.stringify(event?.payload)).not.toContain('secret');
          },
        );
        expect(entered).toMatchObject([{ kind, operations, homeTenant: 'house', enteredTenant: null }]);
      },
    );
    expect(written).toMatchObject([{ kind, operations, homeTenant: null, enteredTenant: 'neighbour' }]);
    expect(written[0]?.actor).toMatch(/^admin@house by token /);
    expect(JSON.stringify(written)).not.toContain('secret');
  });

  it('with the ids that it named, under its own request', async () => {
    const id = '01a1e5d0-5b7f-7c53-9f0e-2d4f8d1c6e7a';
    const [record] = await newSince(
      () => records('neighbour'),
      () => ask(`{ fact(id: "${id}") { content } node(id: "rule:${id}") { id } }`, reader, 'neighbour'),
    );
    expect(record?.ids).toEqual([id, `rule:${id}`]);
    expect(record?.digest).toMatch(/^[\da-f]{64}$/);
    const [event] = (await entries('neighbour')).slice(-1);
    expect(event?.requestId).toBe(record?.requestId);
  });
});

describe('a read of an admin', () => {
  const newRecords = (work: () => Promise<unknown>): Promise<AccessRecord[]> => newSince(() => records('house'), work);

  it('is written down in its own tenant, with the token', async () => {
    expect(await newRecords(() => ask(facts, plain))).toMatchObject([
      { kind: 'read', operations: ['facts'], actor: `admin by token ${plain.record.id}`, enteredTenant: null },
    ]);
  });

  it('is written down at once for fragments that double', async () => {
    const spread = (index: number): string => `fragment f${index} on Query { ...f${index + 1} ...f${index + 1} }`;
    const fragments = Array.from({ length: 40 }, (_, index) => spread(index)).join(' ');

    expect(await ask(`{ ...f0 } ${fragments} fragment f40 on Query { __typename }`, plain)).toEqual({
      data: { __typename: 'Query' },
    });
  });

  it('is no event, and neither is what tells nothing of memories or has an event already', async () => {
    const events = (): Promise<MemoryEvent[]> => testApp.core.db.forTenant('house').client.memoryEvent.findMany();
    expect(await newSince(events, () => ask(facts, plain))).toEqual([]);
    expect(await newRecords(() => ask('{ __typename health { status } }', plain))).toEqual([]);
    expect(await newRecords(() => ask(store('reads'), plain))).toEqual([]);
  });

  it('is not what an operator or a butler does', async () => {
    const operator = await issue({ role: 'operator' });
    const butler = await issue({ role: 'butler', butler: 'home' });
    const both = async (): Promise<void> => {
      await ask(facts, operator);
      await ask(facts, butler);
    };
    expect(await newRecords(both)).toEqual([]);
  });

  it('does not happen when it cannot be written down', async () => {
    const asOwner = (statement: string): Promise<unknown> =>
      testApp.core.db.asOwner((client) => client.query(statement));
    await asOwner('REVOKE INSERT ON access_records FROM butler_memory_app');
    try {
      for (const tenant of [undefined, 'neighbour']) {
        const { data, errors } = await ask(facts, reader, tenant);
        expect([data ?? null, errors[0].extensions.code]).toEqual([null, 'INTERNAL']);
        expect((await call('memory_search', { query: 'tea' }, reader, tenant)).isError).toBe(true);
      }
      expect((await ask(facts, await issue({ role: 'operator' }))).errors).toBeUndefined();
    } finally {
      await asOwner('GRANT INSERT ON access_records TO butler_memory_app');
    }
  });

  it('is listed for admins, and for no operator', async () => {
    const query =
      '{ accesses(first: 1) { totalCount edges { node { kind actor operations ids homeTenant enteredTenant } } } }';
    await ask(facts, reader, 'neighbour');
    const { data } = await ask(query, plain);
    // That of the question itself comes first.
    expect(data.accesses.edges[0].node).toMatchObject({ operations: ['accesses'], enteredTenant: null });
    expect(data.accesses.totalCount).toBe((await records('house')).length);
    const operator = await issue({ role: 'operator' });
    expect((await ask(query, operator)).errors[0].message).toBe('role must be admin for accesses (got operator)');
  });
});

describe('a JSON Web Token', () => {
  const sign = (claims: Record<string, unknown>): Promise<string> =>
    new SignJWT({ tenant: 'house', sub: 'ada', ...claims })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime('1h')
      .sign(privateKey);
  const send = async (claims: Record<string, unknown>, query = facts): Promise<Response> =>
    post('/graphql', { token: await sign(claims), tenant: 'neighbour' }, { query });

  it.each([['all'], [['neighbour', 'stranger']]])('leads into other tenants by the claim %j', async (across) => {
    const response = await send({ role: 'admin', across });
    expect(contentsOf((await response.json()) as never)).toContain('Tea of the neighbour');
    const [record] = (await records('neighbour')).slice(-1);
    expect(record?.actor).toBe('admin@house by subject "ada"');
  });

  it('of a tenant that has nothing yet leaves what is removed in its time', async () => {
    await post('/graphql', { token: await sign({ tenant: 'empty', role: 'admin' }) }, { query: facts });
    expect(await testApp.core.db.listTenants()).toContain('empty');
  });

  it('is to read, unless it says more', async () => {
    const codes: unknown[] = [];
    for (const claim of [undefined, 'yes', true]) {
      const response = await send({ role: 'admin', across: 'all', across_write: claim }, store(`jwt ${String(claim)}`));
      const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
      codes.push(errors?.[0]?.extensions.code);
    }
    expect(codes).toEqual(['FORBIDDEN', 'FORBIDDEN', undefined]);
  });

  it.each([
    [{ role: 'operator', across: 'all' }, 401, 'the claim across is for the role admin alone'],
    [{ role: 'admin', across: 'neighbour' }, 401, 'the claim across is neither "all" nor a list of tenants'],
    [{ role: 'admin', across: ['*'] }, 401, 'the claim across is neither "all" nor a list of tenants'],
    [{ role: 'admin', across: [] }, 401, 'the claim across is neither "all" nor a list of tenants'],
    [{ role: 'admin' }, 403, 'none, as there is no grant across tenants'],
    [{ role: 'admin', across: ['stranger'] }, 403, 'one that the grant names'],
  ])('with %j is refused', async (claims, status, message) => {
    const response = await send(claims);
    expect(response.status).toBe(status);
    expect(JSON.stringify(await response.json())).toContain(JSON.stringify(message).slice(1, -1));
  });
});

it('without authentication nobody crosses', async () => {
  const open = await createTestApp();
  try {
    const headers = { 'x-butler-tenant': 'default', accept: 'application/json' };
    const request = new Request('http://localhost/graphql?query={__typename}', { headers });
    expect((await open.app.fetch(request)).status).toBe(403);
  } finally {
    await open.close();
  }
});

describe('a job of the whole server', () => {
  const run = '{ __typename ... on RunJobPayload { run { status } } ... on Problem { message } }';
  const runJob = (token: IssuedToken, name: string, tenant?: string): Promise<{ data: unknown; errors: unknown }> =>
    ask(`mutation { runJob(input: { name: "${name}", dryRun: true }) ${run} }`, token, tenant);

  it('is not run by who runs one tenant', async () => {
    for (const token of [await issue({ role: 'operator' }), plain, reader]) {
      expect(await runJob(token, 'maintain-storage')).toMatchObject({
        errors: [
          {
            message: 'maintain-storage runs for all tenants at once: the grant must be one to write in all (got none)',
            extensions: { code: 'FORBIDDEN' },
          },
        ],
      });
      expect((await runJob(token, 'decay-sweep')).errors).toBeUndefined();
    }
  });

  it('is run by who may write in all of them', async () => {
    const done = { data: { runJob: { __typename: 'RunJobPayload', run: { status: 'succeeded' } } } };
    expect(await runJob(writer, 'maintain-storage')).toEqual(done);
    expect(await runJob(writer, 'maintain-storage', 'neighbour')).toEqual(done);
  });
});
