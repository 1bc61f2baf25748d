import type { Logger } from 'pino';
import { beginMemory, type MemoryBeginning } from '../begin-memory.ts';
import type { Config } from '../config/schema.ts';
import { MemoryError } from '../shared/errors.ts';
import { requireFreePort } from './listen.ts';
import { isEveryAddress, isLoopback } from './loopback.ts';
import { packageManifest } from '../shared/package-root.ts';

/** Checks the address, so that a server that cannot listen fails at once and leaves nothing behind; then begins. */
export async function beginServer(config: Config, logger: Logger): Promise<MemoryBeginning> {
  requireLoopback(config);
  await requireFreePort(config.butler);
  logger.info({ version: packageManifest.version }, 'starting');
  return beginMemory(config, logger);
}

/** Where nobody is asked who they are, nobody outside this machine may reach the port. */
function requireLoopback({ butler: { host, publicUrl }, auth }: Config): void {
  if (auth.mode === 'required') return requireName(host, publicUrl);
  if (isLoopback(host)) return;
  throw new MemoryError(
    'CONFIGURATION',
    `butler.host must be a loopback address (127.0.0.1, ::1, localhost) while no authentication is configured (got ${JSON.stringify(host)})`,
    { hint: 'Set butler.auth.mode to "required" and create a token with butler-memory token create.' },
  );
}

/** By whatever other name a request came, a site could have pointed that name at this machine. */
function requireName(host: string, publicUrl: string | undefined): void {
  if (publicUrl !== undefined || !isEveryAddress(host)) return;
  throw new MemoryError(
    'CONFIGURATION',
    `butler.public_url must be the address by which callers reach the server while butler.host is ${JSON.stringify(host)} (got none)`,
    { hint: 'Set butler.public_url, such as "https://memory.example.com", or butler.host to one address.' },
  );
}
