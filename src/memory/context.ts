import type { Logger } from 'pino';
import type { Config } from '../config/schema.ts';
import type { Database, TenantDatabase } from '../db/database.ts';
import type { Embedder } from '../embedding/embedder.ts';
import type { Reranker } from '../embedding/reranker.ts';
import { newRequestContext, type RequestContext } from '../shared/request-context.ts';
import type { Vault } from '../encryption/vault.ts';
import type { Caches } from './caches.ts';

export const roles = ['viewer', 'butler', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

/** The caller. Comes from the authenticated connection, never from an argument. */
export interface Principal {
  /** The tenant that is worked in: of a visitor, not its own. */
  readonly tenantId: string;
  /** The butler that asks; null for a person or a tool that works for none. */
  readonly butler: string | null;
  readonly role: Role;
  /** What it came in by, for who looks after it: a token by its id, a subject of the issuer. */
  readonly credential?: string;
  /** Of who came from another tenant, by a grant. */
  readonly visit?: Visit;
  /** Whether it may do what concerns all tenants at once. */
  readonly servesAll?: boolean;
}

export interface Visit {
  /** The tenant that it comes from, and that vouches for it. */
  readonly home: string;
  readonly mayWrite: boolean;
}

/** First argument of every domain function: all that it may know of the world. */
export interface MemoryContext {
  readonly db: TenantDatabase;
  readonly principal: Principal;
  /** The only clock: whatever depends on days is tested by passing another. */
  readonly now: () => Date;
  readonly embedder: Embedder;
  /** Where one is configured. */
  readonly reranker?: Reranker | undefined;
  /** The keys of what is encrypted. */
  readonly vault: Vault;
  readonly caches: Caches;
  readonly logger: Logger;
  readonly config: Config;
  readonly requestContext: RequestContext;
  /** The actor of events, where it is not the principal: a job has no caller. */
  readonly actor?: string;
}

/** The same with a clock that stands still: all that one write stores and records has one time. */
export function atOneMoment(context: MemoryContext): MemoryContext {
  const moment = context.now();
  return { ...context, now: () => moment };
}

/** Returns the actor, as events record it. */
export function nameActor({ principal, actor }: Pick<MemoryContext, 'principal' | 'actor'>): string {
  if (actor !== undefined) return actor;
  const { role, butler, visit, credential } = principal;
  if (visit !== undefined) return `${role}@${visit.home} by ${credential ?? 'nothing'}`;
  return butler === null ? role : `${role}:${butler}`;
}

/** The parts of a server from which a context for any tenant can be made. */
export type ServerContext = Pick<MemoryContext, 'embedder' | 'vault' | 'caches' | 'config' | 'logger' | 'now'> & {
  readonly db: Database;
};

/** Returns the context of the server itself in one tenant: for jobs and commands, which no caller asked for. */
export function createTenantContext(server: ServerContext, tenantId: string): MemoryContext {
  const { embedder, vault, caches, config, logger, now } = server;
  const db = server.db.forTenant(tenantId);
  const principal = { tenantId, butler: null, role: 'admin' } as const;
  return { db, embedder, vault, caches, config, logger, now, principal, requestContext: newRequestContext() };
}
