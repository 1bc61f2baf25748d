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
 * Returns the SDK's request schema with parameters that are refused in one sentence. The SDK itself answers bad ones with
 * an internal error that contains zod's report as JSON.
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
  return `${['params', ...path].join('.')} must be ${allowed} (got ${describeGiven(given)})`;
}

const typeNames: Record<string, string> = { object: 'an object', record: 'an object', string: 'text' };

/** The request schemas, made once for the servers of all connections. */
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
