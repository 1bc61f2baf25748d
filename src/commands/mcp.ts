import { localOperator } from '../auth/authenticate.ts';
import { beginMemory } from '../begin-memory.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { chooseToolGroups } from '../config/tool-groups.ts';
import { createLogger } from '../shared/logger.ts';
import { reportFailure, waitForSignal } from './run.ts';

/**
 * Serves MCP over standard input and output. Clients wait only so long for the first answer: `initialize` and the lists
 * need no database and are answered at once, and calls wait for it. After a failed start, calls are answered with the
 * reason until the client leaves.
 */
export async function serveMcp({ config }: LoadedConfig, { groups }: { groups?: string }): Promise<void> {
  const signal = waitForSignal();
  // Standard output belongs to the protocol.
  const logger = createLogger(config, 'stderr');
  const chosen = chooseToolGroups(groups, config.mcp.toolGroups);
  const beginning = beginMemory(config, logger);
  const { bodyLimitBytes, createApp, mcpServers } = await import('../http/app.ts');
  const { createMemory } = await import('../create-memory.ts');
  const { serveMcpStdio } = await import('../mcp/stdio.ts');
  const opening = createMemory({ config, logger, beginning }).then((core) => ({ core, app: createApp(core) }));
  let failure: { error: unknown } | undefined;
  void opening
    .then(({ app }) => app.start())
    .catch((error: unknown) => {
      failure = { error };
      reportFailure(error);
    });
  const newServer = mcpServers(
    { config, logger },
    {
      findPrincipal: () => localOperator,
      execute: async (operation) => {
        const { app } = await opening;
        if (failure !== undefined) throw failure.error;
        return app.operations.execute({ ...operation, contextValue: app.createContext({}, localOperator) });
      },
    },
  );
  try {
    await Promise.race([
      serveMcpStdio(newServer(chosen, localOperator), { lineLimitBytes: bodyLimitBytes, logger }),
      signal,
    ]);
  } finally {
    const opened = await opening.catch(() => undefined);
    await opened?.app.stop();
    await opened?.core.close();
  }
}
