import type { TestApp } from './app.ts';

/** What the events say has been done to a memory, in order. */
export async function eventTypesOf({ core }: Pick<TestApp, 'core'>, entityId: string): Promise<string[]> {
  const events = await core.db
    .forTenant('default')
    .client.memoryEvent.findMany({ where: { entityId }, orderBy: { sequence: 'asc' }, select: { eventType: true } });
  return events.map(({ eventType }) => eventType);
}
