/** A value as the text that the database reads; which type it is read as, the statement says. */
export function databaseValue(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `{${value.map(arrayElement).join(',')}}`;
  throw new TypeError(
    `a value of a statement must be text, a number, a boolean, a date or a list of these (got ${typeof value})`,
  );
}

function arrayElement(element: unknown): string {
  if (Array.isArray(element)) return databaseValue(element) as string;
  const text = databaseValue(element);
  return text === null ? 'NULL' : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
