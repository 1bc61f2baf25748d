#!/usr/bin/env -S node --v8-pool-size=1 --optimize-for-size
// The flags save 100 MB for 5 % more CPU time: by default four threads compile, and each keeps the memory that it once
// needed, and garbage is collected late. package.json has them for `npm start`.
import { homedir } from 'node:os';
import { Command } from 'commander';
import { databaseOptions } from './begin-memory.ts';
import { beginServer } from './http/begin-server.ts';
import { loadConfig, type LoadedConfig } from './config/load-config.ts';
import type { MemoryCore } from './create-memory.ts';
import type { EraseOptions } from './commands/erase.ts';
import { MemoryError } from './shared/errors.ts';
import type { ExportOptions } from './commands/export.ts';
import { createLogger } from './shared/logger.ts';
import type { Vault } from './encryption/vault.ts';
import { packageManifest } from './shared/package-root.ts';
import type * as TokensByHand from './commands/token.ts';
import type { VerifyOptions } from './commands/verify.ts';

// Each command imports what it needs when it runs: all of it together takes a second to load, and a server can say that
// it starts, find its port taken and open its database before.
const program = new Command('butler-memory')
  .description('Long-term memory server for fleets of AI agents')
  .version(packageManifest.version);

program
  .command('serve')
  .description('serve GraphQL and MCP over HTTP')
  .action(() => run(serve));
program
  .command('mcp')
  .description('serve MCP over standard input and output')
  .option('--groups <names>', 'groups of tools to serve, with commas between them')
  .action(({ groups }: { groups?: string }) => run(() => serveStdio(groups)));
program
  .command('migrate')
  .description('bring the database to this version')
  .action(() => run(migrateOnly));
program
  .command('verify')
  .description('compare what the events add up to with what the tables hold, or check the chain of the events')
  .option('--at <time>', 'as of this moment, in ISO 8601')
  .option('--chain', 'check that no event was changed, removed, put in or moved since it was written')
  .option('--since <head>', 'check also that this head, printed by --head and kept, is still in the chain')
  .option('--head', 'print where the chain ends, to be kept elsewhere')
  .option('--tenant <id>', 'only of this tenant')
  .action((options: VerifyOptions) => run(() => verify(options)));
program
  .command('job [name]')
  .description('run a job now; without a name, list the jobs')
  .option('--dry-run', 'count what it would do, and change nothing', false)
  .option('--tenant <id>', 'only for this tenant')
  .action((name: string | undefined, options: { dryRun: boolean; tenant?: string }) => run(() => job(name, options)));
program
  .command('erase')
  .description('permanently erase a memory, or all about a subject (dry run without --confirm)')
  .option('--tenant <id>', 'its tenant', 'default')
  .option('--memory <type/id>', 'a memory, as in fact/0198c1d2-…')
  .option('--include-derived', 'with an episode: the facts and rules that were learned from it, too')
  .option('--subject <name>', 'all facts about a subject')
  .option('--include-mentions <types>', 'with a subject: the memories of these types that mention it, too')
  .option('--dry-run', 'tell what it would take, and change nothing')
  .option('--confirm <text>', 'the id of the memory, or the confirmation that the dry run of the subject gave')
  .action((options: EraseOptions) =>
    run(() => withCore(async (core) => (await import('./commands/erase.ts')).eraseByHand(core, options, print))),
  );
program
  .command('export')
  .description('write all that is known of a subject as JSON')
  .requiredOption('--subject <name>', 'the subject, however it is spelled')
  .option('--tenant <id>', 'its tenant', 'default')
  .option('--output <file>', 'a new file to write to, instead of standard output')
  .action((options: ExportOptions) =>
    run(() => withCore(async (core) => (await import('./commands/export.ts')).exportByHand(core, options))),
  );
const tokens = (): Promise<typeof TokensByHand> => import('./commands/token.ts');
const token = program.command('token').description('create, list, rotate and revoke the tokens of callers');
token
  .command('create')
  .description('create a token and print it, this once')
  .requiredOption('--role <role>', 'viewer, butler, operator or admin')
  .option('--tenant <id>', 'the tenant that it is good for', 'default')
  .option('--butler <name>', 'the butler that it speaks for; needed for the role butler')
  .option('--name <name>', 'what people call it', 'token')
  .option('--expires <when>', 'when it ends: a date, or a time from now such as 30d or 12h')
  .option('--across <tenants>', 'other tenants that it may enter, with commas between them, or all; for the role admin')
  .option('--across-write', 'let it also write in them')
  .action((options: TokensByHand.TokenOptions) =>
    run(() => withCore(async (core) => (await tokens()).issueToken(core, options, print))),
  );
token
  .command('list')
  .description('list tokens, without what they are')
  .option('--tenant <id>', 'only of this tenant')
  .action((options: { tenant?: string }) =>
    run(() => withCore(async (core) => (await tokens()).printTokens(core, options.tenant, print))),
  );
token
  .command('rotate <id>')
  .description('put a new token in the place of an old one, which ends, and print it, this once')
  .option('--tenant <id>', 'its tenant', 'default')
  .action((id: string, { tenant }: { tenant: string }) =>
    run(() => withCore(async (core) => (await tokens()).replaceToken(core, tenant, id, print))),
  );
token
  .command('revoke <id>')
  .description('end a token')
  .option('--tenant <id>', 'its tenant', 'default')
  .action((id: string, { tenant }: { tenant: string }) =>
    run(() => withCore(async (core) => (await tokens()).endToken(core, tenant, id, print))),
  );
program
  .command('doctor')
  .description('check everything and print it for a bug report')
  .action(() => run(printFindings));

await program.parseAsync();

function readConfig(): LoadedConfig {
  return loadConfig({ env: process.env, workingDirectory: process.cwd(), homeDirectory: homedir() });
}

/** Whatever stops a command is one clear line and a non-zero exit; a stack trace only for what nobody foresaw. */
async function run(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    fail(error);
  }
}

function fail(error: unknown): void {
  process.exitCode = 1;
  if (!(error instanceof MemoryError))
    return void process.stderr.write(`butler-memory: ${describeUnexpected(error)}\n`);
  const hint = error.hint === undefined ? '' : ` (${error.hint})`;
  process.stderr.write(`butler-memory: ${error.message}${hint}\n`);
}

function describeUnexpected(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function serve(): Promise<void> {
  const { config } = readConfig();
  const signal = onSignal();
  const logger = createLogger(config);
  const begun = beginServer(config, logger);
  await begun;
  const { startServer } = await import('./http/server.ts');
  const server = await startServer(config, logger, begun);
  try {
    await Promise.race([signal, server.started.then(() => signal)]);
  } finally {
    await server.stop();
  }
}

async function serveStdio(groups: string | undefined): Promise<void> {
  const { config } = readConfig();
  const signal = onSignal();
  const { serveMcp } = await import('./commands/mcp.ts');
  // Standard output belongs to the protocol.
  await serveMcp({ config, logger: createLogger(config, 'stderr'), groups, signal, failed: fail });
}

async function migrateOnly(): Promise<void> {
  const { config } = readConfig();
  const { prepareDatabase } = await import('./create-memory.ts');
  const { openDatabase } = await import('./db/database.ts');
  const db = await openDatabase(databaseOptions(config));
  try {
    const { applied, total } = await prepareDatabase(db, config);
    const done = db.isNew ? 'created' : applied.length === 0 ? 'nothing to do' : `applied ${applied.join(', ')}`;
    process.stdout.write(`${db.engine} at ${db.location}: ${done}; ${total} migrations in all\n`);
  } finally {
    await db.close();
  }
}

async function verify(options: VerifyOptions): Promise<void> {
  const { config } = readConfig();
  const { openDatabase } = await import('./db/database.ts');
  const { createVault } = await import('./encryption/vault.ts');
  const { verifyByHand } = await import('./commands/verify.ts');
  const db = await openDatabase(databaseOptions(config));
  try {
    const vault = (): Vault => createVault(config, createLogger(config, 'stderr'));
    if (!(await verifyByHand({ db, vault }, options, print))) process.exitCode = 1;
  } finally {
    await db.close();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function withCore(work: (core: MemoryCore) => Promise<void>): Promise<void> {
  const { config } = readConfig();
  const { createMemory } = await import('./create-memory.ts');
  const core = await createMemory({ config, logger: createLogger(config, 'stderr') });
  try {
    await work(core);
  } finally {
    await core.close();
  }
}

async function job(name: string | undefined, { dryRun, tenant }: { dryRun: boolean; tenant?: string }): Promise<void> {
  const { config } = readConfig();
  const { getJob } = await import('../jobs/jobs.ts');
  const { describeJobs, runJobByHand } = await import('./commands/job.ts');
  if (name === undefined) return void process.stdout.write(`${describeJobs({ config })}\n`);
  getJob(name);
  const stopping = new AbortController();
  void onSignal().then(() => stopping.abort());
  await withCore(async (core) => {
    const isWell = await runJobByHand(core, { name, dryRun, tenant, signal: stopping.signal }, print);
    if (!isWell) process.exitCode = 1;
  });
}

async function printFindings(): Promise<void> {
  const { examine } = await import('./commands/doctor.ts');
  const findings = await examine(readConfig());
  for (const { section, ok, lines } of findings) {
    process.stdout.write(`${ok ? 'ok  ' : 'FAIL'} ${section}\n${lines.map((line) => `       ${line}\n`).join('')}`);
  }
  if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
}

/** The first signal asks for an orderly end; a second one, from someone who will not wait, is Node's default again. */
async function onSignal(): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = (): void => {
      process.off('SIGTERM', stop).off('SIGINT', stop);
      resolve();
    };
    process.on('SIGTERM', stop).on('SIGINT', stop);
  });
}
