import type { Principal } from '../memory/context.ts';
import type { Grant } from './grant.ts';

/** Who was let in, and for how long that holds. */
export interface Admission {
  readonly principal: Principal;
  /** When it is over by itself; null for one that has no end. */
  readonly endsAt: Date | null;
  /** Of a token of ours, which may be revoked; null for whatever else it was let in by. */
  readonly tokenHash: string | null;
}

/** Who it is at home, and where else it may go. */
export interface Identity extends Admission {
  readonly grant: Grant | null;
}
