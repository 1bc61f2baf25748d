import type { Logger } from 'pino';
import type { Config } from '../config/schema.ts';
import type { Database } from '../db/database.ts';
import type { Embedder } from '../embedding/embedder.ts';

export const roles = ['butler', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/** Who asks. Comes from the authenticated connection, never from an argument. */
export interface Principal {
  readonly tenantId: string;
  /** The butler that asks; null for a person or a tool that works for none. */
  readonly butler: string | null;
  readonly role: Role;
}

/** Ties an answer and its events to the request that caused them, across systems. */
export interface RequestContext {
  readonly requestId: string;
  readonly subrequestId: string | null;
  readonly segmentId: string | null;
}

/** First argument of every domain function: all that it may know of the world. */
export interface MemoryContext {
  readonly db: Database;
  readonly principal: Principal;
  /** The only clock: whatever depends on days is tested by passing another. */
  readonly now: () => Date;
  readonly embedder: Embedder;
  readonly logger: Logger;
  readonly config: Config;
  readonly requestContext: RequestContext;
}

/** Who did it, as events record it. */
export function actorOf(principal: Principal): string {
  return principal.butler === null ? principal.role : `${principal.role}:${principal.butler}`;
}
