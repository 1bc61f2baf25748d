import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { milliseconds, ratio, type Benchmark, type Figure } from './benchmark.ts';
import { npmStart, type StartedServer } from './npm-start.ts';
import { ask } from './tour.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const writes = 400;
const writers = 4;

const kinds = ['first start', 'later start', 'start after kill -9'] as const;
type Times = Pick<StartedServer, 'firstLine' | 'answered' | 'ready'>;

export const startUp: Benchmark = {
  question: `How long after \`npm start\` does the server on the embedded database answer: the first time (3 s at most), later, and after a kill -9 under ${writes} writes of ${writers} clients (4 s at most)? (median and longest of ${rounds}; BENCH_ROUNDS)`,
  measure: async () => {
    const taken = new Map<string, Times[]>(kinds.map((kind) => [kind, []]));
    for (let round = 0; round < rounds; round++) {
      const home = await mkdtemp(join(tmpdir(), 'butler-memory-bench-'));
      try {
        for (const kind of kinds) {
          const server = await npmStart(home);
          taken.get(kind)?.push(server);
          if (kind === 'later start') await writeUntilKilled(server);
          else await server.end('SIGTERM');
        }
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    }
    const base = medianOf(taken.get('later start') ?? [], 'answered');
    return kinds.flatMap((kind) => describe(kind, taken.get(kind) ?? [], base));
  },
};

/** Kills it while requests are under way. */
async function writeUntilKilled(server: StartedServer): Promise<void> {
  let acknowledged = 0;
  let isKilled = false;
  const store =
    'mutation ($content: String!) { storeEpisode(input: { content: $content, butler: "b" }) { __typename } }';
  const write = async (): Promise<void> => {
    while (!isKilled) {
      await ask(server.url, store, { content: `User wrote note ${acknowledged} about the garden and the weather` });
      acknowledged++;
      if (acknowledged !== writes) continue;
      isKilled = true;
      await server.end('SIGKILL');
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: writers }, write));
  const early = ends.find((end) => end.status === 'rejected');
  if (!isKilled && early !== undefined) throw early.reason;
}

function describe(kind: string, times: Times[], base: number): Figure[] {
  const answered = medianOf(times, 'answered');
  const longest = Math.max(...times.map((time) => time.answered));
  return [
    { what: `${kind}: first line of the log`, value: milliseconds(medianOf(times, 'firstLine')) },
    {
      what: `${kind}: answers a health query (of a later start)`,
      value: `${milliseconds(answered)} (${ratio(answered, base)}), longest ${milliseconds(longest)}`,
    },
    { what: `${kind}: ready, model loaded`, value: milliseconds(medianOf(times, 'ready')) },
  ];
}

function medianOf(times: Times[], name: keyof Times): number {
  const sorted = times.map((time) => time[name]).toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
