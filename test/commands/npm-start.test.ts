import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createServerHome,
  startServerProcess,
  startThroughNpm,
  type ServerHome,
  type ServerProcess,
} from '../support/server-process.ts';

let home: ServerHome;
let server: ServerProcess;

beforeEach(async () => {
  home = await createServerHome();
});
afterEach(async () => {
  await server.kill9();
  await home.remove();
});

describe('npm start', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops the server on %s to npm, leaving no port and no lock',
    async (signal) => {
      server = await startThroughNpm({ home });
      const { url } = server;
      expect((await fetch(`${url}/healthz`)).status).toBe(200);

      await server.stop(signal);

      await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
      server = await startServerProcess({ home });
      await server.stop();
    },
  );
});
