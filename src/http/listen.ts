import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { Config } from '../config/schema.ts';
import { MemoryError } from '../shared/errors.ts';

type Address = Pick<Config['butler'], 'host' | 'port'>;

export async function listen(server: Server, { host, port }: Address): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, { host, port })));
    server.listen(port, host, resolve);
  });
}

/** Rejects if the port cannot be listened on. Port 0 is whichever is free. */
export async function requireFreePort(address: Address): Promise<void> {
  if (address.port === 0) return;
  const probe = createServer();
  await listen(probe, address);
  probe.close();
  await once(probe, 'close');
}

function cannotListen(error: NodeJS.ErrnoException, { host, port }: Address): MemoryError {
  const reason = error.code === 'EADDRINUSE' ? 'another process has it' : error.message;
  return new MemoryError('STARTUP', `port ${port} on ${host} cannot be used: ${reason}`, {
    cause: error,
    hint: 'Set PORT to a free port, or stop the other process.',
  });
}
