import { invalidInput } from '../shared/errors.ts';

/** Changes with the form of cursors: those of another version are refused. */
const version = 1;

/** Returns the cursor of a position in a list. It is opaque to callers. */
export function writeCursor(list: string, position: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([version, list, ...position])).toString('base64url');
}

/**
 * Returns the position that a cursor of this list stands for; null without a cursor. A caller may have forged it, so
 * `parse` gets parts of any type, and throws or returns null for what is no position.
 */
export function readCursor<Position>(
  field: string,
  list: string,
  cursor: string | null | undefined,
  parse: (parts: unknown[]) => Position | null,
): Position | null {
  if (cursor === null || cursor === undefined) return null;
  let position: Position | null = null;
  try {
    const [ofVersion, ofList, ...parts] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (ofVersion === version && ofList === list) position = parse(parts);
  } catch {
    // Tells the caller nothing of what is inside.
  }
  if (position === null) throw invalidInput(field, `a cursor of ${list}`, cursor);
  return position;
}
