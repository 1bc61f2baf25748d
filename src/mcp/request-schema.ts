import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  InitializeRequestSchema,
  ListPromptsRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { describeGiven } from '../shared/errors.ts';
import { ProtocolError } from './errors.ts';

type Params<Request extends z.ZodObject> = z.ZodPipe<
  z.ZodUnknown,
  z.ZodTransform<z.output<Request['shape']['params'] & z.ZodType>>
>;

/**
 * The request as the SDK has it, with parameters that are refused in one sentence. Left to itself, the SDK tells the
 * client all that zod found, as JSON and as an internal error.
 */
function plainlyRefused<Request extends z.ZodObject>(
  request: Request,
): z.ZodObject<Omit<Request['shape'], 'params'> & { params: Params<Request> }> {
  const schema = request.shape['params'] as z.ZodType;
  const params = z.unknown().transform((given) => {
    const read = schema.safeParse(given);
    if (read.success) return read.data;
    throw new ProtocolError(ErrorCode.InvalidParams, describeIssue(read.error, given));
  });
  const mayBeLeftOut = schema.safeParse(undefined).success;
  return request.extend({ params: mayBeLeftOut ? params.optional() : params }) as never;
}

function describeIssue({ issues: [issue] }: z.ZodError, params: unknown): string {
  const path = issue?.path ?? [];
  const given = path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
    params,
  );
  const allowed = issue?.code === 'invalid_type' ? (typeNames[issue.expected] ?? issue.expected) : issue?.message;
  return `${['params', ...path].join('.')}: ${allowed}; given ${describeGiven(given)}`;
}

const typeNames: Record<string, string> = { object: 'an object', record: 'an object', string: 'text' };

/** Made once: there is a server for each connection. */
export const requests = {
  initialize: plainlyRefused(InitializeRequestSchema),
  listTools: plainlyRefused(ListToolsRequestSchema),
  callTool: plainlyRefused(CallToolRequestSchema),
  listResources: plainlyRefused(ListResourcesRequestSchema),
  listResourceTemplates: plainlyRefused(ListResourceTemplatesRequestSchema),
  readResource: plainlyRefused(ReadResourceRequestSchema),
  listPrompts: plainlyRefused(ListPromptsRequestSchema),
  getPrompt: plainlyRefused(GetPromptRequestSchema),
};
