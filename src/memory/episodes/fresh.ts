/** States of an episode that waits to be consolidated: nothing was learned from it so far. */
export const freshStatuses: readonly string[] = ['pending', 'failed'];

/** Whether an episode waits to be consolidated. A fact or rule does not. */
export function isFresh(row: { consolidationStatus?: string | null }): boolean {
  return freshStatuses.includes(row.consolidationStatus ?? '');
}
