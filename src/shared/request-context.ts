import { AsyncLocalStorage } from 'node:async_hooks';
import { v7 as uuidv7 } from 'uuid';

/** Ties an answer and its events to the request that caused them, across systems. */
export interface RequestContext {
  readonly requestId: string;
  readonly subrequestId: string | null;
  readonly segmentId: string | null;
}

const current = new AsyncLocalStorage<RequestContext>();

/** All that `work` awaits belongs to this request: its log lines, its events and its error reports carry the id. */
export function withRequestContext<T>(context: RequestContext, work: () => T): T {
  return current.run(context, work);
}

export function currentRequestContext(): RequestContext | undefined {
  return current.getStore();
}

export function currentRequestId(): string | undefined {
  return current.getStore()?.requestId;
}

/** Of an id that a caller chose: nothing that could break a log line or a header. */
export const requestIdPattern = /^[\w.:-]{1,128}$/;

/**
 * A caller's own ids are kept, so that one id runs through all systems; those that do not fit are not, and those that
 * must not be kept anywhere.
 */
export function acceptRequestContext(headers: Headers, mayBeKept: (id: string) => boolean): RequestContext {
  const accept = (name: string): string | null => {
    const given = headers.get(name);
    return given !== null && requestIdPattern.test(given) && mayBeKept(given) ? given : null;
  };
  return {
    requestId: accept('x-request-id') ?? uuidv7(),
    subrequestId: accept('x-subrequest-id'),
    segmentId: accept('x-segment-id'),
  };
}

/** For work that no caller named. */
export function newRequestContext(): RequestContext {
  return { requestId: uuidv7(), subrequestId: null, segmentId: null };
}
