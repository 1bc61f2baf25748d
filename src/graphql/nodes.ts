import type { Opened } from '../db/stored-fact.ts';

/**
 * A row as a node of the schema, though it may be sealed still. The fields that tell what a node says open it: those of
 * the interface Memory, and no others.
 */
export function asNode<Row>(row: Row): Opened<Row> {
  return row as Opened<Row>;
}
