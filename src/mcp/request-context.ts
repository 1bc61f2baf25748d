import { invalidInput } from '../errors.ts';
import { toSnakeCase } from '../names.ts';
import { requestIdPattern, type RequestContext } from '../request-id.ts';
import type { ObjectSchema } from './json-schema.ts';
import { isPlainObject, parseJson } from './json-text.ts';

/** The argument that every tool takes beside those of its operation. */
export const requestContextName = 'request_context';

const parts = ['requestId', 'subrequestId', 'segmentId'] as const satisfies (keyof RequestContext)[];

/** Short, because every tool has it twice. */
export const requestContextSchema: ObjectSchema = {
  type: 'object',
  description: "Ids of the caller's request: the answer carries them, and so does the event of a write.",
  properties: Object.fromEntries(parts.map((part) => [toSnakeCase(part), { type: 'string' }])),
  required: ['request_id'],
};

/** Null when there is none. Keys that are not known are let pass, as callers put more into it than is used here. */
export function readRequestContext(given: unknown): RequestContext | null {
  if (given === null || given === undefined) return null;
  const value = typeof given === 'string' ? parseJson(given) : given;
  if (!isPlainObject(value)) throw invalidInput(requestContextName, 'an object', given, hint);
  return {
    requestId: readId('request_id', value['request_id']),
    subrequestId: readOptionalId('subrequest_id', value['subrequest_id']),
    segmentId: readOptionalId('segment_id', value['segment_id']),
  };
}

const hint = `Send ${requestContextName} as {"request_id": "your-id"}, or leave it out.`;

function readOptionalId(name: string, given: unknown): string | null {
  return given === null || given === undefined ? null : readId(name, given);
}

function readId(name: string, given: unknown): string {
  if (typeof given === 'string' && requestIdPattern.test(given)) return given;
  throw invalidInput(
    `${requestContextName}.${name}`,
    '1 to 128 letters, digits, "_", ".", ":" or "-"',
    given ?? null,
    hint,
  );
}

/** As it is told to the caller. */
export function describeRequestContext(context: RequestContext): Record<string, string> {
  return Object.fromEntries(
    parts.flatMap((part) => (context[part] === null ? [] : [[toSnakeCase(part), context[part]]])),
  );
}
