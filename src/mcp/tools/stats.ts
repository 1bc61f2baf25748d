import type { Tool } from '../tool.ts';

interface Count {
  name: string;
  count: number;
}

interface StatsResult {
  episodes: { total: number; backlog: number; dead_letters: number };
  facts: { total: number; by_validity: Count[] };
  rules: { total: number; by_maturity: Count[] };
  by_generation: Count[];
  unknown: string[];
}

const counts = '{ name count }';

export const statsTool: Tool = {
  name: 'memory_stats',
  title: 'Statistics of the memory',
  group: 'manage',
  operation: /* GraphQL */ `
    query MemoryStats($scope: String) {
      stats(scope: $scope) {
        scope
        at
        episodes { total byStatus ${counts} backlog oldestPendingAt deadLetters }
        facts { total byValidity ${counts} byPermanence ${counts} confidence }
        rules { total disabled byValidity ${counts} byMaturity ${counts} confidence effectiveness }
        byGeneration ${counts}
        jobs { name status state startedAt completedAt nextAt }
        unknown
      }
    }
  `,
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  describe: ({ episodes, facts, rules, by_generation: generations, unknown }: StatsResult) =>
    [
      `${episodes.total} episodes (${episodes.backlog} wait to be consolidated, ${episodes.dead_letters} dead letters)`,
      `${facts.total} live facts (${list(facts.by_validity)})`,
      `${rules.total} live rules (${list(rules.by_maturity)})`,
      `generations: ${list(generations)}`,
      ...(unknown.length === 0 ? [] : [`not known: ${unknown.join(', ')}`]),
    ].join('\n'),
};

function list(counted: Count[]): string {
  return counted.map(({ name, count }) => `${name} ${count}`).join(', ') || 'none';
}
