import { invalidInput, MemoryError } from '../../shared/errors.ts';
import { toSnakeCase } from '../../shared/names.ts';
import { requestIdPattern, type RequestContext } from '../../shared/request-context.ts';
import { isPlainObject, parseJson } from '../../shared/json-text.ts';

export type JsonSchema = Record<string, unknown>;

export interface ObjectSchema extends JsonSchema {
  type: 'object';
  properties: Record<string, JsonSchema>;
  required: string[];
}

/** The argument that every tool takes besides those of its operation. */
export const requestContextName = 'request_context';

const parts = ['requestId', 'subrequestId', 'segmentId'] as const satisfies (keyof RequestContext)[];

/** Kept short: it appears twice in each tool of tools/list. */
export const requestContextSchema: ObjectSchema = {
  type: 'object',
  description: "Ids of the caller's request: the answer carries them, and so does the event of a write.",
  properties: Object.fromEntries(parts.map((part) => [toSnakeCase(part), { type: 'string' }])),
  required: ['request_id'],
};

/** Reads the argument; null if it is absent. Unknown keys are ignored: callers pass their whole context object. */
export function readRequestContext(given: unknown, mayBeKept: (id: string) => boolean): RequestContext | null {
  if (given === null || given === undefined) return null;
  const value = typeof given === 'string' ? parseJson(given) : given;
  if (!isPlainObject(value)) throw invalidInput(requestContextName, 'an object', given, hint);
  const named = {
    requestId: readId('request_id', value['request_id']),
    subrequestId: readOptionalId('subrequest_id', value['subrequest_id']),
    segmentId: readOptionalId('segment_id', value['segment_id']),
  };
  for (const part of parts) refuseUnlessKept(part, named[part], mayBeKept);
  return named;
}

const hint = `Send ${requestContextName} as {"request_id": "your-id"}, or leave it out.`;

/** Refuses an id that looks like a secret: it would go into every log line and event. The message does not quote it. */
function refuseUnlessKept(part: (typeof parts)[number], id: string | null, mayBeKept: (id: string) => boolean): void {
  if (id === null || mayBeKept(id)) return;
  const problem = 'an id that is no password, key, token or personal number (got one, which is not shown)';
  throw new MemoryError('INVALID_INPUT', `${requestContextName}.${toSnakeCase(part)} must be ${problem}`, { hint });
}

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

/** Returns the context as the answer shows it, without absent ids. */
export function describeRequestContext(context: RequestContext): Record<string, string> {
  return Object.fromEntries(
    parts.flatMap((part) => (context[part] === null ? [] : [[toSnakeCase(part), context[part]]])),
  );
}
