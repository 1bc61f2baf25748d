import type { ActivityFeed } from '../memory/activity-feed.ts';
import type { MemoryContext } from '../memory/context.ts';
import type { ReferenceQueue } from '../memory/references.ts';
import type { HealthProbe } from '../health.ts';

/** What every resolver gets: the domain's context, and the server's view of its own health. */
export interface GraphQLContext {
  readonly memory: MemoryContext;
  readonly health: HealthProbe;
  readonly activity: ActivityFeed;
  /** Counts what was returned to someone who asked, after the answer was sent. */
  readonly references: ReferenceQueue;
  /** Entries of [butler.schedule] that this version has a job for. */
  readonly scheduledJobs: ReadonlySet<string>;
}
