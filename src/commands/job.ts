import { getJob, type ServerJob, type TenantJob } from '../../jobs/jobs.ts';
import { runServerJob } from '../../jobs/runner.ts';
import { chooseTenants } from './choose-tenants.ts';
import type { MemoryCore } from '../create-memory.ts';
import { invalidInput } from '../shared/errors.ts';
import { recordRun, type JobRun } from '../lifecycle/job-runs.ts';
import { jobDescriptions, toJobName } from '../lifecycle/schedules.ts';
import type { SweepReport } from '../lifecycle/sweep.ts';
import { createTenantContext } from '../memory/context.ts';
import { toSnakeCase } from '../shared/names.ts';
import { withProgressBar } from './progress-bar.ts';

type Print = (line: string) => void;

/** The actor in the events and runs of the tenants. */
const actor = 'command line';

export interface JobByHand {
  name: string;
  dryRun: boolean;
  /** All of them when none is named. */
  tenant: string | undefined;
  signal: AbortSignal;
}

/** One line for each tenant that it was done for, or one for all. Answers whether all went well. */
export async function runJobByHand(core: MemoryCore, given: JobByHand, print: Print): Promise<boolean> {
  const job = getJob(given.name);
  return job.for === 'server' ? runForAll(core, job, given, print) : runForEach(core, job, given, print);
}

async function runForEach(core: MemoryCore, job: TenantJob, given: JobByHand, print: Print): Promise<boolean> {
  const { dryRun, signal } = given;
  const tenants = await chooseTenants(core.db, given.tenant);
  let isWell = true;
  for (const tenantId of tenants) {
    if (signal.aborted) break;
    const context = { ...createTenantContext(core, tenantId), actor };
    const run = await withProgressBar(process.stderr, tenantId, (progress) =>
      recordRun(context, job, { dryRun, signal, progress, startedBy: 'person' }),
    );
    isWell &&= run.status === 'succeeded';
    print(`${tenantId}: ${describeRun(run, dryRun)}`);
  }
  if (tenants.length === 0) print('no tenant has stored anything: nothing to do');
  return isWell;
}

/** Written down in no tenant: what it says concerns them all. */
async function runForAll(core: MemoryCore, job: ServerJob, given: JobByHand, print: Print): Promise<boolean> {
  const { dryRun, signal, tenant } = given;
  if (tenant !== undefined) {
    throw invalidInput('tenant', `left out with ${job.name}, which is done for all tenants at once`, tenant);
  }
  const report = await withProgressBar(process.stderr, 'all tenants', (progress) =>
    runServerJob(job, core, undefined, { dryRun, signal, progress, actor }),
  );
  print(`all tenants: ${describeRun({ job: job.name, status: 'succeeded', error: null, report }, dryRun)}`);
  return true;
}

type Described = Pick<JobRun, 'job' | 'status' | 'error' | 'report'>;

function describeRun({ job, status, error, report }: Described, dryRun: boolean): string {
  if (status === 'failed') return `${job} failed: ${error}`;
  const counts = Object.entries(report as SweepReport).map(([name, count]) => `${name} ${count}`);
  return `${job} ${dryRun ? 'would do' : 'did'}: ${counts.join(', ') || 'nothing'}`;
}

/** For those who do not know what there is. */
export function describeJobs({ config }: Pick<MemoryCore, 'config'>): string {
  return Object.entries(config.schedule)
    .map(([key, { cron, enabled }]) => {
      const name = toJobName(toSnakeCase(key));
      const description = jobDescriptions[key as keyof typeof jobDescriptions];
      return `${name.padEnd(20)} ${(enabled ? cron : 'disabled').padEnd(14)} ${description}`;
    })
    .join('\n');
}
