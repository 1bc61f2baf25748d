import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createApp, type App } from '../../src/http/app.ts';
import { createToken } from '../../src/auth/tokens.ts';
import type { Config } from '../../src/config/schema.ts';
import { createTestApp, type TestApp } from '../support/app.ts';

/** The server, and the issuer that it gets its keys from. */

const issuer = 'https://login.example';
const audience = 'butler-memory';

interface IssuerKey {
  kid: string;
  privateKey: CryptoKey;
  jwk: JWK;
}

async function newKey(kid: string): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}

let testApp: TestApp;
let keyServer: Server;
let jwksUrl: string;
let [first, second]: IssuerKey[] = [];
let fetches = 0;
let answer: (response: ServerResponse) => void;

const keys =
  (...published: (IssuerKey | undefined)[]) =>
  (response: ServerResponse): void =>
    void response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ keys: published.map((key) => key?.jwk) }));

beforeAll(async () => {
  testApp = await createTestApp();
  [first, second] = [await newKey('first'), await newKey('second')];
  keyServer = createServer((_request, response) => {
    fetches++;
    answer(response);
  });
  keyServer.listen(0, '127.0.0.1');
  await once(keyServer, 'listening');
  jwksUrl = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/jwks.json`;
});
afterAll(async () => {
  keyServer.closeAllConnections();
  keyServer.close();
  await testApp.close();
});

let app: App;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  fetches = 0;
  answer = keys(first);
  app = appWith(jwksUrl);
});
afterEach(async () => {
  vi.useRealTimers();
  await app.stop();
});

function appWith(url: string): App {
  const { core } = testApp;
  const jwt = { ...core.config.auth.jwt, issuer, audience, jwksUrl: url };
  const config: Config = { ...core.config, auth: { ...core.config.auth, mode: 'required', jwt } };
  return createApp({ ...core, config });
}

const passSeconds = (seconds: number): void => void vi.setSystemTime(Date.now() + seconds * 1000);

const tokenBy = async (key: IssuerKey | undefined): Promise<string> => {
  const { kid, privateKey } = key as IssuerKey;
  return new SignJWT({ tenant: 'house', butler: 'home' })
    .setProtectedHeader({ alg: 'ES256', kid })
    .setIssuer(issuer)
    .setAudience(audience)
    .setExpirationTime('1h')
    .sign(privateKey);
};

const send = (token: string, path = '/graphql'): Promise<Response> =>
  app.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: '{ __typename }' }),
    }),
  );
const statusOf = async (token: string): Promise<number> => (await send(token)).status;

describe('the keys of an issuer', () => {
  it('are fetched once, for many tokens', async () => {
    const token = await tokenBy(first);
    expect(await Promise.all([1, 2, 3].map(() => statusOf(token)))).toEqual([200, 200, 200]);
    expect(await statusOf(await tokenBy(first))).toBe(200);
    expect(fetches).toBe(1);
  });

  it('are fetched again when it signs with another, and one that it withdrew is refused', async () => {
    const [old, fresh] = [await tokenBy(first), await tokenBy(second)];
    expect(await statusOf(old)).toBe(200);
    passSeconds(31);
    answer = keys(first, second);
    expect(await statusOf(fresh)).toBe(200);
    expect(await statusOf(old)).toBe(200);
    expect(fetches).toBe(2);

    passSeconds(601);
    answer = keys(second);
    expect([await statusOf(fresh), await statusOf(old)]).toEqual([200, 401]);
  });

  it('are not fetched for every token that somebody made up', async () => {
    expect(await statusOf(await tokenBy(first))).toBe(200);
    const stranger = await newKey('made up');
    expect(await Promise.all([1, 2, 3].map(async () => statusOf(await tokenBy(stranger))))).toEqual([401, 401, 401]);
    expect(fetches).toBe(1);
  });

  it('that are kept do while it is down', async () => {
    expect(await statusOf(await tokenBy(first))).toBe(200);
    answer = (response) => void response.destroy();
    passSeconds(60);
    expect(await statusOf(await tokenBy(first))).toBe(200);
  });
});

describe('an issuer whose keys cannot be had', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['hangs up', (response) => void response.destroy()],
    ['is ill', (response) => void response.writeHead(500).end('no')],
    ['sends no JSON', (response) => void response.end('<html>')],
    ['sends no set of keys', (response) => void response.end('{"keys":5}')],
  ])('and %s is told as such, and is asked again', async (_, fault) => {
    answer = fault;
    const token = await tokenBy(first);
    const message = 'the keys of the issuer of JSON Web Tokens cannot be had';
    const refusals = {
      '/graphql': { code: 'ISSUER_UNAVAILABLE', message, hint: expect.stringContaining('Try again soon') as string },
      '/mcp': {
        code: -32_603,
        message: expect.stringContaining(`${message} (Try again soon`) as string,
        data: { code: 'ISSUER_UNAVAILABLE' },
      },
    };
    for (const [path, error] of Object.entries(refusals)) {
      const response = await send(token, path);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({ error });
    }
    const { memory } = testApp.app.createContext({}, { tenantId: 'house', butler: null, role: 'admin' });
    const own = await createToken(memory, { name: 'own', role: 'butler', butler: 'home' });
    expect(await statusOf(own.token), 'tokens of our own need no issuer').toBe(200);

    answer = keys(first);
    expect(await statusOf(token)).toBe(200);
  });

  it('as nothing listens there is told as such', async () => {
    await app.stop();
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    app = appWith(`http://127.0.0.1:${port}/jwks.json`);
    expect(await statusOf(await tokenBy(first))).toBe(503);
  });
});
