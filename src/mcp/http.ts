import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { readRequestBody } from '@modelcontextprotocol/sdk/server/requestBody.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { ErrorCode, isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { MemoryError } from '../shared/errors.ts';
import { chooseToolGroups, type ToolGroup } from '../config/tool-groups.ts';
import { refuse, sessionNotFound } from './errors.ts';
import { parseJson } from '../shared/json-text.ts';
import { createSessions, type Session, type SessionOptions, type Sessions } from './sessions.ts';

export interface McpHttpOptions {
  /** For one connection. */
  newServer: (groups: readonly ToolGroup[]) => Server;
  /** What a connection may ask for. */
  toolGroups: readonly ToolGroup[];
  bodyLimitBytes: number;
  /** None where clients get no session. */
  sessions: SessionOptions | undefined;
}

export interface McpHttpDoor {
  /** `owner` says whose request it is: a session answers those of its own caller alone. */
  fetch(request: Request, owner: string): Promise<Response>;
  /** Ends every session. */
  close(): Promise<void>;
}

/**
 * A request without a session stands alone, so that any process of a fleet can answer it. Where sessions are on, a
 * client that initializes gets one, and needs this process from then on.
 */
export function createMcpHttpDoor(options: McpHttpOptions): McpHttpDoor {
  const sessions = options.sessions && createSessions(options.sessions);
  return {
    fetch: async (request, owner) => {
      try {
        return await answer(request, owner, options, sessions);
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error;
        return refuse(400, ErrorCode.InvalidParams, error.message);
      }
    },
    close: async () => sessions?.close(),
  };
}

async function answer(
  request: Request,
  owner: string,
  options: McpHttpOptions,
  sessions: Sessions | undefined,
): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const groups = chooseToolGroups(searchParams.get('groups') ?? undefined, options.toolGroups);
  const sessionId = sessions === undefined ? null : request.headers.get('mcp-session-id');
  const session = sessionId === null ? undefined : sessions?.find(sessionId, owner);
  if (sessionId !== null && session === undefined) return refuseUnknownSession();
  if (request.method !== 'POST') return answerWithoutBody(request, session, sessions !== undefined);
  const message = await readMessage(request, options.bodyLimitBytes);
  if (message instanceof Response) return message;
  if (session !== undefined) return session.answer(request, message);
  const server = options.newServer(groups);
  if (sessions !== undefined && isInitializeRequest(message)) return sessions.open(server, owner, request, message);
  return answerAlone(request, message, server);
}

function refuseUnknownSession(): Response {
  return refuse(404, sessionNotFound, 'session must be one that has not ended; initialize again without a session id');
}

/** Without a session, GET would open a stream on which nothing ever comes, and DELETE end what nobody keeps. */
function answerWithoutBody(
  request: Request,
  session: Session | undefined,
  hasSessions: boolean,
): Response | Promise<Response> {
  const isKnown = hasSessions && (request.method === 'GET' || request.method === 'DELETE');
  if (session !== undefined && isKnown) return session.answer(request);
  if (isKnown) return refuse(400, ErrorCode.InvalidRequest, 'mcp-session-id must be the id of a session (got none)');
  const allow = hasSessions ? 'GET, POST, DELETE' : 'POST';
  return refuse(405, ErrorCode.InvalidRequest, `method must be ${allow} (got ${request.method})`, { allow });
}

async function readMessage(request: Request, bodyLimitBytes: number): Promise<unknown> {
  const body = await readRequestBody(request, bodyLimitBytes);
  if (body.tooLarge) return refuse(413, ErrorCode.InvalidRequest, `body must be at most ${bodyLimitBytes} bytes`);
  const message = parseJson(body.text);
  if (message === undefined) return refuse(400, ErrorCode.ParseError, 'body must be JSON (got something else)');
  // They left the protocol in 2025-06-18, and one that cancels its own request would never be answered.
  if (Array.isArray(message)) return refuse(400, ErrorCode.InvalidRequest, 'body must be one message (got a batch)');
  return message;
}

async function answerAlone(request: Request, message: unknown, server: Server): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const response = await transport.handleRequest(request, { parsedBody: message });
  const body = await response.arrayBuffer();
  await server.close();
  return new Response(body.byteLength === 0 ? null : body, response);
}
