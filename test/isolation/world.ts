import { randomUUID } from 'node:crypto';
import { installQueue } from '../../jobs/queue.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { sweepDecay } from '../../src/lifecycle/decay.ts';
import { recordRun } from '../../src/lifecycle/job-runs.ts';
import { refreshProjections } from '../../src/lifecycle/projections.ts';
import { writeConfirmation } from '../../src/memory/confirm.ts';
import type { MemoryContext, Principal } from '../../src/memory/context.ts';
import type { Episode } from '../../src/memory/episodes/episodes.ts';
import type { Fact } from '../../src/memory/facts/facts.ts';
import { mutate } from '../../src/memory/mutation.ts';
import { quarantine } from '../../src/memory/quarantine/quarantine.ts';
import { openReview } from '../../src/memory/reviews/reviews.ts';
import type { Rule } from '../../src/memory/rules/rules.ts';
import { buildContext } from '../../src/retrieval/context/context.ts';
import { recallMemories } from '../../src/retrieval/recall.ts';
import { draftReceipt, keepReceipts } from '../../src/retrieval/receipts/receipts.ts';
import type { Config } from '../../src/config/schema.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { testConfig } from '../support/config.ts';
import { insertRow, rowOf } from '../support/rows.ts';
import { global, readAllRows, type OwnedRow } from './ownership.ts';
import {
  claimForAgent,
  failRun,
  forgetMemory,
  linkMemories,
  markRule,
  promoteRule,
  storeEpisode,
  storeFact,
  storeRule,
  submitOutput,
} from '../support/writes.ts';

/** Two tenants, in each two butlers, and of all of them the same, but for a word that is in nothing of anyone else. */

export const tenants = ['tenantalder', 'tenantbirch'] as const;
export const butlers = ['home', 'work'] as const;

export function secretOf(tenantId: string, owner: string): string {
  return `q${tenantId.replace('tenant', '')}${owner}z`;
}

export interface World {
  testApp: TestApp;
  contextOf(principal: Principal): MemoryContext;
  tokenOf(principal: Principal): string;
  tokenIds: ReadonlySet<string>;
  rows(): Promise<OwnedRow[]>;
}

export const butlerOf = (tenantId: string, butler: string): Principal => ({ tenantId, butler, role: 'butler' });
export const operatorOf = (tenantId: string): Principal => ({ tenantId, butler: null, role: 'operator' });
/** What a butler has, changed by whoever may: some things need an operator. */
export const asOperator = (context: MemoryContext): MemoryContext => ({
  ...context,
  principal: operatorOf(context.principal.tenantId),
});
export const adminOf = (tenantId: string): Principal => ({ tenantId, butler: null, role: 'admin' });
/** An admin of the other tenant, in this one by a grant: to read, or also to write. */
export const visitorOf = (tenantId: string, home: string, mayWrite = false): Principal => ({
  tenantId,
  butler: null,
  role: 'admin',
  visit: { home, mayWrite },
});

export const alike = 'The user drinks Darjeeling tea at five in the garden';

export async function createWorld(config = testConfig(), logger = createLogger(config)): Promise<World> {
  const settings: Config = {
    ...config,
    auth: { ...config.auth, mode: 'required' },
    mcp: { ...config.mcp, sessions: true },
    // The clock stands still: what is spent never comes back. And the deepest documents take their time.
    limits: { ...config.limits, requestsPerMinute: 10_000_000, burst: 1_000_000, requestTimeoutSeconds: 3600 },
  };
  const testApp = await createTestApp(settings, logger);
  await installQueue(testApp.core.db);
  const contextOf = (principal: Principal): MemoryContext => testApp.app.createContext({}, principal).memory;
  const tokens = new Map<string, string>();
  const tokenIds = new Set<string>();
  for (const tenantId of tenants) {
    const ofButlers = butlers.map((butler) => butlerOf(tenantId, butler));
    for (const principal of [operatorOf(tenantId), adminOf(tenantId), ...ofButlers]) {
      const name = `token ${secretOf(tenantId, principal.butler ?? 'operator')}`;
      const admin = contextOf(adminOf(tenantId));
      const { token, record } = await createToken(admin, { ...principal, name });
      tokens.set(JSON.stringify(principal), token);
      tokenIds.add(record.id);
    }
    await fillTenant(testApp, contextOf, tenantId);
  }
  const [entered, home] = tenants;
  for (const acrossWrite of [false, true]) {
    const grant = { name: 'visitor', role: 'admin', across: [entered], acrossWrite };
    const visitor = await createToken(contextOf(adminOf(home)), grant);
    tokens.set(JSON.stringify(visitorOf(entered, home, acrossWrite)), visitor.token);
    tokenIds.add(visitor.record.id);
  }
  return {
    testApp,
    contextOf,
    tokenOf: (principal) => tokens.get(JSON.stringify(principal)) as string,
    tokenIds,
    rows: () => readAllRows(testApp.core.db),
  };
}

async function fillTenant(
  { app, core }: TestApp,
  contextOf: (principal: Principal) => MemoryContext,
  tenantId: string,
): Promise<void> {
  const operator = (): MemoryContext => contextOf(operatorOf(tenantId));
  const shared = await fillGlobal(operator, secretOf(tenantId, global));
  for (const butler of butlers) {
    const own = await fillButler(() => contextOf(butlerOf(tenantId, butler)), butler, secretOf(tenantId, butler));
    await joinWithGlobal({ tenantId, butler, operator, contextOf, shared, own });
  }
  await recordRun(operator(), { name: 'decay-sweep', sweep: sweepDecay }, { dryRun: false, startedBy: 'person' });
  await refreshProjections(operator(), { dryRun: false });
  const secret = secretOf(tenantId, 'operator');
  await core.db.asOwner(async (client) => {
    await insertRow(
      client,
      'job_runs',
      rowOf('job_runs', tenantId, { status: 'failed', error: secret, finished_at: new Date() }),
    );
    for (const butler of butlers) {
      await insertRow(client, 'episode_tombstones', rowOf('episode_tombstones', tenantId, { butler }));
    }
  });
  await app.createContext({}, operatorOf(tenantId)).references.flush();
}

interface Memories {
  fact: Fact;
  rule: Rule;
}

const words = (secret: string): { tags: string[]; metadata: { note: string } } => ({
  tags: ['tea', secret],
  metadata: { note: secret },
});

async function fillGlobal(operator: () => MemoryContext, secret: string): Promise<Memories> {
  const about = { subject: 'user', predicate: 'drinks', ...words(secret) };
  await storeFact(operator(), { ...about, content: `${alike} once ${secret}` });
  const fact = await storeFact(operator(), { ...about, content: `${alike} ${secret}` });
  const rule = await storeRule(operator(), {
    content: `Serve Darjeeling tea in the garden ${secret}`,
    ...words(secret),
  });
  await linkMemories(operator(), {
    source: { type: 'fact', id: fact.id },
    target: { type: 'rule', id: rule.id },
    relation: 'supports',
  });
  return { fact, rule };
}

interface Own extends Memories {
  episode: Episode;
}

/** All that a butler has: through the core, as the butler itself. */
async function fillButler(context: () => MemoryContext, butler: string, secret: string): Promise<Own> {
  const sessionId = randomUUID();
  const tell = (what: string): Promise<Episode> =>
    storeEpisode(context(), { butler, sessionId, content: `${alike} ${what} ${secret}`, ...words(secret) });
  const claimed = await tell('was claimed');
  await submitRun(context, butler, claimed);
  await tell('was failed');
  const failing = await claimForAgent(context(), { butler });
  await failRun(context(), failing?.claim.runId ?? '', { reason: `no answer ${secret}`, retryable: false });
  const episode = await storeEpisode(context(), {
    butler,
    sessionId,
    content: `${alike} ${secret}`,
    idempotencyKey: `key of ${butler}`,
    ...words(secret),
  });
  await forgetMemory(context(), { type: 'episode', id: (await tell('was forgotten')).id });
  const about = { subject: 'user', predicate: 'drinks', scope: butler, sourceEpisodeId: episode.id, ...words(secret) };
  await storeFact(context(), { ...about, content: `${alike} once ${secret}` });
  const fact = await storeFact(context(), { ...about, content: `${alike} ${secret}` });
  await mutate(context(), async (mutation) => {
    await writeConfirmation(mutation, { type: 'fact', id: fact.id });
    await quarantine(mutation, butler, [{ episodeId: episode.id, kind: 'rule', content: `Serve it cold ${secret}` }]);
  });
  const rule = await storeRule(context(), {
    content: `Serve Darjeeling tea in the garden ${secret}`,
    scope: butler,
    sourceEpisodeId: episode.id,
    ...words(secret),
  });
  await markRule(context(), { ruleId: rule.id, outcome: 'helpful', reason: secret, sessionId, evidence: { secret } });
  await keepRecall(context(), secret);
  await buildContext(context(), { triggerPrompt: `Serve Darjeeling tea ${secret}`, butler, sessionId });
  await promoteRule(asOperator(context()), { ruleId: rule.id });
  // Under way from now on.
  await claimForAgent(context(), { butler });
  return { episode, fact, rule };
}

/** Something new of a butler's own, in a state in which everything can be done to it. */
export async function renew(context: MemoryContext, butler: string): Promise<void> {
  const content = `${alike} ${randomUUID()}`;
  const { id: sourceEpisodeId } = await storeEpisode(context, { butler, content });
  const predicates = [randomUUID(), randomUUID()];
  const factIds: string[] = [];
  for (const predicate of predicates) {
    factIds.push((await storeFact(context, { subject: 'user', predicate, content, scope: butler })).id);
  }
  const [older = '', newer = ''] = factIds;
  await mutate(context, async (mutation) => {
    await writeConfirmation(mutation, { type: 'fact', id: newer });
    await quarantine(mutation, butler, [{ episodeId: sourceEpisodeId, kind: 'fact', content }]);
    return openReview(mutation, { kind: 'same_thing', factIds: [older, newer], reason: 'looks_alike' });
  });
  // An undo is tried on the newest event of a fact: the clock stands still, and that confirmation left nothing to undo.
  await storeFact(context, { subject: 'user', predicate: randomUUID(), content, scope: butler });
  for (const predicate of predicates) {
    const { id: ruleId } = await storeRule(context, {
      content: `${content} ${predicate}`,
      scope: butler,
      sourceEpisodeId,
    });
    await promoteRule(asOperator(context), { ruleId });
  }
  // Nothing, where one is under way already.
  await claimForAgent(context, { butler });
}

async function submitRun(context: () => MemoryContext, butler: string, { id, content }: Episode): Promise<void> {
  const claim = await claimForAgent(context(), { butler });
  const evidence = [{ episode_id: id, quote: content }];
  await submitOutput(context(), claim?.claim.runId ?? '', {
    new_facts: [
      { subject: 'user', predicate: 'was_claimed', content, scope: butler, evidence },
      // What everybody may know, learned from what only one has seen.
      { subject: 'user', predicate: `likes_tea_${butler}`, content: 'The user likes Darjeeling tea', evidence },
    ],
  });
}

async function keepRecall(context: MemoryContext, secret: string): Promise<void> {
  const outcome = await recallMemories(context, { topic: `Darjeeling tea ${secret}` });
  await keepReceipts(context, [draftReceipt(context, outcome, { kind: 'recall' })]);
}

interface Joining {
  tenantId: string;
  butler: string;
  operator: () => MemoryContext;
  contextOf: (principal: Principal) => MemoryContext;
  shared: Memories;
  own: Own;
}

/** What is global leads to what is not: by links, by sources, by applications, by receipts. */
async function joinWithGlobal({ tenantId, butler, operator, contextOf, shared, own }: Joining): Promise<void> {
  const ends = [
    [shared.fact, own.fact, 'contradicts'],
    [own.fact, shared.fact, 'supports'],
  ] as const;
  for (const [source, target, relation] of ends) {
    const both = { source: { type: 'fact', id: source.id }, target: { type: 'fact', id: target.id } } as const;
    await linkMemories(operator(), { ...both, relation });
  }
  const context = (): MemoryContext => contextOf(butlerOf(tenantId, butler));
  const from = { sourceEpisodeId: own.episode.id };
  const content = `The user takes tea with milk ${secretOf(tenantId, global)}`;
  await storeFact(context(), { subject: 'user', predicate: `milk ${butler}`, content, ...from });
  await storeRule(context(), { content: `Offer milk with tea ${secretOf(tenantId, global)} ${butler}`, ...from });
  await markRule(context(), { ruleId: shared.rule.id, outcome: 'helpful' });
  await buildContext(operator(), { triggerPrompt: 'Serve Darjeeling tea', butler });
  // Somebody who works for all, and through one of them.
  const both = contextOf({ tenantId, butler, role: 'operator' });
  await keepRecall(both, secretOf(tenantId, 'operator'));
  await storeFact(both, { subject: 'garden', predicate: `chair ${butler}`, content: 'The garden has a chair' });
}
