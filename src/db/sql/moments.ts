/**
 * A moment in milliseconds since 1970, as which JSON has it. Rounded, for it has no more than milliseconds; the exact
 * `extract` takes ten times as long.
 */
export function milliseconds(column: string): string {
  return `round(date_part('epoch', ${column}) * 1000)`;
}

/** Makes moments of these values of a row that the database has told so. */
export function readMoments(row: Record<string, unknown>, names: readonly string[]): void {
  for (const name of names) {
    const value = row[name];
    if (typeof value === 'number') row[name] = new Date(value);
  }
}
