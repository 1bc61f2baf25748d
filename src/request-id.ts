import { AsyncLocalStorage } from 'node:async_hooks';
import { v7 as uuidv7 } from 'uuid';

const current = new AsyncLocalStorage<string>();

/** All that `work` awaits belongs to this request: its log lines, its events and its error reports carry the id. */
export function withRequestId<T>(requestId: string, work: () => T): T {
  return current.run(requestId, work);
}

export function currentRequestId(): string | undefined {
  return current.getStore();
}

/** A caller's own id is kept, so that one id runs through all systems; one that could break a log line is not. */
export function acceptRequestId(given: string | null): string {
  return given !== null && /^[\w.:-]{1,128}$/.test(given) ? given : uuidv7();
}
