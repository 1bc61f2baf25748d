import { setTimeout as wait } from 'node:timers/promises';
import type { CheckName, Health, HealthCheck, HealthProbe, HealthStatus } from '../../lifecycle/health.ts';
import type { EngineName } from '../../db/engines/engine.ts';
import { isPermitted } from '../../memory/permissions.ts';
import { builder } from '../builder.ts';

const HealthStatusEnum = builder.enumType('HealthStatus', {
  description: 'Status of a part of the server.',
  values: {
    ok: { description: 'Works.' },
    starting: { description: 'Starting: the model may still be loading.' },
    degraded: { description: 'Serves, with a limit that the detail names.' },
    failed: { description: 'Does not work; the detail says why.' },
  } satisfies Record<HealthStatus, object>,
});

const HealthCheckNameEnum = builder.enumType('HealthCheckName', {
  description: 'The parts of the server.',
  values: {
    database: { description: 'The database.' },
    migrations: { description: 'The tables, which must be those of this version.' },
    model: { description: 'The embedding model.' },
    queue: { description: 'The queue of jobs.' },
    schedules: { description: 'Whether jobs run when they are due.' },
  } satisfies Record<CheckName, object>,
});

const DatabaseEngineEnum = builder.enumType('DatabaseEngine', {
  description: 'Where memories are kept.',
  values: {
    pglite: { description: 'In a directory, by PostgreSQL inside the server.' },
    postgres: { description: 'On a PostgreSQL server.' },
  } satisfies Record<EngineName, object>,
});

const HealthCheckRef = builder.objectRef<HealthCheck>('HealthCheck').implement({
  description: 'One part of the server.',
  fields: (t) => ({
    name: t.expose('name', { type: HealthCheckNameEnum, description: 'Name of the part.' }),
    status: t.expose('status', { type: HealthStatusEnum, description: 'Status of the part.' }),
    detail: t.string({
      nullable: true,
      description: 'What is wrong or what is being waited for; null when all is well, and for the role butler.',
      // It names models, jobs and what the database said: for those who run the server.
      resolve: ({ detail }, _args, { memory }) => (isPermitted(memory, 'field HealthCheck.detail') ? detail : null),
    }),
  }),
});

const HealthRef = builder.objectRef<Health>('Health').implement({
  description: 'The state of the server.',
  fields: (t) => ({
    status: t.expose('status', { type: HealthStatusEnum, description: 'The worst of the checks.' }),
    version: t.exposeString('version', { description: 'Version of butler-memory.' }),
    engine: t.expose('engine', { type: DatabaseEngineEnum, description: 'Database engine.' }),
    checks: t.expose('checks', { type: [HealthCheckRef], description: 'One for each part of the server.' }),
  }),
});

builder.queryField('health', (t) =>
  t.field({
    type: HealthRef,
    description: 'The state of the server. Answers while the model still loads.',
    resolve: (_root, _args, { health }) => health.read(),
  }),
);

builder.subscriptionField('health', (t) =>
  t.field({
    type: HealthRef,
    description: 'The state of the server at once, and again whenever it changes.',
    subscribe: (_root, _args, { health }) => watchHealth(health),
    resolve: (health) => health,
  }),
);

const watchIntervalMs = 1000;

/** Not a generator: `return()` of a generator that waits does not end the wait. */
function watchHealth(probe: HealthProbe): AsyncIterableIterator<Health> {
  const ending = new AbortController();
  const changes = readChanges(probe, ending.signal);
  const watched: AsyncIterableIterator<Health> = {
    [Symbol.asyncIterator]: () => watched,
    next: () => changes.next(),
    return: () => {
      ending.abort();
      return changes.return(undefined);
    },
  };
  return watched;
}

async function* readChanges(probe: HealthProbe, signal: AbortSignal): AsyncGenerator<Health, undefined> {
  let last = '';
  while (!signal.aborted) {
    const health = await probe.read();
    const digest = JSON.stringify(health);
    if (digest !== last) yield health;
    last = digest;
    // It rejects when it is ended, which the loop sees.
    await wait(watchIntervalMs, undefined, { ref: false, signal }).catch(() => undefined);
  }
}
