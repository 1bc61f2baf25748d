import { getJob, type ServerJob, type TenantJob } from '../../jobs/jobs.ts';
import { runServerJob } from '../../jobs/runner.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import type { MemoryCore } from '../create-memory.ts';
import { invalidInput } from '../shared/errors.ts';
import { recordRun, type JobRun } from '../lifecycle/job-runs.ts';
import { jobDescriptions, toJobName } from '../lifecycle/schedules.ts';
import type { SweepReport } from '../lifecycle/sweep.ts';
import { createTenantContext } from '../memory/context.ts';
import { toSnakeCase } from '../shared/names.ts';
import { withProgressBar } from './progress-bar.ts';
import { actor, chooseTenants, printLine, waitForSignal, withCore, type Print } from './run.ts';

interface JobChoice {
  name: string;
  dryRun: boolean;
  /** Every tenant when none is named. */
  tenant: string | undefined;
  signal: AbortSignal;
}

/** Runs a job now; without a name, lists the jobs. */
export async function runNamedJob(
  { config }: LoadedConfig,
  name: string | undefined,
  { dryRun, tenant }: { dryRun: boolean; tenant?: string },
): Promise<void> {
  if (name === undefined) return printLine(describeJobs({ config }));
  getJob(name);
  const stopping = new AbortController();
  void waitForSignal().then(() => stopping.abort());
  await withCore(config, async (core) => {
    const hasSucceeded = await runJob(core, { name, dryRun, tenant, signal: stopping.signal }, printLine);
    if (!hasSucceeded) process.exitCode = 1;
  });
}

/** Prints one line for each tenant, or one for all. Returns whether every run succeeded. */
export async function runJob(core: MemoryCore, given: JobChoice, print: Print): Promise<boolean> {
  const chosen = getJob(given.name);
  return chosen.for === 'server' ? runForAll(core, chosen, given, print) : runForEach(core, chosen, given, print);
}

async function runForEach(core: MemoryCore, job: TenantJob, given: JobChoice, print: Print): Promise<boolean> {
  const { dryRun, signal } = given;
  const tenants = await chooseTenants(core.db, given.tenant);
  let hasSucceeded = true;
  for (const tenantId of tenants) {
    if (signal.aborted) break;
    const context = { ...createTenantContext(core, tenantId), actor };
    const run = await withProgressBar(process.stderr, tenantId, (progress) =>
      recordRun(context, job, { dryRun, signal, progress, startedBy: 'person' }),
    );
    hasSucceeded &&= run.status === 'succeeded';
    print(`${tenantId}: ${describeRun(run, dryRun)}`);
  }
  if (tenants.length === 0) print('no tenant has stored anything: nothing to do');
  return hasSucceeded;
}

/** Written down in no tenant: what it says concerns them all. */
async function runForAll(core: MemoryCore, job: ServerJob, given: JobChoice, print: Print): Promise<boolean> {
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

function describeJobs({ config }: Pick<MemoryCore, 'config'>): string {
  return Object.entries(config.schedule)
    .map(([key, { cron, enabled }]) => {
      const name = toJobName(toSnakeCase(key));
      const description = jobDescriptions[key as keyof typeof jobDescriptions];
      return `${name.padEnd(20)} ${(enabled ? cron : 'disabled').padEnd(14)} ${description}`;
    })
    .join('\n');
}
