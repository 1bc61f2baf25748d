import { Worker } from 'node:worker_threads';

/**
 * Starts the module `name` that lies beside `fromUrl` in a worker thread: as JavaScript when built, and as TypeScript
 * when we ourselves run as TypeScript (tests, benchmarks).
 */
export function startWorkerThread(fromUrl: string, name: string, workerData: unknown): Worker {
  return fromUrl.endsWith('.ts')
    ? new Worker(typescriptBootstrap(new URL(`./${name}.ts`, fromUrl)), { workerData })
    : new Worker(new URL(`./${name}.js`, fromUrl), { workerData });
}

/** Node 20 cannot run TypeScript by itself, and tsx given as `--import` does not reach into worker threads. */
function typescriptBootstrap(module: URL): URL {
  const tsx = import.meta.resolve('tsx/esm/api');
  const script = `import { register } from ${JSON.stringify(tsx)}; register(); await import(${JSON.stringify(module.href)});`;
  return new URL(`data:text/javascript,${encodeURIComponent(script)}`);
}
