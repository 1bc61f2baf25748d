import { AsyncLocalStorage } from 'node:async_hooks';
import type { Principal } from '../memory/context.ts';
import type { Admission } from './admission.ts';

const current = new AsyncLocalStorage<Admission>();

/** All that `work` awaits is done for this caller. */
export function withCaller<T>(admission: Admission, work: () => T): T {
  return current.run(admission, work);
}

export function currentCaller(): Principal | undefined {
  return current.getStore()?.principal;
}

export function currentAdmission(): Admission | undefined {
  return current.getStore();
}

/** The same for the same caller, wherever it works: what one asks for is not counted as another's. */
export function callerKey({ tenantId, butler, role, visit }: Principal): string {
  return JSON.stringify([visit?.home ?? tenantId, role, butler]);
}

/** The same for the same caller in the same tenant: what one has opened there is of no use to another, or elsewhere. */
export function sessionKey(principal: Principal): string {
  const { tenantId, visit, credential } = principal;
  return JSON.stringify([callerKey(principal), tenantId, visit === undefined ? null : credential]);
}
