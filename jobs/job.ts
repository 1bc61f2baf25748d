import type { Logger } from 'pino';
import type { Config } from '../src/config/schema.ts';
import type { Database } from '../src/db/database.ts';
import type { Embedder } from '../src/embedding/embedder.ts';

/** What a job may use. It works for all tenants, visiting each within its own boundary. */
export interface JobContext {
  readonly db: Database;
  readonly embedder: Embedder;
  readonly config: Config;
  readonly logger: Logger;
  readonly now: () => Date;
}

export interface Job {
  readonly name: string;
  /** Its entry in [butler.schedule]. */
  readonly schedule: keyof Config['schedule'];
  readonly run: (context: JobContext) => Promise<void>;
}
