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

/** A caller's own ids are kept, so that one id runs through all systems; those that do not fit are not. */
export function acceptRequestContext(headers: Headers): RequestContext {
  return {
    requestId: acceptId(headers.get('x-request-id')) ?? uuidv7(),
    subrequestId: acceptId(headers.get('x-subrequest-id')),
    segmentId: acceptId(headers.get('x-segment-id')),
  };
}

/** For work that no caller named. */
export function newRequestContext(): RequestContext {
  return { requestId: uuidv7(), subrequestId: null, segmentId: null };
}

function acceptId(given: string | null): string | null {
  return given !== null && requestIdPattern.test(given) ? given : null;
}
