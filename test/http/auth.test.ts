import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportSPKI, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import type { Config } from '../../src/config/schema.ts';
import { createToken, listTokens, revokeToken, rotateToken } from '../../src/auth/tokens.ts';
import type { MemoryContext, Principal } from '../../src/memory/context.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { eventually } from '../support/eventually.ts';
import { postToGraphQL, requestGraphQL } from '../support/graphql-request.ts';
import { storeEpisode } from '../support/writes.ts';

let testApp: TestApp;
let privateKey: CryptoKey;
let strangerKey: CryptoKey;

const issuer = 'https://login.example';
const audience = 'butler-memory';

beforeAll(async () => {
  const keys = await generateKeyPair('RS256', { extractable: true });
  privateKey = keys.privateKey;
  strangerKey = (await generateKeyPair('RS256')).privateKey;
  const keyFile = join(inject('testRun').directory, 'issuer.pem');
  await writeFile(keyFile, await exportSPKI(keys.publicKey));
  const config = testConfig();
  const jwt = { ...config.auth.jwt, issuer, audience, keyFile };
  testApp = await createTestApp({ ...config, auth: { ...config.auth, mode: 'required', jwt } });
});
afterAll(() => testApp.close());

const admin: Principal = { tenantId: 'house', butler: null, role: 'admin' };
const contextOf = (principal: Principal): MemoryContext => testApp.app.createContext({}, principal).memory;
const tokenOf = async (role: string, butler?: string, tenantId = 'house'): Promise<string> =>
  (await createToken(contextOf({ ...admin, tenantId }), { name: 'test', role, butler })).token;

const sign = (claims: Record<string, unknown>, key = privateKey): Promise<string> =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setExpirationTime('1h')
    .sign(key);

const post = (path: string, token: string | undefined, body: unknown): Promise<Response> =>
  testApp.app.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    }),
  );

// oxlint-disable-next-line typescript/no-explicit-any -- what a query answers is what its test says
async function ask(token: string, query: string): Promise<any> {
  const response = await post('/graphql', token, { query });
  return response.json();
}

const store = (butler: string): string =>
  `mutation { storeEpisode(input: { content: "tea", butler: "${butler}" }) { __typename ... on StoreEpisodePayload { episode { uuid } } } }`;

describe('a server that asks who its callers are', () => {
  it.each([
    ['no token', undefined, 'authorization: none was sent'],
    ['a token that is none', 'bmt_nonsense', 'authorization: the token is not known, has expired or was revoked'],
    ['a text that is none', 'nonsense', 'authorization: the token is not one that our issuer signed'],
  ])('refuses %s at both doors, and says where to go', async (_, token, message) => {
    for (const path of ['/graphql', '/mcp']) {
      const response = await post(path, token, { query: '{ __typename }' });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe(
        'Bearer error="invalid_token", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp"',
      );
      expect(await response.json()).toMatchObject({ error: { code: 'UNAUTHENTICATED', message } });
    }
  });

  it('tells clients who can vouch for them', async () => {
    const response = await testApp.app.fetch(new Request('http://localhost/.well-known/oauth-protected-resource/mcp'));
    expect(await response.json()).toMatchObject({ resource: 'http://localhost/mcp', authorization_servers: [issuer] });
  });

  it('names nobody who can vouch for clients where tokens come from the command line alone', async () => {
    const { core } = testApp;
    const { issuer: _, ...jwt } = core.config.auth.jwt;
    const app = createApp({ ...core, config: { ...core.config, auth: { ...core.config.auth, jwt } } });
    const response = await app.fetch(new Request('http://localhost/.well-known/oauth-protected-resource/mcp'));
    await app.stop();
    expect(await response.json()).toEqual({
      resource: 'http://localhost/mcp',
      bearer_methods_supported: ['header'],
      resource_name: 'memory',
    });
  });

  it('tells strangers whether it is ready, and not why', async () => {
    const ready = (headers: Record<string, string> = {}): Promise<Response> =>
      testApp.app.fetch(new Request('http://localhost/readyz', { headers }));
    expect(Object.keys((await (await ready()).json()) as object)).toEqual(['status']);
    const authorization = `Bearer ${await tokenOf('operator')}`;
    expect(await (await ready({ authorization })).json()).toHaveProperty('checks');
  });

  it('tells a butler which part is ill, and an operator also why', async () => {
    // Its queue has not been started, which is a detail.
    const query = '{ health { checks { name status detail } } }';
    const queueAs = async (token: string): Promise<unknown> =>
      (await ask(token, query)).data.health.checks.find(({ name }: { name: string }) => name === 'queue');
    const told = { name: 'queue', status: 'starting' };
    expect(await queueAs(await tokenOf('butler', 'home'))).toEqual({ ...told, detail: null });
    expect(await queueAs(await tokenOf('operator'))).toEqual({ ...told, detail: 'not started yet' });
  });

  /** What comes by the name memory.example, where the configuration says this of the server's names. */
  const byName = async (butler: Partial<Config['butler']>, token?: string): Promise<Response> => {
    const { core } = testApp;
    const app = createApp({ ...core, config: { ...core.config, butler: { ...core.config.butler, ...butler } } });
    const headers = { accept: 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const response = await app.fetch(new Request('http://memory.example/graphql?query={__typename}', { headers }));
    await app.stop();
    return response;
  };

  it.each([
    ['its public address', { publicUrl: 'https://memory.example' }],
    ['the host that it listens on', { host: 'memory.example' }],
  ])('takes calls by another name, with a token, where that is %s', async (_, butler) => {
    expect((await byName(butler, await tokenOf('operator'))).status).toBe(200);
    const { status, headers } = await byName(butler);
    expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('://memory.example/')]);
  });

  it.each([
    ['it has none but its own', {}, 'a loopback address (127.0.0.1, ::1, localhost)'],
    ['it listens on every address', { host: '0.0.0.0' }, '0.0.0.0 or a loopback address (127.0.0.1, ::1, localhost)'],
    [
      'its public address is another',
      { publicUrl: 'https://a.example' },
      'a.example or a loopback address (127.0.0.1, ::1, localhost)',
    ],
  ])(
    "refuses every call by a stranger's name, and does not repeat it as its own, where %s",
    async (_, butler, allowed) => {
      for (const token of [undefined, await tokenOf('operator')]) {
        const response = await byName(butler, token);
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([403, null]);
        expect(await response.json()).toEqual({
          error: { code: 'FORBIDDEN', message: `host must be ${allowed} (got "memory.example")` },
        });
      }
    },
  );

  it('keeps its figures for operators', async () => {
    const metrics = async (token: string): Promise<number> =>
      (
        await testApp.app.fetch(
          new Request('http://localhost/metrics', { headers: { authorization: `Bearer ${token}` } }),
        )
      ).status;
    expect(await metrics(await tokenOf('butler', 'home'))).toBe(403);
    expect(await metrics(await tokenOf('operator'))).toBe(200);
  });
});

describe('a token', () => {
  it('is that of its tenant, role and butler, whatever is asked', async () => {
    const token = await tokenOf('butler', 'home');
    const { data } = await ask(token, store('home'));
    const { uuid } = data.storeEpisode.episode;
    expect((await ask(token, `{ episode(id: "${uuid}") { content } }`)).data.episode).toEqual({ content: 'tea' });
    const others = [await tokenOf('butler', 'work'), await tokenOf('admin', undefined, 'other')];
    for (const other of others) {
      expect((await ask(other, `{ episode(id: "${uuid}") { content } }`)).data?.episode ?? null).toBeNull();
    }
    expect((await ask(token, store('work'))).errors[0].message).toBe(
      'butler must be "home" for the role butler (got "work")',
    );
    expect((await ask(token, '{ schedules { name } }')).errors[0].message).toBe(
      'role must be viewer, operator or admin for schedules (got butler)',
    );
  });

  it('works at the door for agents too', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'memory_stats', arguments: {} } };
    const answer = async (token: string): Promise<number> => {
      const response = await post('/mcp', token, call);
      const { result } = (await response.json()) as { result: { structuredContent: { episodes: { total: number } } } };
      return result.structuredContent.episodes.total;
    };
    await ask(await tokenOf('butler', 'cellar'), store('cellar'));
    expect(await answer(await tokenOf('butler', 'cellar'))).toBe(1);
    expect(await answer(await tokenOf('butler', 'attic'))).toBe(0);
    expect(await answer(await tokenOf('operator'))).toBeGreaterThan(1);
  });

  it('is kept as a hash, told once, and its use is noted', async () => {
    const context = contextOf({ ...admin, tenantId: 'kept' });
    const { token, record } = await createToken(context, { name: 'laptop', role: 'operator' });
    expect(token).toMatch(/^bmt_[\w-]{43}$/);
    await ask(token, '{ __typename }');
    const used = await eventually(async () => {
      const [row] = await listTokens(context);
      expect(row?.lastUsedAt).toEqual(testApp.clock.now);
      return row;
    });
    expect(used).toEqual({ ...record, lastUsedAt: testApp.clock.now });
    const rows = await testApp.core.db.forTenant('kept').client
      .$queryRaw`SELECT t::text, e.payload::text FROM api_tokens t, memory_events e`;
    expect(JSON.stringify(rows)).not.toContain(token.slice(4));
  });

  it('ends when it is revoked, replaced or over', async () => {
    const works = async (token: string): Promise<boolean> =>
      (await post('/graphql', token, { query: '{ __typename }' })).status === 200;
    const context = contextOf(admin);
    const old = await createToken(context, { name: 'old', role: 'operator' });
    const fresh = await rotateToken(context, old.record.id);
    expect([await works(old.token), await works(fresh.token)]).toEqual([false, true]);
    await revokeToken(context, fresh.record.id);
    await revokeToken(context, fresh.record.id);
    expect(await works(fresh.token)).toBe(false);
    await expect(rotateToken(context, fresh.record.id)).rejects.toThrow('is revoked already');

    const expiresAt = new Date(testApp.clock.now.getTime() + 1000);
    const brief = await createToken(context, { name: 'brief', role: 'operator', expiresAt });
    expect(await works(brief.token)).toBe(true);
    const before = testApp.clock.now;
    testApp.clock.now = expiresAt;
    expect(await works(brief.token)).toBe(false);
    testApp.clock.now = before;

    const events = await testApp.core.db.forTenant('house').client.memoryEvent.findMany({
      where: { entityType: 'token', entityId: { in: [old.record.id, fresh.record.id] } },
      orderBy: { sequence: 'asc' },
    });
    expect(events.map(({ eventType }) => eventType)).toEqual([
      'token.created',
      'token.revoked',
      'token.rotated',
      'token.revoked',
    ]);
  });

  it.each([
    [{ role: 'king' }, 'role must be one of viewer, butler, operator, admin (got "king")'],
    [{ role: 'butler' }, 'butler must be a name, as the role is butler (got null)'],
    [{ role: 'admin', expiresAt: new Date(0) }, 'expires must be a moment to come (got "1970-01-01T00:00:00.000Z")'],
  ])('is refused with %j', async (given, message) => {
    await expect(createToken(contextOf(admin), { name: 'x', ...given })).rejects.toThrow(message);
  });
});

describe('the live feed of a butler', () => {
  it('brings what is global and its own, and nothing of others', async () => {
    const { activity } = testApp.app.createContext({}, admin);
    const follow = (principal: Principal): Promise<AsyncIterableIterator<string>> =>
      activity.follow(contextOf(principal), { prepare: (events) => events.map(({ entityId }) => entityId) });
    const home: Principal = { tenantId: 'feed', butler: 'home', role: 'butler' };
    const [ofHome, ofAll] = await Promise.all([follow(home), follow({ ...home, butler: null, role: 'operator' })]);
    const stored: string[] = [];
    for (const butler of ['work', 'home']) {
      const { id } = await storeEpisode(contextOf({ ...home, butler }), { content: 'tea', butler });
      stored.push(id);
    }
    expect((await ofHome.next()).value).toBe(stored[1]);
    // The registration of the model comes first.
    await ofAll.next();
    expect([(await ofAll.next()).value, (await ofAll.next()).value]).toEqual(stored);
    await Promise.all([ofHome.return?.(), ofAll.return?.()]);
  });
});

describe('a JSON Web Token', () => {
  it('says who its bearer is', async () => {
    const operator = await sign({ tenant: 'house', role: 'operator' });
    expect((await ask(operator, '{ stats { at } }')).errors).toBeUndefined();
    const viewer = await sign({ tenant: 'house', role: 'viewer' });
    expect((await ask(viewer, '{ schedules { name } }')).errors?.[0].message).not.toMatch(/^role must/);
    expect((await ask(viewer, store('home'))).errors[0].message).toBe(
      'role must be butler, operator or admin for storeEpisode (got viewer)',
    );
    const butler = await sign({ tenant: 'house', butler: 'home' });
    expect((await ask(butler, store('work'))).errors[0].message).toBe(
      'butler must be "home" for the role butler (got "work")',
    );
  });

  it.each([
    [
      'signed by a stranger',
      () => sign({ tenant: 'house', role: 'admin' }, strangerKey),
      'not one that our issuer signed',
    ],
    ['without a tenant', () => sign({ role: 'admin' }), 'the claim tenant names no tenant'],
    ['of a tenant that is no name', () => sign({ tenant: 'a\0b', role: 'admin' }), 'the claim tenant names no tenant'],
    ['of every tenant', () => sign({ tenant: '*', role: 'admin' }), 'the claim tenant names no tenant'],
    ['of half a letter', () => sign({ tenant: '\uD800', role: 'admin' }), 'the claim tenant names no tenant'],
    ['of a long tenant', () => sign({ tenant: 'x'.repeat(3000), role: 'admin' }), 'the claim tenant names no tenant'],
    [
      'of a butler that is no name',
      () => sign({ tenant: 'house', butler: 'a\0b' }),
      'the claim butler names no butler',
    ],
    ['of the butler *', () => sign({ tenant: 'house', butler: '*' }), 'the claim butler names no butler'],
    [
      'for a tenant that is no name',
      () => sign({ tenant: 'house', role: 'admin', across: ['\uDC00'] }),
      'the claim across is neither',
    ],
    [
      'that ends beyond any date',
      () =>
        new SignJWT({ tenant: 'house', role: 'admin', exp: 1e300 })
          .setProtectedHeader({ alg: 'RS256' })
          .setIssuer(issuer)
          .setAudience(audience)
          .sign(privateKey),
      'the claim exp is beyond any date',
    ],
    ['of a butler without a name', () => sign({ tenant: 'house' }), 'the claim butler is missing'],
    ['with a role that is none', () => sign({ tenant: 'house', role: 'king' }), 'the claim role is none of'],
    [
      'that is over',
      () =>
        new SignJWT({ tenant: 'house', role: 'admin' })
          .setProtectedHeader({ alg: 'RS256' })
          .setIssuer(issuer)
          .setAudience(audience)
          .setExpirationTime(new Date(0))
          .sign(privateKey),
      'the token has expired',
    ],
    [
      'for another server',
      () =>
        new SignJWT({ tenant: 'house', role: 'admin' })
          .setProtectedHeader({ alg: 'RS256' })
          .setIssuer(issuer)
          .setAudience('other')
          .setExpirationTime('1h')
          .sign(privateKey),
      'the claim aud is not what it must be',
    ],
    [
      'that has no end',
      () =>
        new SignJWT({ tenant: 'house', role: 'admin' })
          .setProtectedHeader({ alg: 'RS256' })
          .setIssuer(issuer)
          .setAudience(audience)
          .sign(privateKey),
      'the claim exp is not what it must be',
    ],
  ])('%s is refused', async (_, make, message) => {
    const response = await post('/graphql', await make(), { query: '{ __typename }' });
    expect(response.status).toBe(401);
    expect(((await response.json()) as { error: { message: string } }).error.message).toContain(message);
  });

  it('by no signature at all is refused', async () => {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = { tenant: 'house', role: 'admin', iss: issuer, aud: audience, exp: 9_999_999_999 };
    const response = await post('/graphql', `${part({ alg: 'none' })}.${part(claims)}.`, { query: '{ __typename }' });
    expect(response.status).toBe(401);
  });
});

describe('a server that asks nobody', () => {
  it('takes whoever reaches it for the operator, with or without a token', async () => {
    const open = await createTestApp();
    try {
      const { data } = await requestGraphQL(
        (request) => open.app.fetch(request),
        'http://localhost',
        '{ stats { at } }',
      );
      expect(data).toHaveProperty('stats');
      const response = await postToGraphQL(
        (request) => open.app.fetch(request),
        'http://localhost',
        JSON.stringify({ query: '{ __typename }' }),
        { authorization: 'Bearer nonsense' },
      );
      expect(response.status).toBe(200);
    } finally {
      await open.close();
    }
  });
});
