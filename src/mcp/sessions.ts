import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  ErrorCode,
  isJSONRPCRequest,
  type CancelledNotification,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { describeGiven } from '../shared/errors.ts';
import { releaseAtEnd } from '../limits/release-at-end.ts';
import { refuse, sessionNotFound } from './errors.ts';

export interface SessionOptions {
  idleSeconds: number;
  maxSessions: number;
  now: () => Date;
}

export interface Session {
  /** A POST comes with the message of its body. */
  answer(request: Request, message?: unknown): Promise<Response>;
}

export interface Sessions {
  /** Another's session is as good as none. */
  find(id: string, owner: string): Session | undefined;
  /** Answers the message that initializes, and keeps the server for the requests to come. */
  open(server: Server, owner: string, request: Request, message: unknown): Promise<Response>;
  close(): Promise<void>;
}

interface OpenSession extends Session {
  owner: string;
  /** Requests under way and streams that are open: what is used does not end by itself. */
  uses: number;
  lastUsedAt: number;
  end(): Promise<void>;
}

/** The sessions of this process, the one that was idle the longest first. */
export function createSessions({ idleSeconds, maxSessions, now }: SessionOptions): Sessions {
  const sessions = new Map<string, OpenSession>();
  const isIdle = ({ uses, lastUsedAt }: OpenSession, seconds: number): boolean =>
    uses === 0 && now().getTime() - lastUsedAt >= seconds * 1000;
  const listIdle = (seconds: number): OpenSession[] =>
    [...sessions.values()].filter((session) => isIdle(session, seconds));
  const sweep = (): void => {
    for (const session of listIdle(idleSeconds)) void session.end();
  };
  // For those that nobody asks for again.
  const sweeper = setInterval(sweep, Math.min(idleSeconds, 60) * 1000).unref();
  const touch = (id: string, session: OpenSession): void => {
    session.lastUsedAt = now().getTime();
    if (sessions.delete(id)) sessions.set(id, session);
  };
  return {
    find: (id, owner) => {
      const session = sessions.get(id);
      if (session?.owner !== owner) return undefined;
      if (!isIdle(session, idleSeconds)) return session;
      void session.end();
      return undefined;
    },
    open: async (server, owner, request, message) => {
      sweep();
      if (sessions.size >= maxSessions) void listIdle(0)[0]?.end();
      if (sessions.size >= maxSessions) {
        return refuse(503, ErrorCode.InternalError, `sessions must be at most ${maxSessions} at one time`);
      }
      const id = randomUUID();
      const session = createSession(id, owner, server, {
        touched: () => touch(id, session),
        ended: () => sessions.delete(id),
      });
      sessions.set(id, session);
      const response = await session.answer(request, message);
      if (!response.ok) await session.end();
      return response;
    },
    close: async () => {
      clearInterval(sweeper);
      await Promise.all([...sessions.values()].map((session) => session.end()));
    },
  };
}

/** node:http sends the headers with the first bytes, and those of the SDK come after fifteen seconds. */
const openComment = ': open\n\n';

interface Listeners {
  touched: () => void;
  ended: () => void;
}

function createSession(id: string, owner: string, server: Server, { touched, ended }: Listeners): OpenSession {
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: true,
    sessionIdGenerator: () => id,
  });
  const underWay = new Map<RequestId, (response: Response) => void>();
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- not an event target; this is how the SDK tells
  server.onclose = () => {
    ended();
    for (const settle of underWay.values()) settle(refuse(404, sessionNotFound, 'the session has ended'));
  };
  const connected = server.connect(transport);
  const session: OpenSession = {
    owner,
    uses: 0,
    lastUsedAt: 0,
    end: async () => {
      ended();
      await server.close();
    },
    answer: async (request, message) => {
      const release = use(session, touched);
      await connected;
      const response = await settleFirst(underWay, transport, request, message).catch((error: unknown) => {
        release();
        throw error;
      });
      return releaseAtEnd(response, request, release, openComment);
    },
  };
  return session;
}

function use(session: OpenSession, touched: () => void): () => void {
  session.uses += 1;
  touched();
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    session.uses -= 1;
    touched();
  };
}

/**
 * The SDK answers neither a request that was cancelled nor one whose session ends, and of two with one id it answers
 * one: their HTTP requests would hang.
 */
async function settleFirst(
  underWay: Map<RequestId, (response: Response) => void>,
  transport: WebStandardStreamableHTTPServerTransport,
  request: Request,
  message: unknown,
): Promise<Response> {
  const handle = (): Promise<Response> => transport.handleRequest(request, { parsedBody: message });
  if (!isJSONRPCRequest(message)) {
    const response = await handle();
    if (response.ok && isCancellation(message)) {
      underWay.get(message.params.requestId as RequestId)?.(new Response(null, { status: 202 }));
    }
    return response;
  }
  if (underWay.has(message.id)) {
    const given = describeGiven(message.id);
    return refuse(400, ErrorCode.InvalidRequest, `id must be one that no request under way has (got ${given})`);
  }
  const settled = new Promise<Response>((resolve) => underWay.set(message.id, resolve));
  try {
    return await Promise.race([handle(), settled]);
  } finally {
    underWay.delete(message.id);
    transport.closeSSEStream(message.id);
  }
}

function isCancellation(message: unknown): message is CancelledNotification {
  return (message as (JSONRPCMessage & { method?: string }) | undefined)?.method === 'notifications/cancelled';
}
