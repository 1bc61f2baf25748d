import type Esbuild from 'esbuild';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { packageRoot } from './package-root.ts';

/**
 * Starts the module `name` that lies beside `fromUrl` in a worker thread: as JavaScript when built, and as TypeScript
 * when we ourselves run as TypeScript (tests, benchmarks).
 */
export function startWorkerThread(fromUrl: string, name: string, workerData: unknown): Worker {
  const module = fromUrl.endsWith('.ts')
    ? buildOnce(fileURLToPath(new URL(`./${name}.ts`, fromUrl)), name)
    : new URL(`./${name}.js`, fromUrl);
  // Flags of the process are not for its threads: one started with --input-type ends any thread that is a file.
  return new Worker(module, { workerData, execArgv: [] });
}

const built = new Map<string, string>();

/**
 * Node 20 cannot run TypeScript by itself, and a loader in each new thread costs four times what one build costs. Lies
 * below node_modules, where the packages that it imports are found, under a name that tells its content: two processes
 * that build it at once write the same.
 */
function buildOnce(source: string, name: string): string {
  const known = built.get(source);
  if (known !== undefined) return known;
  const esbuild = createRequire(import.meta.url)('esbuild') as typeof Esbuild;
  const [output] = esbuild.buildSync({
    entryPoints: [source],
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    write: false,
  }).outputFiles;
  if (output === undefined) throw new Error(`nothing was built from ${source}`);
  const folder = join(packageRoot, 'node_modules', '.cache', 'butler-memory');
  const target = join(folder, `${name}-${createHash('sha256').update(output.contents).digest('hex')}.mjs`);
  if (!existsSync(target)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${target}.${process.pid}`, output.contents);
    renameSync(`${target}.${process.pid}`, target);
  }
  built.set(source, target);
  return target;
}
