#!/usr/bin/env -S node --v8-pool-size=1 --optimize-for-size
// The flags save 100 MB for 5 % more CPU time: by default four threads compile, and each keeps the memory that it once
// needed, and garbage is collected late. package.json has them for `npm start`.
import { homedir } from 'node:os';
import { Command } from 'commander';
import type { EraseOptions } from './commands/erase.ts';
import type { ExportOptions } from './commands/export.ts';
import { reportFailure, withCore } from './commands/run.ts';
import type { TokenOptions } from './commands/token.ts';
import type { VerifyOptions } from './commands/verify.ts';
import { loadConfig, type LoadedConfig } from './config/load-config.ts';
import { packageManifest } from './shared/package-root.ts';

// Each command is imported when it runs: all of them together take a second to load, and a server can say that it
// starts, find its port taken and open its database before.
const program = new Command('butler-memory')
  .description('Long-term memory server for fleets of AI agents')
  .version(packageManifest.version);

program
  .command('serve')
  .description('serve GraphQL and MCP over HTTP')
  .action(() => run(async (loaded) => (await import('./commands/serve.ts')).serve(loaded)));
program
  .command('mcp')
  .description('serve MCP over standard input and output')
  .option('--groups <names>', 'groups of tools to serve, separated by commas')
  .action((options: { groups?: string }) =>
    run(async (loaded) => (await import('./commands/mcp.ts')).serveMcp(loaded, options)),
  );
program
  .command('migrate')
  .description('migrate the database to this version')
  .action(() => run(async (loaded) => (await import('./commands/migrate.ts')).migrate(loaded)));
program
  .command('verify')
  .description('compare the tables with the state that the events add up to, or check the chain of the events')
  .option('--at <time>', 'as of this moment, in ISO 8601')
  .option('--chain', 'check that no event was changed, removed, inserted or moved since it was written')
  .option('--since <head>', 'check also that this head, printed by --head earlier, is still in the chain')
  .option('--head', 'print the head of the chain, to be kept elsewhere')
  .option('--tenant <id>', 'only this tenant')
  .action((options: VerifyOptions) =>
    run(async (loaded) => (await import('./commands/verify.ts')).verify(loaded, options)),
  );
program
  .command('job [name]')
  .description('run a job now; without a name, list the jobs')
  .option('--dry-run', 'count what it would do, and change nothing', false)
  .option('--tenant <id>', 'only for this tenant')
  .action((name: string | undefined, options: { dryRun: boolean; tenant?: string }) =>
    run(async (loaded) => (await import('./commands/job.ts')).runNamedJob(loaded, name, options)),
  );
program
  .command('erase')
  .description('permanently erase a memory, or all facts about a subject (dry run without --confirm)')
  .option('--tenant <id>', 'its tenant', 'default')
  .option('--memory <type/id>', 'a memory, as in fact/0198c1d2-…')
  .option('--include-derived', 'with an episode: also the facts and rules that were learned from it')
  .option('--subject <name>', 'all facts about a subject')
  .option('--include-mentions <types>', 'with a subject: also the memories of these types that mention it')
  .option('--dry-run', 'print what it would erase, and change nothing')
  .option('--confirm <text>', 'the id of the memory, or the confirmation that the dry run of the subject printed')
  .action((options: EraseOptions) =>
    run(async (loaded) => (await import('./commands/erase.ts')).erase(loaded, options)),
  );
program
  .command('export')
  .description('write everything known about a subject as JSON')
  .requiredOption('--subject <name>', 'the subject, in any spelling')
  .option('--tenant <id>', 'its tenant', 'default')
  .option('--output <file>', 'a new file to write to, instead of standard output')
  .action((options: ExportOptions) =>
    run(async (loaded) => (await import('./commands/export.ts')).exportSubject(loaded, options)),
  );
const token = program.command('token').description('create, list, rotate and revoke the tokens of callers');
token
  .command('create')
  .description('create a token and print it once')
  .requiredOption('--role <role>', 'viewer, butler, operator or admin')
  .option('--tenant <id>', 'its tenant', 'default')
  .option('--butler <name>', 'the butler that it authenticates; required for the role butler')
  .option('--name <name>', 'a name for people', 'token')
  .option('--expires <when>', 'when it expires: a date, or a time from now such as 30d or 12h')
  .option('--across <tenants>', 'other tenants that it may enter, separated by commas, or all; for the role admin')
  .option('--across-write', 'let it also write in them')
  .action((options: TokenOptions) =>
    runOnCore(async (core) => (await import('./commands/token.ts')).issueToken(core, options)),
  );
token
  .command('list')
  .description('list tokens without their secrets')
  .option('--tenant <id>', 'only of this tenant')
  .action((options: { tenant?: string }) =>
    runOnCore(async (core) => (await import('./commands/token.ts')).printTokens(core, options.tenant)),
  );
token
  .command('rotate <id>')
  .description('revoke a token, and create and print its replacement once')
  .option('--tenant <id>', 'its tenant', 'default')
  .action((id: string, { tenant }: { tenant: string }) =>
    runOnCore(async (core) => (await import('./commands/token.ts')).replaceToken(core, tenant, id)),
  );
token
  .command('revoke <id>')
  .description('revoke a token')
  .option('--tenant <id>', 'its tenant', 'default')
  .action((id: string, { tenant }: { tenant: string }) =>
    runOnCore(async (core) => (await import('./commands/token.ts')).endToken(core, tenant, id)),
  );
program
  .command('doctor')
  .description('check everything and print it for a bug report')
  .action(() => run(async (loaded) => (await import('./commands/doctor.ts')).doctor(loaded)));

await program.parseAsync();

async function run(command: (loaded: LoadedConfig) => Promise<void>): Promise<void> {
  try {
    await command(loadConfig({ env: process.env, workingDirectory: process.cwd(), homeDirectory: homedir() }));
  } catch (error) {
    reportFailure(error);
  }
}

function runOnCore(command: Parameters<typeof withCore>[1]): Promise<void> {
  return run(({ config }) => withCore(config, command));
}
