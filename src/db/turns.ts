/** Work of one key, one after the other in the order in which it came. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const earlier = this.#last.get(key);
    const result = earlier === undefined ? work() : earlier.then(work);
    // The sender of the work handles its failure.
    const ended = result.then(ignore, ignore);
    this.#last.set(key, ended);
    await ended;
    if (this.#last.get(key) === ended) this.#last.delete(key);
    return result;
  }
}

function ignore(): void {
  // The next one runs, however this one ended.
}
