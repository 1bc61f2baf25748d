import type { Tool } from '../tool.ts';

interface HealthResult {
  status: string;
  checks: { name: string; status: string; detail: string | null }[];
}

export const healthTool: Tool = {
  name: 'memory_health',
  title: 'Health of the memory server',
  group: 'manage',
  operation: /* GraphQL */ `
    query MemoryHealth {
      health {
        status
        version
        engine
        checks {
          name
          status
          detail
        }
      }
    }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: ({ status, checks }: HealthResult) =>
    [status, ...checks.map((check) => `${check.name}: ${check.detail ?? check.status}`)].join('\n'),
};
