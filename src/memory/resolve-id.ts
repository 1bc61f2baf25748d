import { validate as isUuid } from 'uuid';
import { listByEndOfId } from '../db/queries/memories.ts';
import type { MemoryType } from '../db/tables.ts';
import { describeGiven, invalidInput, MemoryError } from '../shared/errors.ts';
import { longHandleOf, readHandle } from '../shared/handles.ts';
import type { MemoryContext } from './context.ts';
import type { MemoryReference } from './links/links.ts';

type Reader = Pick<MemoryContext, 'db'>;

/** Returns the id that a UUID or handle names; null for a handle of no memory that the caller may see. */
export async function findId(
  context: Reader,
  field: string,
  given: string,
  type: MemoryType | null = null,
): Promise<string | null> {
  const text = given.trim();
  if (isUuid(text)) return text.toLowerCase();
  const found = await listNamed(context, field, given);
  const fitting = found.filter((one) => type === null || one.type === type);
  if (fitting.length > 1) throw ambiguous(field, given, fitting);
  return fitting[0]?.id ?? null;
}

/** The same, of a memory that must be there. A UUID is not looked up. */
export async function resolveId(context: Reader, field: string, given: string, type: MemoryType): Promise<string> {
  const id = await findId(context, field, given, type);
  if (id !== null) return id;
  const [other] = await listNamed(context, field, given);
  throw new MemoryError('NOT_FOUND', `${type} ${given.trim()} is not there`, {
    hint:
      other === undefined ? 'Pass the id or handle as an answer shows it.' : `This is the handle of a ${other.type}.`,
  });
}

/** The same; blank counts as absent. */
export async function resolveOptionalId(
  context: Reader,
  field: string,
  given: string | null | undefined,
  type: MemoryType,
): Promise<string | null> {
  return (given ?? '').trim() === '' ? null : resolveId(context, field, given ?? '', type);
}

export async function resolveReference(
  context: Reader,
  { type, id }: MemoryReference,
  field = 'id',
): Promise<MemoryReference> {
  return { type, id: await resolveId(context, field, id, type) };
}

/** More than one is too many: these few can be named. */
const mostNamed = 5;

/** Row-level security leaves out what the caller may not see, so that its handle is as good as unknown. */
async function listNamed({ db }: Reader, field: string, given: string): Promise<MemoryReference[]> {
  const end = readHandle(given);
  if (end === null) throw invalidInput(field, 'a UUID or a handle such as "ab123cd"', given);
  return listByEndOfId(db.client, end, mostNamed);
}

function ambiguous(field: string, given: string, found: readonly MemoryReference[]): MemoryError {
  const longer = found.map(({ type, id }) => `${type} ${longHandleOf(id)} (${id})`);
  return new MemoryError(
    'INVALID_INPUT',
    `${field} must name one memory (got ${describeGiven(given)}, which several share)`,
    {
      hint: `Use the longer handle or the id: ${longer.join(', ')}.`,
    },
  );
}
