import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';
import { describe } from 'vitest';
import { createToken } from '../../src/auth/tokens.ts';
import { MemoryError } from '../../src/shared/errors.ts';
import { effectiveConfidence } from '../../src/memory/confidence.ts';
import type { MemoryContext, Principal } from '../../src/memory/context.ts';
import { ingestEpisodes, storeEpisode, type StoreEpisodeInput } from '../../src/memory/episodes/episodes.ts';
import { isFresh } from '../../src/memory/episodes/fresh.ts';
import { storeFact } from '../../src/memory/facts/facts.ts';
import type { StoreFactInput } from '../../src/memory/facts/fact-values.ts';
import { generationOf, type Generational } from '../../src/memory/generation.ts';
import { readHistory } from '../../src/memory/history/history.ts';
import { linkMemories, type Link, type LinkMemoriesInput } from '../../src/memory/links/link-graph.ts';
import type { MemoryReference, Relation } from '../../src/memory/links/links.ts';
import { getMemory, memoryTypeOf, type Memory, type MemoryRow } from '../../src/memory/memories.ts';
import { createReport, type WriteReport, type Written } from '../../src/memory/mutation.ts';
import { confirmMemory } from '../../src/memory/confirm.ts';
import { restoreMemory } from '../../src/memory/forgetting/forget.ts';
import type { MemoryWrite } from '../../src/memory/write-target.ts';
import { claimForAgent, submitOutput, type AgentClaimInput } from '../../src/lifecycle/consolidation/agent.ts';
import { requeueEpisodes, type RequeueInput } from '../../src/lifecycle/consolidation/requeue.ts';
import type { TextCut } from '../../src/redaction/redactor.ts';
import { readablePredicate } from '../../src/memory/facts/note-key.ts';
import { storeNote, type StoreNoteInput } from '../../src/memory/facts/notes.ts';
import {
  demoteRule,
  disableRule,
  editRule,
  enableRule,
  promoteRule,
  type EditRuleInput,
  type RuleWrite,
} from '../../src/memory/rules/rule-changes.ts';
import { storeRule, type StoreRuleInput } from '../../src/memory/rules/rules.ts';
import { markRule, type MarkRuleInput } from '../../src/memory/rules/rule-marks.ts';
import type { DueEviction } from '../../src/db/queries/eviction.ts';
import { readStats, type Count } from '../../src/lifecycle/stats.ts';
import {
  approveQuarantined,
  refuseQuarantined,
  type DecideQuarantinedInput,
} from '../../src/memory/quarantine/quarantine.ts';
import { settleReview, type SettleReviewInput } from '../../src/memory/reviews/settle-review.ts';
import { undoEvent, type UndoInput } from '../../src/memory/history/undo.ts';
import { buildContext, type ContextInput } from '../../src/retrieval/context/context.ts';
import { explainMemory, type ExplainQueryInput } from '../../src/retrieval/explain/explain.ts';
import { forget, type ForgetRequest } from '../../src/retrieval/forget.ts';
import { recallMemories, type RecallInput } from '../../src/retrieval/recall.ts';
import { searchMemories, type SearchInput, type SearchOutcome } from '../../src/retrieval/search.ts';
import { toCamelCase, toSnakeCase } from '../../src/shared/names.ts';
import type { TestApp } from '../support/app.ts';
import { testEngine } from '../support/database.ts';
import { chosenEngines, isDrillRun } from '../support/test-run.ts';
import * as documents from './documents.ts';

/** A memory as a door tells it: times as text, names in camel case. */
export type View = Record<string, unknown> & { id: string };

/** What people do to a rule by hand, and its text stays. */
export type RuleChange = 'promoteRule' | 'demoteRule' | 'disableRule' | 'enableRule';

/**
 * The operations that behaviours are stated in. A door that refuses throws a DoorError; one that does not offer an
 * operation does not have it.
 */
export interface Door {
  readonly name: string;
  storeEpisode(input: StoreEpisodeInput): Promise<View>;
  storeFact(input: StoreFactInput): Promise<View>;
  storeRule(input: StoreRuleInput): Promise<View>;
  markRule(input: MarkRuleInput): Promise<View>;
  getMemory(reference: MemoryReference): Promise<View>;
  confirmMemory(input: MemoryWrite): Promise<View>;
  forgetMemory(input: ForgetRequest): Promise<View>;
  /** What is known of a topic; with `confirm`, forgotten. */
  forgetTopic(input: ForgetRequest): Promise<ForgottenView>;
  restoreMemory(input: MemoryWrite): Promise<View>;
  editRule?: (input: EditRuleInput) => Promise<View>;
  changeRule?: (change: RuleChange, input: RuleWrite) => Promise<View>;
  linkMemories?: (input: LinkMemoriesInput) => Promise<LinkView>;
  settleReview?: (input: SettleReviewInput) => Promise<View>;
  approveQuarantined?: (input: DecideQuarantinedInput) => Promise<View>;
  refuseQuarantined?: (input: DecideQuarantinedInput) => Promise<View>;
  storeNote(input: StoreNoteInput): Promise<View>;
  /** The ids, in the order given. */
  ingestEpisodes(episodes: StoreEpisodeInput[]): Promise<string[]>;
  /** The event that took it back. */
  undo(input: UndoInput): Promise<View>;
  history(reference: MemoryReference): Promise<VersionView[]>;
  stats(scope?: string): Promise<StatsView>;
  search(input: SearchInput): Promise<MatchView[]>;
  recall(input: RecallInput): Promise<MatchView[]>;
  context(input: ContextInput): Promise<ContextView>;
  /** Whether a recall, or a search, returns a memory, and if not the stage that drops it. */
  explain(
    query: string,
    reference: MemoryReference,
    asked?: ExplainedQuery,
  ): Promise<{ came: boolean; stage: string | null; place: number | null }>;
  claimConsolidation(input: AgentClaimInput): Promise<ClaimView>;
  submitConsolidation(runId: string, output: Record<string, unknown>): Promise<RunView>;
  requeueEpisodes(input: RequeueInput): Promise<RequeueView>;
  /** How much was taken out of what was last given to be stored. */
  lastRedacted(): number;
  /** Which texts of what was last given were cut. */
  lastCut(): readonly TextCut[];
  /** The text of the last answer, where a door answers with one. */
  lastText?(): string;
  /** Whether what was last given to be stored was known already, and was confirmed instead. */
  lastWasKnown(): boolean;
  /** The event that the last write was answered with; null when it changed nothing. */
  lastEventId?(): string | null;
  /** What the last write of a memory was answered with; the core answers with the memory alone. */
  lastWrite?(): WriteView;
  /** What the last forgetting hid. */
  lastHidden(): HiddenView[];
  close(): Promise<void>;
}

/** How the explained query is asked. */
export type ExplainedQuery = Pick<ExplainQueryInput, 'kind' | 'scope' | 'types'>;

export interface ClaimView {
  run: { id: string; butler: string; episodeCount: number } | null;
  leaseExpiresAt: string | null;
  prompt: { system: string; user: string } | null;
}

export interface RunView {
  id: string;
  status: string;
  factsCreated: number;
  refusedItems: { kind: string; place: number; reason: string }[];
}

export interface RequeueView {
  episodes: { id: string }[];
  refused: { id: string; reason: string }[];
}

/** What a write did, as a door tells it. */
export interface WriteView {
  outcome: string;
  keptUntil: string | null;
  eventId: string | null;
  superseded: { id: string; content: string } | null;
  /** Of a fact: what else it superseded. */
  alsoSuperseded?: { id: string; content: string }[];
  /** Of a fact or rule: others that say nearly the same. */
  similar?: { id: string; content: string }[];
  /** Of a forgotten memory: what is hidden in episodes. */
  hidden?: HiddenView[];
}

export interface HiddenView {
  episodeId: string;
  text: string;
}

/** What was or would be forgotten together. */
export interface ForgottenView {
  memories: { type: string; id: string; content: string }[];
  hidden: HiddenView[];
  eventId: string | null;
}

/** A link as a door tells it. */
export interface LinkView {
  relation: Relation;
  createdAt: string;
}

/** A memory that was found, flat. */
export type MatchView = View & { score: number; relevance: number; isWarning: boolean; isFresh: boolean };

export interface ContextView {
  text: string;
  tokensUsed: number;
  tokenBudget: number;
  receiptId: string;
  sections: { name: string; items: MemoryReference[] }[];
}

export interface VersionView {
  event: { id: string; eventType: string; actor: string; requestId: string };
  memory: View | null;
}

export interface StatsView {
  episodes: { total: number; backlog: number; deadLetters: number; nothingFound: number };
  facts: { total: number; byValidity: Count[] };
  rules: { total: number; byMaturity: Count[] };
  byGeneration: Count[];
  dueEvictions: DueEviction[] | null;
  unknown: string[];
}

export class DoorError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Who asks, where authentication is required: the token is that of the principal. */
export interface Caller {
  principal: Principal;
  token: string;
}

/** Gives a caller a token of its own. */
export async function enrol({ app }: TestApp, principal: Principal): Promise<Caller> {
  const { tenantId, role, butler } = principal;
  const admin = app.createContext({}, { tenantId, butler: null, role: 'admin' }).memory;
  const { token } = await createToken(admin, { name: butler ?? role, role, ...(butler !== null && { butler }) });
  return { principal, token };
}

type OpenDoor = (app: TestApp, caller?: Caller) => Promise<Door>;

const doors: Record<string, OpenDoor> = {
  core: openCoreDoor,
  GraphQL: openGraphQLDoor,
  MCP: openMcpDoor,
};

/** States a behaviour once and holds every door to it. */
export function throughEveryDoor(state: (open: OpenDoor) => void): void {
  for (const [name, open] of Object.entries(doors)) {
    if (isInThisRun(name)) describe(`through ${name}`, () => state(open));
  }
}

/**
 * What lies under the doors is tested on both engines, so `npm test` goes through the core alone on PGlite, and the drills
 * go through the others there. With one engine chosen, every run goes through all of them.
 */
export function isInThisRun(door: string): boolean {
  if (testEngine === 'postgres' || chosenEngines(process.env).length === 1) return true;
  return (door === 'core') !== isDrillRun(process.env);
}

async function openCoreDoor({ app }: TestApp, caller?: Caller): Promise<Door> {
  const memoryContext = (): MemoryContext => app.createContext({}, caller?.principal).memory;
  let last: WriteReport = createReport();
  let lastHidden: HiddenView[] = [];
  const write = async <T>(work: (context: MemoryContext) => Promise<Written<T>>): Promise<T> => {
    const written = await work(memoryContext()).catch(asDoorError);
    last = written;
    return written.value;
  };
  const ask = async (work: (context: MemoryContext) => Promise<Written<MemoryRow>>): Promise<View> =>
    viewOf(await write(work), memoryContext());
  const askMemory = async (work: (context: MemoryContext) => Promise<Written<Memory>>): Promise<View> =>
    viewOf((await write(work)).row, memoryContext());
  const ruleChanges = { promoteRule, demoteRule, disableRule, enableRule };
  return {
    name: 'core',
    storeEpisode: (input) => ask((context) => storeEpisode(context, input)),
    storeFact: (input) => ask((context) => storeFact(context, input)),
    storeRule: (input) => ask((context) => storeRule(context, input)),
    markRule: (input) => ask((context) => markRule(context, input)),
    getMemory: async (reference) => {
      const { row } = await getMemory(memoryContext(), reference).catch(asDoorError);
      return viewOf(row, memoryContext());
    },
    confirmMemory: (input) => askMemory((context) => confirmMemory(context, input)),
    forgetMemory: async (input) => {
      const { memory, hidden } = await write((context) => forget(context, input));
      lastHidden = hidden;
      return viewOf((memory as Memory).row, memoryContext());
    },
    forgetTopic: async (input) => {
      const { memories, hidden } = await write((context) => forget(context, input));
      return { memories: memories.map(({ type, row }) => ({ ...row, type })), hidden, eventId: last.eventId };
    },
    restoreMemory: (input) => askMemory((context) => restoreMemory(context, input)),
    editRule: (input) => ask((context) => editRule(context, input)),
    changeRule: (change, input) => ask((context) => ruleChanges[change](context, input)),
    linkMemories: async (input) => viewOfLink(await write((context) => linkMemories(context, input))),
    settleReview: async (input) => {
      const { id, outcome } = await write((context) => settleReview(context, input));
      return { id, outcome };
    },
    approveQuarantined: async (input) => {
      const { id, status } = await write((context) => approveQuarantined(context, input));
      return { id, status };
    },
    refuseQuarantined: async (input) => {
      const { id, status } = await write((context) => refuseQuarantined(context, input));
      return { id, status };
    },
    storeNote: (input) => ask((context) => storeNote(context, input)),
    ingestEpisodes: async (episodes) => {
      const stored = await write((context) => ingestEpisodes(context, episodes));
      return stored.map(({ id }) => id);
    },
    undo: async (input) => {
      const { id, eventType, entityId } = await write((context) => undoEvent(context, input));
      return { id, eventType, entityId };
    },
    history: async (reference) => {
      const context = memoryContext();
      const versions = await readHistory(context, reference).catch(asDoorError);
      return versions.map(({ event, memory }) => ({
        event,
        memory: memory === null ? null : viewOf(memory, { ...context, now: () => memory.viewedAt }),
      }));
    },
    stats: (scope) => readStats(memoryContext(), { scope }).catch(asDoorError),
    search: async (input) => viewsOf(await searchMemories(memoryContext(), input).catch(asDoorError), memoryContext()),
    recall: async (input) => viewsOf(await recallMemories(memoryContext(), input).catch(asDoorError), memoryContext()),
    context: (input) => buildContext(memoryContext(), input).catch(asDoorError),
    explain: (query, memory, asked) => explainMemory(memoryContext(), { query, memory, ...asked }).catch(asDoorError),
    claimConsolidation: async (input) => {
      const claimed = await write((context) => claimForAgent(context, input));
      if (claimed === null) return { run: null, leaseExpiresAt: null, prompt: null };
      const { claim, prompt } = claimed;
      const run = { id: claim.runId, butler: claim.butler, episodeCount: claim.episodes.length };
      return { run, leaseExpiresAt: claim.leaseExpiresAt.toISOString(), prompt };
    },
    submitConsolidation: async (runId, output) =>
      (await write((context) => submitOutput(context, runId, output))) as unknown as RunView,
    requeueEpisodes: (input) => write((context) => requeueEpisodes(context, input)),
    lastRedacted: () => Object.values(last.redacted).reduce((sum, count) => sum + count, 0),
    lastCut: () => [...last.cut],
    lastWasKnown: () => last.confirmed,
    lastEventId: () => last.eventId,
    lastHidden: () => lastHidden,
    close: async () => undefined,
  };
}

function viewOfLink({ relation, createdAt }: Link): LinkView {
  return { relation, createdAt: createdAt.toISOString() };
}

function viewOf(row: MemoryRow, context: MemoryContext): View {
  const type = memoryTypeOf(row);
  const derived = 'decayRate' in row ? { effectiveConfidence: effectiveConfidence(row, context.now()) } : {};
  const generation = generationOf({ ...row, type } as Generational);
  const named = 'predicate' in row ? { predicate: readablePredicate(row) } : {};
  return JSON.parse(JSON.stringify({ ...row, ...derived, ...named, type, generation })) as View;
}

function viewsOf({ results }: SearchOutcome, context: MemoryContext): MatchView[] {
  return results.map(({ memory, score, relevance }) => ({
    ...viewOf(memory.row, context),
    score,
    relevance,
    isWarning: memory.maturity === 'anti_pattern',
    isFresh: memory.type === 'episode' && isFresh(memory.row),
  }));
}

function flatten(answer: View): MatchView[] {
  const results = answer['results'] as {
    memory: View;
    score: number;
    relevance: number;
    isWarning: boolean;
    isFresh: boolean;
  }[];
  return results.map(({ memory, ...match }) => ({ ...memory, ...match }));
}

function asDoorError(error: unknown): never {
  if (error instanceof MemoryError) throw new DoorError(error.code, error.message);
  throw error;
}

async function openGraphQLDoor({ app }: TestApp, caller?: Caller): Promise<Door> {
  let redacted = 0;
  let cut: TextCut[] = [];
  let confirmed = false;
  let eventId: string | null = null;
  let written: WriteView;
  const ask = async <Variables>(
    document: TypedDocumentNode<unknown, Variables>,
    variables: Variables,
  ): Promise<View> => {
    const [result] = Object.values(await request(app, document, variables, caller));
    if (result === null || result === undefined) throw new DoorError('NOT_FOUND', 'null');
    if ('code' in result) throw new DoorError(result['code'] as string, result['message'] as string);
    if ('redacted' in result) redacted = result['redacted'] as number;
    if ('cut' in result) cut = result['cut'] as TextCut[];
    if ('confirmed' in result) confirmed = result['confirmed'] as boolean;
    if ('eventId' in result) eventId = result['eventId'] as string | null;
    if ('outcome' in result) written = { superseded: null, ...(result as object) } as unknown as WriteView;
    return 'value' in result ? (result['value'] as View) : result;
  };
  const marks = { helpful: documents.markHelpful, harmful: documents.markHarmful };
  const ruleChanges = {
    promoteRule: documents.promoteRule,
    demoteRule: documents.demoteRule,
    disableRule: documents.disableRule,
    enableRule: documents.enableRule,
  };
  return {
    name: 'GraphQL',
    storeEpisode: (input) => ask(documents.storeEpisode, { input: input as never }),
    storeFact: (input) => ask(documents.storeFact, { input: input as never }),
    storeRule: (input) => ask(documents.storeRule, { input: input as never }),
    markRule: ({ outcome, ...input }) => ask(marks[outcome], { input: input as never }),
    getMemory: (reference) => ask(documents.getMemory, reference),
    confirmMemory: (input) => ask(documents.confirmMemory, { input: input as never }),
    forgetMemory: (input) => ask(documents.forgetMemory, { input: input as never }),
    forgetTopic: async (input) => (await ask(documents.forgetTopic, { input: input as never })) as never,
    restoreMemory: (input) => ask(documents.restoreMemory, { input: input as never }),
    editRule: (input) => ask(documents.editRule, { input: input as never }),
    changeRule: (change, input) => ask(ruleChanges[change], { input: input as never }),
    linkMemories: async (input) => (await ask(documents.linkMemories, { input: input as never })) as never,
    settleReview: (input) => ask(documents.settleReview, { input: input as never }),
    approveQuarantined: (input) => ask(documents.approveQuarantined, { input: input as never }),
    refuseQuarantined: (input) => ask(documents.refuseQuarantined, { input: input as never }),
    storeNote: (input) => ask(documents.storeNote, { input: input as never }),
    ingestEpisodes: async (episodes) => {
      const answer = await ask(documents.ingestEpisodes, { input: { episodes: episodes as never } });
      return (answer['episodes'] as View[]).map(({ id }) => id);
    },
    undo: (input) => ask(documents.undo, { input: input as never }),
    history: async (reference) => (await ask(documents.history, reference))['versions'] as VersionView[],
    stats: async (scope) => (await ask(documents.stats, { scope: scope ?? null })) as unknown as StatsView,
    search: async (input) => flatten(await ask(documents.search, { input: input as never })),
    recall: async (input) => flatten(await ask(documents.recall, { input: input as never })),
    context: async (input) => (await ask(documents.context, { input: input as never })) as unknown as ContextView,
    explain: async (query, reference, asked) =>
      (await ask(documents.explain, { input: { query, ...reference, ...asked } as never }))['memory'] as never,
    claimConsolidation: async (input) => (await ask(documents.claimConsolidation, { input: input as never })) as never,
    submitConsolidation: async (runId, output) =>
      (await ask(documents.submitConsolidation, { input: { runId, output } })) as never,
    requeueEpisodes: async (input) => (await ask(documents.requeueEpisodes, { input: input as never })) as never,
    lastRedacted: () => redacted,
    lastCut: () => cut,
    lastWasKnown: () => confirmed,
    lastEventId: () => eventId,
    lastWrite: () => written,
    lastHidden: () => written.hidden ?? [],
    close: async () => undefined,
  };
}

function authorization(caller: Caller | undefined): Record<string, string> {
  return caller === undefined ? {} : { authorization: `Bearer ${caller.token}` };
}

interface GraphQLAnswer {
  data?: Record<string, View | null>;
  errors?: { message: string; extensions: { code: string } }[];
}

async function request<Variables>(
  app: TestApp['app'],
  document: TypedDocumentNode<unknown, Variables>,
  variables: Variables,
  caller: Caller | undefined,
): Promise<Record<string, View | null>> {
  const response = await app.fetch(
    new Request('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization(caller) },
      body: JSON.stringify({ query: print(document), variables }),
    }),
  );
  const { data, errors } = (await response.json()) as GraphQLAnswer;
  if (errors?.[0] !== undefined) throw new DoorError(errors[0].extensions.code, errors[0].message);
  return data ?? {};
}

export async function openMcpDoor({ app }: TestApp, caller?: Caller): Promise<Door> {
  let redacted = 0;
  let cut: TextCut[] = [];
  let lastText = '';
  let written: WriteView;
  let confirmed = false;
  const client = new Client({ name: 'contract', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    requestInit: { headers: authorization(caller) },
    fetch: (url, init) => app.fetch(new Request(url, init)),
  });
  await client.connect(transport);
  const call = async (name: string, given: object): Promise<View> => {
    const answer = await client.callTool({ name, arguments: toSnake(given) });
    const [text] = answer.content as { text: string }[];
    if (answer.isError === true) throw fromToolText(text?.text ?? '');
    lastText = text?.text ?? '';
    const {
      redacted: count,
      cut: cuts,
      confirmed: isKnown,
      outcome,
      keptUntil,
      eventId,
      superseded,
      alsoSuperseded,
      similar,
      hidden,
      // How a fact stands, which a write says beside what it stored.
      isUpcoming: _isUpcoming,
      supersededBy: _supersededBy,
      ...view
    } = toCamel(answer.structuredContent as Record<string, unknown>);
    if (typeof count === 'number') redacted = count;
    if (Array.isArray(cuts)) cut = cuts as TextCut[];
    if (typeof isKnown === 'boolean') confirmed = isKnown;
    if (outcome !== undefined)
      written = { outcome, keptUntil, eventId, superseded: superseded ?? null, alsoSuperseded, similar } as WriteView;
    if (Array.isArray(hidden)) {
      written.hidden = (hidden as HiddenView[]).map(({ episodeId, text: part }) => ({ episodeId, text: part }));
    }
    return view as View;
  };
  return {
    name: 'MCP',
    storeEpisode: (input) => call('memory_store_episode', input),
    storeFact: (input) => call('memory_store_fact', input),
    storeRule: (input) => call('memory_store_rule', input),
    markRule: ({ outcome, ...input }) => call(`memory_mark_${outcome}`, input),
    getMemory: (reference) => call('memory_get', reference),
    confirmMemory: (input) => call('memory_confirm', input),
    forgetMemory: (input) => call('memory_forget', input),
    forgetTopic: async (input) => {
      const { memories } = await call('memory_forget', input);
      const { hidden, eventId } = written;
      return { memories, hidden, eventId } as ForgottenView;
    },
    restoreMemory: (input) => call('memory_restore', input),
    storeNote: (input) => call('memory_store', input),
    ingestEpisodes: async (episodes) => {
      const answer = await call('memory_ingest_batch', { episodes: episodes.map(toSnake) });
      return (answer['episodes'] as View[]).map(({ id }) => id);
    },
    undo: (input) => call('memory_undo', input),
    history: async (reference) => (await call('memory_history', reference))['versions'] as VersionView[],
    stats: async (scope) => (await call('memory_stats', scope === undefined ? {} : { scope })) as unknown as StatsView,
    search: async (input) => (await call('memory_search', input))['results'] as MatchView[],
    recall: async (input) => (await call('memory_recall', input))['results'] as MatchView[],
    context: async (input) => (await call('memory_context', input)) as unknown as ContextView,
    explain: async (query, reference, asked) =>
      (await call('memory_explain', { query, ...reference, ...asked }))['memory'] as never,
    claimConsolidation: async (input) => (await call('memory_consolidation_claim', input)) as never,
    submitConsolidation: async (runId, output) =>
      (await call('memory_consolidation_submit', { runId, output })) as never,
    requeueEpisodes: async (input) => (await call('memory_consolidation_requeue', input)) as never,
    lastRedacted: () => redacted,
    lastCut: () => cut,
    lastText: () => lastText,
    lastWrite: () => written,
    lastHidden: () => written.hidden ?? [],
    lastWasKnown: () => confirmed,
    close: () => client.close(),
  };
}

function fromToolText(text: string): DoorError {
  const [code = '', ...message] = text.split(': ');
  return new DoorError(code, message.join(': '));
}

function toSnake(given: object): Record<string, unknown> {
  return renameKeys(given, toSnakeCase);
}

/** All the way down, but for what a caller stored: its names are its own. */
function toCamel(given: object): Record<string, unknown> {
  const renamed = renameKeys(given, toCamelCase);
  return Object.fromEntries(
    Object.entries(renamed).map(([name, value]) => [name, name === 'metadata' ? value : toCamelValue(value)]),
  );
}

function toCamelValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelValue);
  return typeof value === 'object' && value !== null ? toCamel(value) : value;
}

function renameKeys(given: object, rename: (name: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [rename(name), value as unknown]));
}
