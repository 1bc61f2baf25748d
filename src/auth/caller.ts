import { AsyncLocalStorage } from 'node:async_hooks';
import type { Principal } from '../memory/context.ts';

const current = new AsyncLocalStorage<Principal>();

/** All that `work` awaits is done for this caller. */
export function withCaller<T>(caller: Principal, work: () => T): T {
  return current.run(caller, work);
}

export function currentCaller(): Principal | undefined {
  return current.getStore();
}

/** The same for the same caller: what belongs to one must not be used by another. */
export function callerKey({ tenantId, butler, role }: Principal): string {
  return JSON.stringify([tenantId, role, butler]);
}
