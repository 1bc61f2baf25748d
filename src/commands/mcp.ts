import type { Logger } from 'pino';
import { localOperator } from '../auth/authenticate.ts';
import { beginMemory } from '../begin-memory.ts';
import type { Config } from '../config/schema.ts';
import { chooseToolGroups } from '../config/tool-groups.ts';

export interface McpOptions {
  config: Config;
  logger: Logger;
  groups: string | undefined;
  signal: Promise<void>;
  /** Told once when the start fails. The server goes on answering calls with the reason, until its client leaves. */
  failed: (error: unknown) => void;
}

/**
 * Serves MCP over standard input and output. Clients wait only so long for the first answer: `initialize` and the lists
 * need no database and are answered at once, and calls wait for it.
 */
export async function serveMcp({ config, logger, groups, signal, failed }: McpOptions): Promise<void> {
  const chosen = chooseToolGroups(groups, config.mcp.toolGroups);
  const beginning = beginMemory(config, logger);
  const { bodyLimitBytes, createApp, mcpServers } = await import('../http/app.ts');
  const { createMemory } = await import('../create-memory.ts');
  const { serveMcpStdio } = await import('../mcp/stdio.ts');
  const opening = createMemory({ config, logger, beginning }).then((core) => ({ core, app: createApp(core) }));
  // What fails after the database was opened, such as the job queue, is a failed start as well.
  let failure: { error: unknown } | undefined;
  void opening
    .then(({ app }) => app.start())
    .catch((error: unknown) => {
      failure = { error };
      failed(error);
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
