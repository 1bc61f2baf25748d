import { randomUUID } from 'node:crypto';
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLInputType,
} from 'graphql';
import type { Principal } from '../../src/memory/context.ts';
import { alike } from './world.ts';
import { global, operators, type OwnedRow } from './ownership.ts';

/** The calls that are made of a field or tool: made up from its arguments, so that a new one is tried without being listed. */

/** Whose rows the ids of an argument are of. */
export interface Target {
  name: string;
  tenantId: string;
  /** A butler, or `global`. */
  owner: string;
}

export interface Argument {
  name: string;
  type: GraphQLInputType;
}

export interface Call {
  title: string;
  given: Record<string, unknown>;
}

type IdKind = keyof typeof tableOf;

const tableOf = {
  episode: 'episodes',
  fact: 'facts',
  rule: 'rules',
  run: 'consolidation_runs',
  receipt: 'context_receipts',
  event: 'memory_events',
  jobRun: 'job_runs',
  review: 'reviews',
  quarantined_item: 'quarantined_items',
} as const;

/** What no butler sees, whoever it is about. */
const ofOperators: ReadonlySet<IdKind> = new Set(['jobRun', 'quarantined_item']);

const memoryTypes = ['episode', 'fact', 'rule'] as const;

/** What an argument takes, by "Owner.name" or by its name alone. The owner is an input type or "Query.field". */
type Rule =
  | { id: IdKind | 'memory' | 'node' | 'entity' | 'session' | 'request' | 'butler' | 'key' | 'cursor' }
  | { value: (target: Target, ids: Ids, filling: Filling) => unknown };

/** A subject that no other call needs. */
export const erasable = 'the pavilion';

const rules: Record<string, Rule> = {
  'Query.episode.id': { id: 'episode' },
  'Query.fact.id': { id: 'fact' },
  'Query.rule.id': { id: 'rule' },
  'Query.receipt.id': { id: 'receipt' },
  'Query.jobRun.id': { id: 'jobRun' },
  'Query.consolidationRun.id': { id: 'run' },
  'Query.memory.id': { id: 'memory' },
  'Query.history.id': { id: 'memory' },
  'PastState.memory.id': { id: 'memory' },
  'MemoryReferenceInput.id': { id: 'memory' },
  'MemoryWriteInput.id': { id: 'memory' },
  'ForgetMemoryInput.id': { id: 'memory' },
  'ExplainInput.id': { id: 'memory' },
  'EraseMemoryInput.id': { id: 'memory' },
  'Query.erasurePlan.id': { id: 'memory' },
  'Query.node.id': { id: 'node' },
  'Query.nodes.ids': { id: 'node' },
  'RequeueEpisodesInput.ids': { id: 'episode' },
  'Subscription.activity.after': { id: 'event' },
  'Query.activityStream.since': { id: 'event' },
  'SettleReviewInput.id': { id: 'review' },
  'DecideQuarantinedInput.id': { id: 'quarantined_item' },
  ruleId: { id: 'rule' },
  'StoreRuleInput.supersedes': { id: 'rule' },
  'StoreFactInput.supersedes': { id: 'fact' },
  'StoreNoteInput.supersedes': { id: 'fact' },
  runId: { id: 'run' },
  receiptId: { id: 'receipt' },
  eventId: { id: 'event' },
  sinceEventId: { id: 'event' },
  sourceEpisodeId: { id: 'episode' },
  sessionId: { id: 'session' },
  requestId: { id: 'request' },
  entityId: { id: 'entity' },
  butler: { id: 'butler' },
  scope: { id: 'butler' },
  sourceButler: { id: 'butler' },
  idempotencyKey: { id: 'key' },
  after: { id: 'cursor' },
  before: { id: 'cursor' },
  query: { value: () => 'Darjeeling tea in the garden' },
  topic: { value: () => 'Darjeeling tea in the garden' },
  triggerPrompt: { value: () => 'Serve Darjeeling tea in the garden' },
  content: { value: () => alike },
  // What others have of it must not be taken.
  'ForgetMemoryInput.about': {
    value: (_target, _ids, { choice }) => (choice.isGiven('input.id') ? undefined : 'Darjeeling tea in the garden'),
  },
  'SegmentInput.text': { value: () => alike },
  reason: { value: () => 'It was said' },
  // Else nothing would be erased whoever asks for it.
  'EraseMemoryInput.confirm': {
    value: (_target, ids, { choice }) => memoryOf(choice, ids, choice.targetAt('input.id')),
  },
  'EraseSubjectInput.confirm': { value: (target, _ids, { confirmationOf }) => confirmationOf(target, erasable) },
  'EraseSubjectInput.subject': { value: () => erasable },
  subject: { value: () => 'user' },
  predicate: { value: () => 'drinks' },
  tags: { value: () => 'tea' },
  name: { value: () => 'decay-sweep' },
  actor: { value: ({ owner }) => `butler:${owner}` },
  eventTypes: { value: () => 'fact.stored' },
  metadata: { value: () => ({ note: 'none' }) },
  evidence: { value: () => ({ note: 'none' }) },
  output: { value: (target, ids) => outputAbout(target, ids) },
};

/** What else has to be given with an argument. */
const companions: Record<string, string[]> = { 'ExplainInput.id': ['type', 'query'] };

function outputAbout(target: Target, ids: Ids): object {
  const quote = { episode_id: ids.of('episode', target), quote: alike };
  return {
    new_facts: [{ subject: 'user', predicate: 'drinks', content: alike, evidence: [quote] }],
    updated_facts: [{ target_id: ids.of('fact', target), content: alike, evidence: [quote] }],
    confirmations: [{ target_type: 'rule', target_id: ids.of('rule', target), evidence: [quote] }],
    links: [{ relation: 'supports', target_type: 'fact', target_id: ids.of('fact', target), evidence: [quote] }],
  };
}

function ruleFor(owner: string, name: string): Rule {
  const rule = rules[`${owner}.${name}`] ?? rules[name];
  if (rule !== undefined) return rule;
  throw new Error(
    `test/isolation/calls.ts has no rule for the argument ${owner}.${name}: say in \`rules\` what id it takes ` +
      '(then those of others are tried), or which value does',
  );
}

/** Ids of every kind of every owner, from the rows that there are. */
export class Ids {
  readonly #rows: readonly OwnedRow[];

  constructor(rows: readonly OwnedRow[]) {
    this.#rows = rows;
  }

  /** The newest, or one before it. */
  of(kind: IdKind, target: Target, place = -1): string {
    const own = this.#rows.filter(
      ({ table, tenantId, owner, row }) =>
        table === tableOf[kind] &&
        tenantId === target.tenantId &&
        owner === (ofOperators.has(kind) ? operators : target.owner) &&
        (row['forgotten_at'] ?? null) === null &&
        (table !== 'rules' || row['validity'] !== 'retracted') &&
        (row['superseded_at'] ?? null) === null &&
        (kind !== 'quarantined_item' || row['status'] === 'waiting') &&
        // One that can be undone.
        (kind !== 'event' || row['entity_type'] === 'fact'),
    );
    const newestLast = own.map(({ row }) => String(row['id'])).toSorted((left, right) => (left < right ? -1 : 1));
    return newestLast.at(place) ?? randomUUID();
  }

  /** A column of something that is the target's alone. */
  column(name: string, { tenantId, owner }: Target): string {
    const found = this.#rows.find((row) => row.tenantId === tenantId && row.owner === owner && row.row[name]);
    return textOf(found?.row[name]);
  }
}

/** Where there is none: one that nobody has. */
function textOf(id: unknown): string {
  return typeof id === 'string' ? id : randomUUID();
}

interface Slot {
  path: string;
  kinds: string[];
}

interface Choice {
  /** Whose id stands at a path. */
  targetAt: (path: string) => Target;
  /** Whether what may be left out is given. */
  isGiven: (path: string) => boolean;
  /** Which type of memory or node. */
  kind: string;
}

export interface CallsOptions {
  owner: string;
  arguments: readonly Argument[];
  ids: Ids;
  own: Target;
  others: readonly Target[];
  /** A place in the list as another sees it. */
  cursorOf: (target: Target) => Promise<string | undefined>;
  /** What confirms that all about a subject of the target's is to be erased. */
  confirmationOf: (target: Target, subject: string) => Promise<string>;
}

/** One with the caller's own, and one for each argument that takes an id and each of those that it is not for. */
export async function callsOf(options: CallsOptions): Promise<Call[]> {
  const { own, others } = options;
  const slots: Slot[] = [];
  const plan = { targetAt: () => own, isGiven: () => true, kind: 'fact' };
  await fill(options, plan, slots);
  const calls: Call[] = [];
  const add = async (title: string, choice: Choice): Promise<void> => {
    calls.push({ title, given: await fill(options, choice, []) });
  };
  // Only a butler sees what is global with other eyes than what is its own.
  const shared = { ...own, name: 'global', owner: global };
  const isGiven = (): boolean => false;
  for (const { path, kinds } of slots) {
    for (const target of [...others, ...(others.length > 1 ? [shared] : [])]) {
      for (const kind of kinds) {
        await add(`${path} = ${kind} of ${target.name}`, {
          targetAt: (at) => (at === path ? target : own),
          isGiven: (at) => at === path || isNeededBy(at, path, options),
          kind,
        });
      }
    }
  }
  for (const target of others)
    await add(`all of ${target.name}`, { targetAt: () => target, isGiven: () => true, kind: 'fact' });
  for (const kind of kindsOf(slots)) await add(`own ${kind}`, { targetAt: () => own, isGiven, kind });
  await add('all own', plan);
  return calls;
}

function kindsOf(slots: readonly Slot[]): string[] {
  const kinds = new Set(slots.filter(({ kinds: some }) => some.length > 1).flatMap((slot) => slot.kinds));
  return kinds.size === 0 ? ['fact'] : [...kinds];
}

function isNeededBy(at: string, path: string, { arguments: given, owner }: CallsOptions): boolean {
  // What contains it, and what goes with it.
  if (path.startsWith(`${at}.`)) return true;
  const parent = path.split('.').slice(0, -1).join('.');
  const name = path.split('.').at(-1) ?? '';
  const input = given.map(({ type }) => getNamedType(type)).find(isInputObjectType);
  const typeName = parent === '' ? owner : (input?.name ?? '');
  return (companions[`${typeName}.${name}`] ?? []).some((with_) => at === [parent, with_].filter(Boolean).join('.'));
}

async function fill(options: CallsOptions, choice: Choice, slots: Slot[]): Promise<Record<string, unknown>> {
  return fillFields(options.arguments, { ...options, choice, slots, prefix: '' });
}

interface Filling extends CallsOptions {
  choice: Choice;
  slots: Slot[];
  prefix: string;
}

async function fillFields(fields: readonly Argument[], filling: Filling): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const { name, type } of fields) {
    const path = filling.prefix + name;
    // Always a short list, which leaves more of what may be asked for to the depth.
    const isBound = ['first', 'limit', 'about'].includes(name) || isTopicConfirmation(filling, name);
    if (!isNonNullType(type) && !isBound && !filling.choice.isGiven(path)) continue;
    const value = await valueFor(type, name, path, filling);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/** A topic is forgotten only if that is confirmed. */
function isTopicConfirmation({ owner }: Filling, name: string): boolean {
  return owner === 'ForgetMemoryInput' && name === 'confirm';
}

async function valueFor(given: GraphQLInputType, name: string, path: string, filling: Filling): Promise<unknown> {
  const type = getNullableType(given);
  if (isListType(type)) {
    const value = await valueFor(type.ofType, name, path, filling);
    return value === undefined ? undefined : [value];
  }
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields());
    return fillFields(fields, { ...filling, owner: type.name, prefix: `${path}.` });
  }
  if (isEnumType(type))
    return enumValue(
      type.name,
      type.getValues().map((value) => value.name),
      given,
      filling,
    );
  return scalarValue(type.name, name, path, filling);
}

/** Of those that may be left out only what says which type an id is of: the others narrow what is found. */
function enumValue(typeName: string, values: string[], given: GraphQLInputType, { choice }: Filling): unknown {
  if (typeName === 'MemoryType' && memoryTypes.some((type) => type === choice.kind)) return choice.kind;
  return isNonNullType(given) ? values[0] : undefined;
}

async function scalarValue(typeName: string, name: string, path: string, filling: Filling): Promise<unknown> {
  switch (typeName) {
    case 'Int':
      // Of a page from the end, which excludes one from the start.
      return name === 'last' ? undefined : 2;
    case 'Float':
      return name.startsWith('max') ? 1 : name === 'importance' ? 5 : name === 'withinDays' ? 36_500 : 0;
    case 'Boolean':
      return name !== 'dryRun';
    case 'DateTime':
      return momentFor(name);
    case 'String':
    case 'ID':
    case 'UUID':
    case 'JSONObject':
      return textValue(name, path, filling);
    default:
      throw new Error(`test/isolation/calls.ts has no value for the scalar ${typeName} of ${path}: add one`);
  }
}

/** Around the moment at which the clock of the tests stands. */
function momentFor(name: string): string {
  return ['to', 'until', 'at', 'asOf', 'validTo'].includes(name)
    ? '2026-03-02T12:00:00.000Z'
    : '2026-02-01T12:00:00.000Z';
}

async function textValue(name: string, path: string, filling: Filling): Promise<unknown> {
  const { owner, ids, choice, slots } = filling;
  const rule = ruleFor(owner, name);
  const target = choice.targetAt(path);
  if ('value' in rule) {
    if (name === 'output') slots.push({ path, kinds: ['ids'] });
    return rule.value(target, ids, filling);
  }
  slots.push({ path, kinds: kindsAt(rule.id) });
  const special = specialValues[rule.id];
  return special === undefined ? ids.of(rule.id as IdKind, target) : special(target, path, filling);
}

function memoryOf({ kind }: Choice, ids: Ids, target: Target, place?: number): string {
  return ids.of(memoryTypes.find((type) => type === kind) ?? 'fact', target, place);
}

type SpecialValue = (target: Target, path: string, filling: Filling) => unknown;

const specialValues: Partial<Record<string, SpecialValue>> = {
  // A link has two ends, which cannot be the same.
  memory: (target, path, { ids, choice }) => memoryOf(choice, ids, target, path.includes('target') ? -2 : -1),
  node: (target, _path, { ids, choice }) => {
    const kind = nodeKinds.find((one) => one === choice.kind) ?? 'fact';
    return `${kind === 'event' ? 'memoryEvent' : kind}:${ids.of(kind, target)}`;
  },
  entity: (target, _path, { ids }) => ids.of('fact', target),
  session: (target, _path, { ids }) => ids.column('session_id', target),
  request: (target, _path, { ids }) => ids.column('request_id', target),
  butler: ({ owner }) => owner,
  key: ({ owner }) => `key of ${owner}`,
  cursor: (target, path, { cursorOf }) => (path === 'before' ? undefined : cursorOf(target)),
};

const nodeKinds = ['episode', 'fact', 'rule', 'event'] as const;

function kindsAt(id: (Rule & { id: unknown })['id']): string[] {
  if (id === 'memory') return [...memoryTypes];
  return id === 'node' ? [...nodeKinds] : [String(id)];
}

export const ownTarget = ({ tenantId, butler }: Principal): Target => ({
  name: 'its own',
  tenantId,
  owner: butler ?? 'home',
});
