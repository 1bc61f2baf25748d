import type { Embedding, TextPriority } from './embedder.ts';

interface WaitingText {
  text: string;
  resolve: (embedding: Embedding) => void;
  reject: (error: Error) => void;
}

/**
 * Runs at most `maxInFlight` texts at once. Each priority is first come, first served, and queries go before documents,
 * so that a search during a large import waits for the texts in flight and not for the whole batch.
 */
export class TextQueue {
  readonly #maxInFlight: number;
  readonly #run: (text: string) => Promise<Embedding>;
  readonly #queries: WaitingText[] = [];
  readonly #documents: WaitingText[] = [];
  #inFlight = 0;

  constructor(maxInFlight: number, run: (text: string) => Promise<Embedding>) {
    this.#maxInFlight = maxInFlight;
    this.#run = run;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get waiting(): number {
    return this.#queries.length + this.#documents.length;
  }

  submit(text: string, priority: TextPriority): Promise<Embedding> {
    const line = priority === 'query' ? this.#queries : this.#documents;
    return new Promise((resolve, reject) => {
      line.push({ text, resolve, reject });
      this.#fill();
    });
  }

  rejectWaiting(error: Error): void {
    for (const line of [this.#queries, this.#documents]) {
      for (const { reject } of line.splice(0)) reject(error);
    }
  }

  #fill(): void {
    while (this.#inFlight < this.#maxInFlight) {
      const next = this.#queries.shift() ?? this.#documents.shift();
      if (next === undefined) return;
      void this.#start(next);
    }
  }

  async #start({ text, resolve, reject }: WaitingText): Promise<void> {
    this.#inFlight += 1;
    await this.#run(text).then(resolve, reject);
    this.#inFlight -= 1;
    this.#fill();
  }
}
