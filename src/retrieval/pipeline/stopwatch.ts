/** Milliseconds by stage. Stages may overlap. */
export type Milliseconds = Record<string, number>;

/** Durations, never moments: what is true at which time is for the clock of the context to say. */
export class Stopwatch {
  readonly milliseconds: Milliseconds = {};

  async time<T>(stage: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      const elapsed = performance.now() - startedAt;
      this.milliseconds[stage] = Math.round(((this.milliseconds[stage] ?? 0) + elapsed) * 100) / 100;
    }
  }
}
