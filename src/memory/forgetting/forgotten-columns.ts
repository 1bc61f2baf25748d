import type { MemoryType } from '../../db/tables.ts';

/** Columns of a memory that was forgotten at this moment, or of one that is there again. */
export function forgottenColumns(type: MemoryType, forgottenAt: Date | null): object {
  return type === 'episode' ? { forgottenAt } : { validity: forgottenAt === null ? 'active' : 'retracted' };
}

export function forgottenEvent(type: MemoryType): 'fact.retracted' | 'rule.forgotten' | 'episode.forgotten' {
  return type === 'fact' ? 'fact.retracted' : `${type}.forgotten`;
}
