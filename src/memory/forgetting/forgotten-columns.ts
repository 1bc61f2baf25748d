import type { MemoryType } from '../../db/tables.ts';

/** Columns of a memory that was forgotten at this moment, or of one that is there again. */
export function forgottenColumns(type: MemoryType, forgottenAt: Date | null): object {
  const validity = forgottenAt === null ? 'active' : 'retracted';
  if (type === 'episode') return { forgottenAt };
  return type === 'fact' ? { validity } : { validity, forgottenAt };
}

export function forgottenEvent(type: MemoryType): 'fact.retracted' | 'rule.forgotten' | 'episode.forgotten' {
  return type === 'fact' ? 'fact.retracted' : `${type}.forgotten`;
}
