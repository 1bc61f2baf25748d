import type { ForeignItem } from '../../memory/quarantine/quarantine.ts';
import type { MemoryContext } from '../../memory/context.ts';
import type { Claim } from './claim.ts';
import type { EngineName, Usage } from './run.ts';

/** Turns claimed episodes into output. It may read anything and writes nothing: only `applyOutput` writes. */
export interface ConsolidationEngine {
  readonly name: EngineName;
  /** Returns why it cannot work at the moment, or null. Called before every claim, so that nothing is leased in vain. */
  findObstacle?(context: MemoryContext): Promise<string | null>;
  /** The signal is aborted when the lease is lost or the server stops; a later answer is discarded. */
  extract(context: MemoryContext, claim: Claim, signal: AbortSignal): Promise<Extraction>;
}

export interface Extraction extends Usage {
  /** An object, or text that contains one as JSON, for `parseOutput`. */
  output: unknown;
  /** The episodes that it read, if not all of the claim: the others are given back, with no attempt counted. */
  episodeIds?: readonly string[] | undefined;
  /** What it found in text of others: held back for an operator, and not learned. */
  foreign?: readonly ForeignItem[] | undefined;
  /** Episodes that are too long for it even alone: they become `failed`, because no retry can succeed. */
  tooLong?: readonly string[] | undefined;
}

/** Why an engine could not answer. Its message is stored: it holds no secret and no text of an episode. */
export class EngineError extends Error {
  /** False when no retry can succeed: the episodes of the claim become `failed`. */
  readonly retryable: boolean;
  /**
   * True when the engine cannot work at all (a wrong key, a missing program, the day's budget spent): the episodes are
   * given back with no attempt counted, and the sweep ends.
   */
  readonly isUnavailable: boolean;
  /** How long the model server asks to wait; the next attempt waits at least this long. */
  readonly retryAfterMs: number | undefined;
  /** What the failed request cost; the run keeps it. */
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
