import { EngineError } from '../engine.ts';
import type { Usage } from '../run.ts';
import type { ModelServer } from './model-server.ts';

/** No answer of a model comes near it; a server that sends more is broken or hostile. */
const answerByteLimit = 4 * 1024 * 1024;
const errorByteLimit = 64 * 1024;

export interface ModelRequest {
  readonly server: ModelServer;
  readonly baseUrl: string;
  readonly timeoutSeconds: number;
  /** The caller's own, which is not the timeout. */
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** What a request has cost, at most, of which the answer was lost. */
  readonly usageIfLost: Usage;
}

/**
 * A fetch for one request that follows no redirect, goes to no other server, reads no more than it must, and says what
 * went wrong in words that hold nothing of the prompt, the answer or the key.
 */
export function createModelFetch(request: ModelRequest): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== new URL(request.baseUrl).origin) {
      throw new EngineError('a request to another server than that of base_url was not made', { retryable: false });
    }
    const response = await fetch(url, { ...init, redirect: 'manual' }).catch((error: unknown) => {
      throw describeConnectionFailure(request, error);
    });
    if (!response.ok) throw await describeRefusal(request, response);
    const text = await readText(response, answerByteLimit).catch((error: unknown) => {
      throw describeBrokenAnswer(request, error);
    });
    return new Response(text, { status: response.status, headers: { 'content-type': 'application/json' } });
  };
}

class TooLarge extends Error {}

async function readText(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    // Leaving the loop cancels the rest.
    if (bytes > limit) throw new TooLarge();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function describeBrokenAnswer(request: ModelRequest, error: unknown): EngineError {
  const { usageIfLost: usage } = request;
  if (error instanceof TooLarge) {
    const message = `the model's answer was longer than ${answerByteLimit} bytes and was not read to its end`;
    return new EngineError(message, { retryable: true, usage });
  }
  return describeAbort(request, error) ?? new EngineError("the model's answer broke off", { retryable: true, usage });
}

/** Null when nobody ended the request. */
function describeAbort(request: ModelRequest, error: unknown): EngineError | null {
  const { signal, timeoutSeconds, usageIfLost: usage } = request;
  if (signal.aborted) return new EngineError('the request was given up, as the run ended', { retryable: true, usage });
  if (!(error instanceof Error) || error.name !== 'TimeoutError') return null;
  const message = `the model did not answer within ${timeoutSeconds} s (timeout_seconds)`;
  return new EngineError(message, { retryable: true, usage });
}

/** With these, the request did not reach a server: nothing was used, and nothing is wrong with the episodes. */
const unreachable =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_(TLS|SSL)_\w+|CERT_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;

function describeConnectionFailure(request: ModelRequest, error: unknown): EngineError {
  const aborted = describeAbort(request, error);
  if (aborted !== null) return aborted;
  const code = codeOf(error);
  // Without a code it is fetch itself that refuses the address, such as a port that browsers do not use.
  if (code === undefined || unreachable.test(code)) {
    const message = `the model's server could not be reached (${code ?? 'not an address to fetch from'})`;
    return new EngineError(message, { retryable: true, isUnavailable: true });
  }
  const message = `the connection to the model's server broke (${code})`;
  return new EngineError(message, { retryable: true, usage: request.usageIfLost });
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error ? (cause as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : undefined;
}

async function describeRefusal(request: ModelRequest, response: Response): Promise<EngineError> {
  const { status, headers } = response;
  const codes = await readErrorCodes(response);
  const message = `the model's server answered ${[status, ...codes].join(', ')}`;
  if (isBusyOrBroken(status) && !codes.includes('insufficient_quota')) {
    const retryAfterMs = request.server.leaveAlone(request.now(), readRetryAfter(headers, request.now()));
    return new EngineError(message, { retryable: true, retryAfterMs });
  }
  return new EngineError(message, { retryable: true, isUnavailable: !isAboutThePrompt(request, status, codes) });
}

function isBusyOrBroken(status: number): boolean {
  return status >= 500 || status === 429 || status === 408 || status === 425;
}

/**
 * A server that answered before and now finds this request bad has something against its text. One that never answered is
 * set up wrongly: that must not use up the attempts of episode after episode.
 */
function isAboutThePrompt({ server }: ModelRequest, status: number, codes: readonly string[]): boolean {
  if (codes.some((code) => /content_(filter|policy)/.test(code))) return true;
  if (codes.includes('insufficient_quota')) return false;
  return server.hasAnswered && (status === 400 || status === 413 || status === 422);
}

/** The names of the error, and nothing of what the server wrote: it may have quoted the prompt or the key. */
async function readErrorCodes(response: Response): Promise<string[]> {
  const body = await readText(response, errorByteLimit)
    .then((text) => JSON.parse(text) as unknown)
    .catch(() => null);
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  if (typeof error !== 'object' || error === null) return [];
  const { type, code, param } = error as Record<string, unknown>;
  const names = [type, code, param].filter((name) => typeof name === 'string' && /^[a-z][a-z_.]{0,63}$/.test(name));
  return [...new Set(names as string[])];
}

/** Seconds or a date; what is neither, or in the past, asks for nothing. */
function readRetryAfter(headers: Headers, now: Date): number | undefined {
  const given = headers.get('retry-after')?.trim() ?? '';
  const milliseconds = /^\d{1,9}$/.test(given) ? Number(given) * 1000 : Date.parse(given) - now.getTime();
  return Number.isFinite(milliseconds) && milliseconds > 0 ? milliseconds : undefined;
}
