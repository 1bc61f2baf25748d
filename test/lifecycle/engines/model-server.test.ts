import { describe, expect, it } from 'vitest';
import { ModelServer } from '../../../src/lifecycle/consolidation/engines/model-server.ts';
import { neverAborted } from './setup.ts';

/** A clock that only waiting moves. */
function slowTime(): { server: ModelServer; waits: number[]; advance: (milliseconds: number) => void } {
  let now = 1000;
  const waits: number[] = [];
  const server = new ModelServer({
    clock: () => now,
    wait: async (milliseconds) => {
      waits.push(milliseconds);
      now += milliseconds;
    },
  });
  return { server, waits, advance: (milliseconds) => (now += milliseconds) };
}

describe('requests to one server', () => {
  it('go at once while they are no more than allowed within a minute', async () => {
    const { server, waits, advance } = slowTime();
    for (let turn = 0; turn < 6; turn++) {
      await server.takeTurn(3, neverAborted);
      advance(20_000);
    }
    expect(waits).toEqual([]);
  });

  it('wait until the one so many before them is a minute ago', async () => {
    const { server, waits, advance } = slowTime();
    await server.takeTurn(2, neverAborted);
    advance(10_000);
    await server.takeTurn(2, neverAborted);
    await server.takeTurn(2, neverAborted);
    await server.takeTurn(2, neverAborted);
    expect(waits).toEqual([50_000, 10_000]);
  });

  it('do not wait any longer when the run ends', async () => {
    const server = new ModelServer();
    const controller = new AbortController();
    await server.takeTurn(1, controller.signal);
    const second = server.takeTurn(1, controller.signal);
    controller.abort();
    await expect(second).rejects.toThrow(/abort/i);
  });
});
