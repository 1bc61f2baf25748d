import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the server saw of one request. */
export interface SeenRequest {
  path: string;
  headers: IncomingMessage['headers'];
  body: Record<string, unknown>;
  /** What the model was told, all messages in one. */
  prompt: string;
}

/** Writes the answer to one request. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

export interface ModelServer {
  /** With the version, as base_url wants it. */
  readonly baseUrl: string;
  readonly requests: SeenRequest[];
  /** What the next requests get, one each; without any left, a request fails the test by its status 599. */
  script(...answers: Answer[]): void;
  close(): Promise<void>;
}

/** A server that answers as models do: what it is told to, in the order it is told. */
export async function startModelServer(): Promise<ModelServer> {
  const answers: Answer[] = [];
  const requests: SeenRequest[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen = see(request, await readBody(request));
    requests.push(seen);
    const answer = answers.shift() ?? status(599);
    answer(response, seen);
  };
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    script: (...more) => answers.push(...more),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function see({ url, headers }: IncomingMessage, text: string): SeenRequest {
  const body = JSON.parse(text) as Record<string, unknown>;
  const prompt = [body.system, body.messages].map(textOf).join('\n');
  return { path: url ?? '', headers, body, prompt };
}

/** Of a message of either protocol. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('\n');
  if (typeof value !== 'object' || value === null) return '';
  const { text, content } = value as Record<string, unknown>;
  return textOf(text ?? content);
}

const usage = { prompt_tokens: 1200, completion_tokens: 340, total_tokens: 1540 };

export interface CompletionOptions {
  finishReason?: string;
  usage?: object | null;
}

/** A chat completion; what is not text is written as JSON. */
export function completion(content: unknown, options: CompletionOptions = {}): Answer {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return json(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [
      { index: 0, message: { role: 'assistant', content: text }, finish_reason: options.finishReason ?? 'stop' },
    ],
    ...(options.usage !== null && { usage: options.usage ?? usage }),
  });
}

/** An answer that is made from the request, as a model makes it. */
export function completionOf(write: (request: SeenRequest) => unknown): Answer {
  return (response, request) => completion(write(request))(response, request);
}

/** The same of Anthropic's protocol: a text, or the input of the tool that the answer is asked for by. */
export function anthropicMessage(content: unknown): Answer {
  const block =
    typeof content === 'string'
      ? { type: 'text', text: content }
      : { type: 'tool_use', id: 'toolu_1', name: 'json', input: content };
  return json(200, {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'scripted',
    content: [block],
    stop_reason: typeof content === 'string' ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 900, output_tokens: 210 },
  });
}

export function json(code: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function status(code: number, headers: Record<string, string> = {}, error: object = {}): Answer {
  return json(code, { error: { message: 'it says what it was given: SECRET-OF-THE-SERVER', ...error } }, headers);
}

/** Takes the request and never says a word. */
export const silence: Answer = () => undefined;

/** Sends without an end, as fast as it is read. */
export const endlessAnswer: Answer = (response) => {
  const piece = 'x'.repeat(64 * 1024);
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', write).writeHead(200, { 'content-type': 'application/json' });
  response.write('{"choices":[{"message":{"content":"');
  write();
};

/** Starts an answer and hangs up in the middle of it. */
export const cutOff: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"choices":[{"message":{"content":"{\\"new_facts\\":', () => response.destroy());
};
