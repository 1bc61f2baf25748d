import { Presets, SingleBar } from 'cli-progress';
import { contextOfTenant } from '../jobs/job.ts';
import { asSweep, findJob } from '../jobs/runner.ts';
import type { MemoryCore } from './create-memory.ts';
import { invalidInput } from './errors.ts';
import { recordRun, type JobRun } from './lifecycle/job-runs.ts';
import { jobNameOf } from './lifecycle/schedules.ts';
import type { SweepOptions, SweepReport } from './lifecycle/sweep.ts';
import { toSnakeCase } from './names.ts';

export interface JobByHand {
  name: string;
  dryRun: boolean;
  /** All of them when none is named. */
  tenant: string | undefined;
  signal: AbortSignal;
}

/** One line for each tenant that it was done for. Answers whether all went well. */
export async function runJobByHand(
  core: MemoryCore,
  given: JobByHand,
  print: (line: string) => void,
): Promise<boolean> {
  const job = findJob(given.name);
  const tenants = await chooseTenants(core, job.for === 'server' ? undefined : given.tenant);
  // What concerns the whole server is done once, in whichever tenant it is noted.
  const visited = job.for === 'server' ? tenants.slice(0, 1) : tenants;
  let isWell = true;
  for (const tenantId of visited) {
    if (given.signal.aborted) break;
    const run = await withProgressBar(tenantId, (progress) => {
      const context = { ...contextOfTenant(core, tenantId), actor: 'command line' };
      const { dryRun, signal } = given;
      return recordRun(
        context,
        asSweep(job, core, () => undefined),
        { dryRun, signal, progress, startedBy: 'person' },
      );
    });
    isWell &&= run.status === 'succeeded';
    print(describeRun(tenantId, run, given.dryRun));
  }
  if (visited.length === 0) print('no tenant has stored anything: nothing to do');
  return isWell;
}

async function chooseTenants({ db }: MemoryCore, tenant: string | undefined): Promise<string[]> {
  const tenants = await db.listTenants();
  if (tenant === undefined) return tenants;
  if (tenants.includes(tenant)) return [tenant];
  throw invalidInput('tenant', tenants.length === 0 ? 'none, as there is none yet' : tenants.join(', '), tenant);
}

function describeRun(tenantId: string, { job, status, error, report }: JobRun, dryRun: boolean): string {
  if (status === 'failed') return `${tenantId}: ${job} failed: ${error}`;
  const counts = Object.entries(report as SweepReport).map(([name, count]) => `${name} ${count}`);
  return `${tenantId}: ${job} ${dryRun ? 'would do' : 'did'}: ${counts.join(', ') || 'nothing'}`;
}

/** Only where somebody looks: a log needs no bar. It is shown once there is something to measure. */
async function withProgressBar<T>(
  tenantId: string,
  work: (progress: NonNullable<SweepOptions['progress']>) => Promise<T>,
): Promise<T> {
  const format = `${tenantId} [{bar}] {value}/{total} {percentage}% ETA {eta_formatted}`;
  const bar = new SingleBar({ format, clearOnComplete: true, hideCursor: true }, Presets.shades_classic);
  const isShown = process.stderr.isTTY;
  let isStarted = false;
  try {
    return await work((done, total) => {
      if (!isShown || total === null) return;
      if (isStarted) bar.setTotal(total);
      else bar.start(total, done);
      isStarted = true;
      bar.update(done);
    });
  } finally {
    bar.stop();
  }
}

/** For those who do not know what there is. */
export function describeJobs({ config }: Pick<MemoryCore, 'config'>): string {
  return Object.entries(config.schedule)
    .map(([key, { cron, enabled, prompt }]) => {
      const name = jobNameOf(toSnakeCase(key));
      return `${name.padEnd(20)} ${(enabled ? cron : 'disabled').padEnd(14)} ${prompt}`;
    })
    .join('\n');
}
