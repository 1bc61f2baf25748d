/**
 * Fails the run when pg warns that a client was given a statement while it was still executing one: pg 9 will refuse that.
 * Node.js warns once a process, and a worker runs many files, so the listener is added once.
 */
const key = Symbol.for('butler-memory.fail-on-warning');
const registered = process as unknown as Record<symbol, boolean | undefined>;

if (registered[key] !== true) {
  registered[key] = true;
  process.on('warning', (warning) => {
    // An error that nobody catches: vitest reports it with its stack and fails the run.
    if (warning.message.includes('client.query()')) throw warning;
  });
}
