import type { JobRunner } from '../lifecycle/job-runs.ts';
import type { ActivityFeed } from '../memory/activity/activity-feed.ts';
import type { Access } from '../memory/accesses.ts';
import type { MemoryContext } from '../memory/context.ts';
import type { ReferenceQueue } from '../memory/references.ts';
import type { HealthProbe } from '../lifecycle/health.ts';

/** What every resolver gets: the domain's context, and the server's view of its own health. */
export interface GraphQLContext {
  readonly memory: MemoryContext;
  readonly health: HealthProbe;
  readonly activity: ActivityFeed;
  /** Last-Event-ID of a client of server-sent events that reconnects: its feed resumes after this event. */
  readonly lastEventId?: string | undefined;
  /** Counts what was returned to someone who asked, after the answer was sent. */
  readonly references: Pick<ReferenceQueue, 'enqueue' | 'enqueueShown' | 'flush'>;
  /** Runs jobs by name, for operators. */
  readonly jobs: JobRunner;
  /** Writes down who looked at what, with rights that the caller may not have. */
  readonly recordAccess: (context: MemoryContext, access: Access) => Promise<void>;
}
