import type { LoadedConfig } from '../config/load-config.ts';
import { beginServer } from '../http/begin-server.ts';
import { createLogger } from '../shared/logger.ts';
import { waitForSignal } from './run.ts';

/** Serves HTTP until a signal asks it to stop. The rest of the server is loaded while its database opens. */
export async function serve({ config }: LoadedConfig): Promise<void> {
  const signal = waitForSignal();
  const logger = createLogger(config);
  const begun = beginServer(config, logger);
  await begun;
  const { startServer } = await import('../http/server.ts');
  const server = await startServer(config, logger, begun);
  try {
    await Promise.race([signal, server.started.then(() => signal)]);
  } finally {
    await server.stop();
  }
}
