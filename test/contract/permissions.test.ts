import { getNullableType, type GraphQLField } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installQueue } from '../../jobs/queue.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { schema } from '../../src/graphql/schema.ts';
import { renewLease } from '../../src/lifecycle/consolidation/lease.ts';
import { findJobRun, listJobRuns } from '../../src/lifecycle/job-runs.ts';
import { readEventDays } from '../../src/lifecycle/projections.ts';
import { listVersionProgress } from '../../src/lifecycle/embedding-progress.ts';
import { listSchedules } from '../../src/lifecycle/schedules.ts';
import { bindTools } from '../../src/mcp/server.ts';
import { listAccesses } from '../../src/memory/accesses.ts';
import { findChainHead } from '../../src/memory/history/audit-chain.ts';
import { roles, type MemoryContext, type Principal, type Role } from '../../src/memory/context.ts';
import { writeConfirmation } from '../../src/memory/confirm.ts';
import * as forget from '../../src/memory/forgetting/forget.ts';
import * as facts from '../../src/memory/facts/facts.ts';
import { mutate, type Written } from '../../src/memory/mutation.ts';
import {
  approveQuarantined,
  listQuarantine,
  quarantine,
  refuseQuarantined,
} from '../../src/memory/quarantine/quarantine.ts';
import { openReview } from '../../src/memory/reviews/reviews.ts';
import { settleReview } from '../../src/memory/reviews/settle-review.ts';
import { planMemoryErasure, planSubjectErasure } from '../../src/memory/erasure/plan-erasure.ts';
import { exportSubject } from '../../src/memory/erasure/export-subject.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { actions, permissions, type Action } from '../../src/memory/permissions.ts';
import type { StoreRuleInput } from '../../src/memory/rules/rules.ts';
import { toSnakeCase } from '../../src/shared/names.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { DoorError, isInThisRun } from './doors.ts';
import {
  claimForAgent,
  confirmMemory,
  demoteRule,
  disableRule,
  editRule,
  enableRule,
  eraseMemory,
  eraseSubject,
  failRun,
  forgetMemory,
  ingestEpisodes,
  linkMemories,
  markRule,
  promoteRule,
  requeueEpisodes,
  restoreMemory,
  storeEpisode,
  storeFact,
  storeNote,
  storeRule,
  submitOutput,
  undoEvent,
} from '../support/writes.ts';

/** The permission table, held to at every door: each mutation as each role, on what is the caller's own and on what is not. */

let testApp: TestApp;
const tokens = new Map<Role, string>();
const tenantId = 'house';
let names = 0;
const newName = (): string => `name ${++names}`;

const principalOf = (role: Role, butler = role === 'butler' ? 'home' : null): Principal => ({ tenantId, butler, role });
const contextOf = (role: Role, butler?: string): MemoryContext =>
  testApp.app.createContext({}, principalOf(role, butler)).memory;
const asOperator = (): MemoryContext => contextOf('operator');
const asHome = (): MemoryContext => contextOf('butler');

beforeAll(async () => {
  const config = testConfig();
  testApp = await createTestApp({
    ...config,
    auth: { ...config.auth, mode: 'required' },
    // The clock stands still: what is spent never comes back.
    limits: { ...config.limits, requestsPerMinute: 10_000_000, burst: 1_000_000 },
  });
  await installQueue(testApp.core.db);
  for (const role of roles) {
    const { token } = await createToken(contextOf('admin'), { name: role, ...principalOf(role) });
    tokens.set(role, token);
  }
});
afterAll(() => testApp.close());

type Named<Kind extends string> = Action extends infer Name
  ? Name extends `${Kind} ${infer Rest}`
    ? Rest
    : never
  : never;
type Mutation = Named<'mutation'>;
type Query = Named<'query'>;

/** Inputs on what belongs to butler home, and on what it sees and does not own. */
interface Targets {
  own: () => Promise<object>;
  others?: (() => Promise<object>)[];
}

async function newFact(
  context: MemoryContext,
  given: Partial<StoreFactInput> = {},
): Promise<{ type: 'fact'; id: string }> {
  const { id } = await storeFact(context, { subject: 'user', predicate: newName(), content: 'tea', ...given });
  return { type: 'fact', id };
}

async function newRule(context: MemoryContext, given: Partial<StoreRuleInput> = {}): Promise<{ ruleId: string }> {
  const { id } = await storeRule(context, { content: `serve ${newName()}`, ...given });
  return { ruleId: id };
}

async function forgotten(fact: Promise<{ type: 'fact'; id: string }>): Promise<object> {
  await forgetMemory(asOperator(), await fact);
  return fact;
}

async function eventOf(write: Promise<Written<unknown>>): Promise<object> {
  return { eventId: (await write).eventId };
}

/** A butler has one run at a time. */
async function runningRun(): Promise<{ runId: string }> {
  const running = await testApp.core.db
    .forTenant(tenantId)
    .client.consolidationRun.findFirst({ where: { status: 'running', butler: 'home' } });
  if (running !== null) return { runId: running.id };
  await storeEpisode(asHome(), { butler: 'home', content: newName() });
  return { runId: (await claimForAgent(asHome(), { butler: 'home' }))?.claim.runId ?? '' };
}

async function openedReview(): Promise<object> {
  const [older, newer] = [await newFact(asHome()), await newFact(asHome())];
  const factIds = [older.id, newer.id] as const;
  const reason = 'looks_alike';
  const { value: id } = await mutate(asOperator(), async (mutation) => {
    await writeConfirmation(mutation, newer);
    return openReview(mutation, { kind: 'same_thing', factIds, reason });
  });
  return { id: id ?? '', outcome: 'keep_both' };
}

async function quarantinedItem(): Promise<object> {
  const stored = await storeEpisode(asHome(), { butler: 'home', content: newName() });
  const fact = await newFact(asHome());
  await mutate(asOperator(), async (mutation) => {
    await writeConfirmation(mutation, fact);
    await quarantine(mutation, 'home', [{ episodeId: stored.id, kind: 'rule', content: `Serve ${newName()}.` }]);
  });
  const { items } = await listQuarantine(asOperator(), {}, { offset: 0, limit: 1 });
  return { id: items[0]?.id ?? '' };
}

const episode = (butler: string): object => ({ butler, content: newName() });
const factNaming = (given: object): object => ({ subject: 'user', predicate: newName(), content: 'tea', ...given });
const ruleNaming = (given: object): object => ({ content: `serve ${newName()}`, ...given });

const targets: Record<Mutation, Targets> = {
  approveQuarantined: { own: quarantinedItem },
  claimConsolidation: { own: async () => ({ butler: 'home' }), others: [async () => ({ butler: 'work' })] },
  confirmMemory: { own: () => newFact(asOperator()) },
  demoteRule: {
    own: async () => {
      const rule = await newRule(asHome(), { scope: 'home' });
      await promoteRule(asOperator(), rule);
      return rule;
    },
  },
  disableRule: { own: () => newRule(asHome(), { scope: 'home' }) },
  editRule: {
    own: async () => ({ ...(await newRule(asOperator(), { scope: 'home' })), content: newName() }),
    others: [
      async () => ({ ...(await newRule(asOperator())), content: newName() }),
      async () => ({ ...(await newRule(asHome())), content: newName() }),
    ],
  },
  enableRule: {
    own: async () => {
      const rule = await newRule(asHome(), { scope: 'home' });
      await disableRule(asOperator(), rule);
      return rule;
    },
  },
  eraseMemory: {
    own: async () => {
      const fact = await newFact(asHome(), { scope: 'home' });
      return { ...fact, confirm: fact.id };
    },
  },
  eraseSubject: {
    own: async () => {
      const subject = newName();
      await newFact(asHome(), { subject, scope: 'home' });
      const { confirmation } = await planSubjectErasure(contextOf('admin'), { subject });
      return { subject, confirm: confirmation };
    },
  },
  failConsolidation: { own: async () => ({ ...(await runningRun()), reason: 'no model' }) },
  forgetMemory: {
    own: () => newFact(asOperator(), { scope: 'home' }),
    others: [() => newFact(asOperator()), () => newFact(contextOf('butler', 'work'))],
  },
  ingestEpisodes: {
    own: async () => ({ episodes: [episode('home')] }),
    others: [async () => ({ episodes: [episode('home'), episode('work')] })],
  },
  linkMemories: {
    own: async () => ({
      source: await newFact(asOperator()),
      target: await newFact(asOperator()),
      relation: 'supports',
    }),
  },
  markRuleHarmful: { own: () => newRule(asOperator()) },
  markRuleHelpful: { own: () => newRule(asOperator()) },
  promoteRule: { own: () => newRule(asHome(), { scope: 'home' }) },
  refuseQuarantined: { own: quarantinedItem },
  renewConsolidation: { own: runningRun },
  requeueEpisodes: { own: async () => ({ butler: 'home' }), others: [async () => ({ butler: 'work' })] },
  restoreMemory: {
    own: () => forgotten(newFact(asHome())),
    others: [() => forgotten(newFact(asOperator()))],
  },
  runJob: { own: async () => ({ name: 'decay-sweep', dryRun: true }) },
  settleReview: { own: openedReview },
  storeEpisode: { own: async () => episode('home'), others: [async () => episode('work')] },
  storeFact: {
    own: async () => factNaming({ scope: 'home', sourceButler: 'home' }),
    others: [async () => factNaming({ sourceButler: 'work' }), async () => factNaming({ scope: 'work' })],
  },
  storeNote: { own: async () => ({ content: newName() }) },
  storeRule: {
    own: async () => ruleNaming({ scope: 'home', sourceButler: 'home' }),
    others: [async () => ruleNaming({ sourceButler: 'work' }), async () => ruleNaming({ scope: 'work' })],
  },
  submitConsolidation: { own: async () => ({ ...(await runningRun()), output: { new_facts: [] } }) },
  undo: {
    own: () => eventOf(facts.storeFact(asHome(), factNaming({}) as StoreFactInput)),
    others: [
      () => eventOf(facts.storeFact(asOperator(), factNaming({}) as StoreFactInput)),
      async () => {
        const fact = await newFact(asHome(), { scope: 'home' });
        return eventOf(forget.forgetMemory(asOperator(), fact));
      },
    ],
  },
};

type CoreCall = (context: MemoryContext, input: never, role: Role) => Promise<unknown>;

const coreMutations: Record<Mutation, CoreCall> = {
  approveQuarantined,
  claimConsolidation: claimForAgent,
  confirmMemory,
  demoteRule,
  disableRule,
  editRule,
  enableRule,
  eraseMemory,
  eraseSubject,
  failConsolidation: (context, { runId, reason }: { runId: string; reason: string }) =>
    failRun(context, runId, { reason, retryable: true }),
  forgetMemory,
  ingestEpisodes: (context, { episodes }: { episodes: never }) => ingestEpisodes(context, episodes),
  linkMemories,
  markRuleHarmful: (context, input: { ruleId: string }) => markRule(context, { ...input, outcome: 'harmful' }),
  markRuleHelpful: (context, input: { ruleId: string }) => markRule(context, { ...input, outcome: 'helpful' }),
  promoteRule,
  refuseQuarantined,
  renewConsolidation: (context, { runId }: { runId: string }) => renewLease(context, runId),
  requeueEpisodes,
  restoreMemory,
  settleReview,
  runJob: (context, input, role) => testApp.app.createContext({}, principalOf(role)).jobs.run(context, input),
  storeEpisode,
  storeFact,
  storeNote,
  storeRule,
  submitConsolidation: (context, { runId, output }: { runId: string; output: never }) =>
    submitOutput(context, runId, output),
  undo: undoEvent,
};

const page = { offset: 0, limit: 1 };
const unknownId = '01a1e5d0-5b7f-7c53-9f0e-2d4f8d1c6e7a';

/** The queries that are not for every role: a new one is missing here until it is added. */
const coreQueries: Partial<Record<Query, (context: MemoryContext) => Promise<unknown>>> = {
  accesses: (context) => listAccesses(context, page),
  activityByDay: (context) => readEventDays(context, {}),
  auditHead: (context) => findChainHead(context),
  embeddingVersions: (context) => listVersionProgress(context),
  erasurePlan: async (context) => planMemoryErasure(context, await newFact(asOperator())),
  exportSubject: (context) => exportSubject(context, { subject: 'nobody' }),
  quarantine: (context) => listQuarantine(context, {}, { offset: 0, limit: 1 }),
  jobRun: (context) => findJobRun(context, unknownId),
  jobRuns: (context) => listJobRuns(context, undefined, page),
  schedules: (context) => listSchedules(context),
};

interface PermissionDoor {
  offers(mutation: Mutation): boolean;
  /** Throws a DoorError when the call is refused. */
  call(role: Role, mutation: Mutation, input: object): Promise<void>;
}

const tools = [...bindTools(schema).values()];
const toolOf = (mutation: string): string | undefined =>
  tools.find(({ operation }) => operation.field === schema.getMutationType()?.getFields()[mutation])?.tool.name;

const doors: Record<string, PermissionDoor> = {
  core: {
    offers: () => true,
    call: async (role, mutation, input) => {
      await coreMutations[mutation](contextOf(role), input as never, role).catch(
        (error: { code: string; message: string; hint?: string }) => {
          throw new DoorError(error.code, `${error.message}\n${error.hint}`);
        },
      );
    },
  },
  GraphQL: {
    offers: () => true,
    call: async (role, mutation, input) => {
      const field = schema.getMutationType()?.getFields()[mutation] as GraphQLField<unknown, unknown>;
      const type = String(getNullableType(field.args[0]?.type));
      const query = `mutation ($input: ${type}!) { ${mutation}(input: $input) { __typename ... on Problem { code message } } }`;
      const { data, errors } = await post<GraphQLAnswer>('/graphql', role, { query, variables: { input } });
      const [error] = errors ?? [];
      if (error !== undefined) {
        throw new DoorError(error.extensions.code, `${error.message}\n${error.extensions.hint}`);
      }
      const answer = data?.[mutation];
      if (answer?.code !== undefined) throw new DoorError(answer.code, answer.message);
    },
  },
  MCP: {
    offers: (mutation) => toolOf(mutation) !== undefined,
    call: async (role, mutation, input) => {
      const params = { name: toolOf(mutation), arguments: toSnake(input) };
      const { result } = await post<McpAnswer>('/mcp', role, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      const text = result.content?.[0]?.text ?? '';
      if (result.isError === true) throw new DoorError(text.split(':')[0] ?? '', text.slice(text.indexOf(' ') + 1));
    },
  },
};

interface GraphQLAnswer {
  data?: Record<string, { code?: string; message: string }>;
  errors?: { message: string; extensions: { code: string; hint?: string } }[];
}

interface McpAnswer {
  result: { isError?: boolean; content?: { text: string }[]; tools?: { name: string }[] };
}

async function post<Answer>(path: string, role: Role, body: object): Promise<Answer> {
  const response = await testApp.app.fetch(
    new Request(`http://localhost${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${tokens.get(role)}`,
      },
      body: JSON.stringify(body),
    }),
  );
  return (await response.json()) as Answer;
}

function toSnake(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnake);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [toSnakeCase(name), toSnake(inner)]));
}

const namesOf = (kind: string): string[] =>
  actions.filter((action) => action.startsWith(`${kind} `)).map((action) => action.slice(kind.length + 1));
const mutations = namesOf('mutation') as Mutation[];

async function expectRefused(role: Role, call: () => Promise<void>, message: RegExp): Promise<void> {
  const events = (): Promise<number> => testApp.core.db.forTenant(tenantId).client.memoryEvent.count();
  const before = await events();
  await expect(call(), role).rejects.toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringMatching(message) as string,
  });
  expect(await events()).toBe(before);
}

const doorsOfThisRun = Object.keys(doors).filter(isInThisRun);

describe.each(doorsOfThisRun)('the permission table, through %s,', (name) => {
  const door = doors[name] as PermissionDoor;

  it.each(mutations.filter((mutation) => door.offers(mutation)))('decides who may %s', async (mutation) => {
    const { own, others = [] } = targets[mutation];
    const row = permissions[`mutation ${mutation}`];
    expect(others.length > 0, 'there is something that is not its own exactly where the table says own').toBe(
      roles.some((role) => row[role] === 'own'),
    );
    for (const role of roles) {
      if (row[role] === 'refused') {
        const reason = new RegExp(`^role must be .*(operator|admin) for ${mutation} \\(got ${role}\\)`);
        const input = await own();
        await expectRefused(role, () => door.call(role, mutation, input), reason);
        continue;
      }
      await expect(door.call(role, mutation, await own()), role).resolves.toBeUndefined();
      for (const other of others) {
        const input = await other();
        const call = (): Promise<void> => door.call(role, mutation, input);
        if (row[role] === 'own') await expectRefused(role, call, /operator/);
        else await expect(call(), role).resolves.toBeUndefined();
      }
    }
  });
});

describe('the permission table, through core,', () => {
  const restricted = actions.filter(
    (action) => action.startsWith('query ') && roles.some((role) => permissions[action][role] !== 'allowed'),
  );

  it.each(restricted)('decides who may read %s', async (action) => {
    const query = action.slice('query '.length) as Query;
    for (const role of roles) {
      const read = coreQueries[query]?.(contextOf(role));
      if (permissions[action][role] === 'allowed') await expect(read, role).resolves.not.toThrow();
      else await expect(read, role).rejects.toMatchObject({ code: 'FORBIDDEN' });
    }
  });
});

describe.each(roles)('the tools that are offered to the role %s', (role) => {
  it('are those that it may call', async () => {
    const { result } = await post<McpAnswer>('/mcp', role, { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    const permitted = tools.filter(({ operation: { field } }) => {
      const kind = schema.getMutationType()?.getFields()[field.name] === field ? 'mutation' : 'query';
      return permissions[`${kind} ${field.name}` as Action][role] !== 'refused';
    });
    expect(result.tools?.map((tool) => tool.name)).toEqual(permitted.map(({ tool }) => tool.name));
  });
});

describe.each(doorsOfThisRun)('the source of a memory, through %s,', (name) => {
  const door = doors[name] as PermissionDoor;
  const latest = async (): Promise<{ actor: string; source: unknown }> => {
    const event = await testApp.core.db
      .forTenant(tenantId)
      .client.memoryEvent.findFirstOrThrow({ where: { causeEventId: null }, orderBy: { sequence: 'desc' } });
    const { after } = event.payload as { after: Record<string, unknown> };
    return { actor: event.actor, source: after['source_butler'] ?? after['butler'] };
  };

  it('is the butler itself, whether it names itself or not', async () => {
    for (const sourceButler of [undefined, 'home']) {
      await door.call('butler', 'storeFact', factNaming({ sourceButler }));
      expect(await latest()).toEqual({ actor: 'butler:home', source: 'home' });
      await door.call('butler', 'storeRule', ruleNaming({ sourceButler }));
      expect(await latest()).toEqual({ actor: 'butler:home', source: 'home' });
      await door.call('butler', 'storeEpisode', { content: newName(), butler: sourceButler });
      expect(await latest()).toEqual({ actor: 'butler:home', source: 'home' });
    }
  });

  it('is no other butler, and the refusal says which it may be', async () => {
    await expectRefused(
      'butler',
      () => door.call('butler', 'storeFact', factNaming({ sourceButler: 'work' })),
      /^source_butler must be "home".*\(got "work"\)/,
    );
    await expectRefused(
      'butler',
      () => door.call('butler', 'storeRule', ruleNaming({ sourceButler: 'work' })),
      /^source_butler must be "home".*\(got "work"\)/,
    );
    await expectRefused(
      'butler',
      () => door.call('butler', 'storeEpisode', episode('work')),
      /^butler must be "home".*\(got "work"\)/,
    );
  });

  it('is any butler that an operator names, and the event keeps the operator', async () => {
    await door.call('operator', 'storeFact', factNaming({ sourceButler: 'work' }));
    expect(await latest()).toEqual({ actor: 'operator', source: 'work' });
    await door.call('operator', 'storeRule', ruleNaming({ sourceButler: 'work' }));
    expect(await latest()).toEqual({ actor: 'operator', source: 'work' });
    await door.call('operator', 'storeEpisode', episode('work'));
    expect(await latest()).toEqual({ actor: 'operator', source: 'work' });
  });
});
