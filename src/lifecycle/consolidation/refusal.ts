import { MemoryError } from '../../shared/errors.ts';

/** Why one item of an output is not stored; the others are not concerned. */
export class Refusal extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Refusal';
  }
}

/** Null for an error that is not about the item. Never says what was given: that may be the text of an episode. */
export function reasonOf(error: unknown): string | null {
  if (error instanceof Refusal) return error.message;
  if (!(error instanceof MemoryError) || error.code !== 'INVALID_INPUT') return null;
  return error.message.replace(/; given [\s\S]*$/, '');
}
