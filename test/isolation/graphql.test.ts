import { getNamedType, isEnumType, type GraphQLArgument, type GraphQLField } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import type { Principal } from '../../src/memory/context.ts';
import { planSubjectErasure } from '../../src/memory/erasure/plan-erasure.ts';
import { roleReference, type OperationKind as Kind } from '../../scripts/docs/role-reference.ts';
import { drill } from '../support/drill.ts';
import { openEventStream, type FeedAnswer } from '../support/feeds.ts';
import { callsOf, type Call, type Target } from './calls.ts';
import { deepestSelection, everyField, isCovered, turns, weigh } from './selection.ts';
import { beginTrial, callers, goesEveryWay, type Trial } from './trial.ts';
import { adminOf, butlerOf, createWorld, operatorOf, secretOf, type World } from './world.ts';
import { storeEpisode, storeFact } from '../support/writes.ts';

let world: World;
const covered = new Set<string>();

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.testApp.close());

type Field = GraphQLField<unknown, unknown>;

const fieldsOf = (kind: Kind): [string, Field][] => {
  const root = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  }[kind];
  return Object.entries(root?.getFields() ?? {}) as [string, Field][];
};

const rootName = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const;

interface Document {
  query: string;
  variables: Record<string, unknown>;
}

/** They depend on what the arguments say of the length of lists, and on nothing else. */
const selections = new Map<string, string>();

function documentOf(kind: Kind, field: Field, { given }: Call, trial: Trial, turn = 0): Document {
  const literalOf = (argument: GraphQLArgument): string => {
    if (isEnumType(getNamedType(argument.type))) return 'fact';
    // The only one that a field inside an answer asks for is an id.
    return JSON.stringify(trial.ids.of('fact', trial.others[0] as Target));
  };
  const key = JSON.stringify([field.name, turn, weigh(field, given), trial.caller]);
  const selection = selections.get(key) ?? deepestSelection(field, given, { schema, turn, literalOf, covered });
  selections.set(key, selection);
  const asked = field.args.filter(({ name }) => given[name] !== undefined);
  const variables = asked.map(({ name, type }) => `$${name}: ${type.toString()}`).join(', ');
  const passed = asked.map(({ name }) => `${name}: $${name}`).join(', ');
  const head = asked.length === 0 ? '' : `(${variables})`;
  const tail = asked.length === 0 ? '' : `(${passed})`;
  return { query: `${kind} Trial${head} { ${field.name}${tail} ${selection} }`, variables: given };
}

interface Answer {
  data?: Record<string, unknown> | null;
  errors?: { message: string; extensions: { code: string } }[];
}

async function callsOfField(kind: Kind, field: Field, trial: Trial): Promise<Call[]> {
  const { own, others, ids } = trial;
  return callsOf({
    owner: `${rootName[kind]}.${field.name}`,
    arguments: field.args,
    ids,
    own,
    others,
    cursorOf: (target) => cursorOf(field, target),
    confirmationOf: async ({ tenantId }, subject) =>
      (await planSubjectErasure(world.contextOf(adminOf(tenantId)), { subject })).confirmation,
  });
}

/** The place of the first one in the list, as one of the target's sees it. */
async function cursorOf(field: Field, { tenantId, owner }: Target): Promise<string | undefined> {
  const principal: Principal = owner === 'global' ? operatorOf(tenantId) : butlerOf(tenantId, owner);
  const query = `{ ${field.name}(first: 1) { pageInfo { endCursor } } }`;
  const response = await world.testApp.app.fetch(
    new Request('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${world.tokenOf(principal)}` },
      body: JSON.stringify({ query }),
    }),
  );
  const { data } = (await response.json()) as { data?: Record<string, { pageInfo: { endCursor: string } }> | null };
  return data?.[field.name]?.pageInfo.endCursor;
}

/** The answer as it came, after it was held against what the caller may know. */
async function ask(trial: Trial, title: string, document: Document): Promise<Answer> {
  const response = await trial.post('/graphql', document, 'application/json');
  const text = await response.text();
  trial.check(`${title}\n${JSON.stringify(document)}\n${text}`, document, text);
  const answer = JSON.parse(text) as Answer;
  const flaw = answer.errors?.find(
    ({ extensions, message }) =>
      ['BAD_REQUEST', 'INTERNAL'].includes(extensions.code) || /complexity|too complex|depth|breadth/i.test(message),
  );
  expect(flaw, `${title}: the document of the trial itself is refused\n${JSON.stringify(document)}`).toBeUndefined();
  return answer;
}

/** What a butler may see is where ways to the rest of its tenant begin: these calls go every way. */
const leadsFurther = ({ title }: Call): boolean => /^own |= (episode|fact|rule|event) of global$/.test(title);
const turnsTaken = goesEveryWay ? turns : 1;

const isOpenTo = ({ errors }: Answer): boolean => errors?.[0]?.extensions.code !== 'FORBIDDEN';

/** The fields that were open to one of the callers at least, as "query facts". */
const tried = new Set<string>();

describe.each(callers)('%s, over GraphQL,', (_name, caller, tries) => {
  let trial: Trial;
  const toTry = new Set(
    roleReference(schema)
      .filter(tries)
      .map(({ kind, name }) => `${kind} ${name}`),
  );
  const fieldsToTry = (kind: Kind): [string, Field][] =>
    fieldsOf(kind).filter(([name]) => toTry.has(`${kind} ${name}`));

  beforeAll(async () => {
    trial = await beginTrial(world, caller);
  });

  it('is on a trial that would notice', async () => {
    const [other] = trial.others as [Target];
    const foreignId = trial.ids.of('fact', other);
    expect(() => trial.check('an id', {}, `{"id":"${foreignId}"}`)).toThrow('what it may not know');
    expect(() => trial.check('an id that was sent', { id: foreignId }, `{"id":"${foreignId}"}`)).not.toThrow();
    expect(() => trial.check('a word', {}, secretOf(other.tenantId, other.owner))).toThrow('what it may not know');
    const cursor = Buffer.from(JSON.stringify(['fact', foreignId])).toString('base64url');
    expect(() => trial.check('a cursor', {}, `{"cursor":"${cursor}"}`)).toThrow('what it may not know');
    const { tenantId, owner: butler } = other;
    await storeEpisode(world.contextOf(butlerOf(tenantId, butler)), { butler, content: 'Tea' });
    await expect(trial.expectOthersUntouched('a write')).rejects.toThrow("writes what is not the caller's");
    trial = await beginTrial(world, caller);
  });

  it.each(fieldsToTry('query'))('learns nothing of others by the query %s', async (name, field) => {
    const calls = await callsOfField('query', field, trial);
    const answers: Answer[] = [];
    for (const call of calls)
      answers.push(await ask(trial, `${name}, ${call.title}`, documentOf('query', field, call, trial)));
    for (const call of caller.role === 'butler' ? calls.filter(leadsFurther) : []) {
      for (let turn = 1; turn < turnsTaken; turn++)
        await ask(trial, `${name}, ${call.title}`, documentOf('query', field, call, trial, turn));
    }
    await trial.expectOthersUntouched(name);
    const open = answers.filter(isOpenTo);
    if (open.length > 0) tried.add(`query ${name}`);
    expect(
      open.length === 0 || open.some(({ errors }) => errors === undefined),
      `${name} never answers: the trial is none\n${JSON.stringify(answers)}`,
    ).toBe(true);
  });

  it.each(fieldsToTry('subscription'))('learns nothing of others by the feed %s', async (name, field) => {
    const calls = await callsOfField('subscription', field, trial);
    for (const call of calls)
      await follow(trial, `${name}, ${call.title}`, documentOf('subscription', field, call, trial));
    await trial.expectOthersUntouched(name);
  });

  it.each(fieldsToTry('mutation'))('learns and changes nothing of others by the mutation %s', async (name, field) => {
    await trial.renew(name);
    const calls = await callsOfField('mutation', field, trial);
    const answers: Answer[] = [];
    for (const call of calls)
      answers.push(await ask(trial, `${name}, ${call.title}`, documentOf('mutation', field, call, trial)));
    await trial.expectOthersUntouched(name);
    const open = answers.filter(isOpenTo);
    if (open.length > 0) tried.add(`mutation ${name}`);
    const isDone = ({ data }: Answer): boolean =>
      /"__typename":"\w+Payload"/.test(JSON.stringify(data?.[name] ?? null));
    expect(
      open.length === 0 || open.some(isDone),
      `${name} is never done: the trial is none\n${JSON.stringify(answers)}`,
    ).toBe(true);
  });
});

/** Beside a feed of everything: when that one brings what was stored last, the other has had its time. */
async function follow(trial: Trial, title: string, { query, variables }: Document): Promise<void> {
  const open = (text: string, given = {}): Promise<AsyncIterableIterator<FeedAnswer>> =>
    openEventStream(
      (request) => trial.post('/graphql', { query: text, variables: given }, request.headers.get('accept') ?? ''),
      'http://localhost',
      '',
    );
  const [feed, whole] = [await open(query, variables), await open('subscription { activity { entityId } }')];
  const told: string[] = [];
  const reading = (async () => {
    for await (const answer of feed) told.push(JSON.stringify(answer));
  })();
  const { tenantId, visit } = trial.caller;
  const { id } = await storeFact(world.contextOf(visit === undefined ? trial.caller : operatorOf(tenantId)), {
    subject: 'garden',
    predicate: `feed ${title}`,
    content: 'Green',
  });
  for await (const { data } of whole) if ((data as { activity: { entityId: string } }).activity.entityId === id) break;
  await Promise.all([feed.return?.(), whole.return?.()]);
  await reading;
  trial.check(title, variables, told.join('\n'));
}

/** A sample has one caller alone. */
it.runIf(drill({ sample: false, all: true }))('tries every query and mutation as somebody who may', () => {
  const fields = (['query', 'mutation'] as const).flatMap((kind) => fieldsOf(kind).map(([name]) => `${kind} ${name}`));
  expect(fields.filter((field) => !tried.has(field))).toEqual([]);
});

it.runIf(goesEveryWay)('asks for every field that an answer can have', () => {
  expect(everyField(schema).filter((field) => !isCovered(schema, covered, field))).toEqual([]);
});
