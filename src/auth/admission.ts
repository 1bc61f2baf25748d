import type { Principal } from '../memory/context.ts';
import type { Grant } from './grant.ts';

/** An authenticated caller, and until when the authentication holds. */
export interface Admission {
  readonly principal: Principal;
  /** When it is over by itself; null for one that has no end. */
  readonly endsAt: Date | null;
  /** Of a token of ours, which may be revoked; null for whatever else it was let in by. */
  readonly tokenHash: string | null;
}

/** A caller in its own tenant, with its grant over other tenants. */
export interface Identity extends Admission {
  readonly grant: Grant | null;
}
