import type { MemoryContext } from '../../memory/context.ts';
import type { Claim } from './claim.ts';
import type { EngineName } from './engine-name.ts';
import type { Usage } from './run.ts';

export type { EngineName };

/** Turns claimed episodes into output. It reads what it likes and writes nothing: only `applyOutput` writes. */
export interface ConsolidationEngine {
  readonly name: EngineName;
  /** Why it cannot work at the moment; null when it can. Asked before every claim: nothing is leased in vain. */
  findObstacle?(context: MemoryContext): Promise<string | null>;
  /** Aborted when the lease is lost or the server stops: whatever it answers after that is thrown away. */
  extract(context: MemoryContext, claim: Claim, signal: AbortSignal): Promise<Extraction>;
}

export interface Extraction extends Usage {
  /** An object, or text that holds one as JSON; `parseOutput` decides what it is worth. */
  output: unknown;
  /** Those it looked at, where that is not all of the claim: the others are given back, with no attempt counted. */
  episodeIds?: readonly string[] | undefined;
  /** Those that are too long for it even alone: no retry can mend that, they become `failed`. */
  tooLong?: readonly string[] | undefined;
}

/** Why an engine could not answer. Its message is stored: it holds no secret and no text of an episode. */
export class EngineError extends Error {
  /** False for what no retry can mend: the episodes of the claim become `failed`. */
  readonly retryable: boolean;
  /**
   * The engine cannot work as it is set up (a wrong key, a missing program, the day's money spent), whatever the episodes
   * are: they are given back with no attempt counted, and the sweep ends.
   */
  readonly isUnavailable: boolean;
  /** How long it asks to be left alone; the wait before the next attempt is at least this. */
  readonly retryAfterMs: number | undefined;
  /** What the failure has cost all the same: the run record keeps it. */
  readonly usage: Usage | undefined;

  constructor(message: string, options: EngineErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'EngineError';
    this.retryable = options.retryable;
    this.isUnavailable = options.isUnavailable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.usage = options.usage;
  }
}

export interface EngineErrorOptions {
  retryable: boolean;
  isUnavailable?: boolean | undefined;
  retryAfterMs?: number | undefined;
  usage?: Usage | undefined;
  cause?: unknown;
}
