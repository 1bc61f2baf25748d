import { expect } from 'vitest';
import { MemoryError } from '../../src/shared/errors.ts';
import type { MemoryContext, Principal } from '../../src/memory/context.ts';
import { permissions } from '../../src/memory/permissions.ts';
import type { RoleReferenceRow } from '../../scripts/docs/role-reference.ts';
import { testEngine } from '../support/database.ts';
import { drill } from '../support/drill.ts';
import { chosenEngines } from '../support/test-run.ts';
import { digestOfOthers, foreignIds, type OwnedRow } from './ownership.ts';
import { erasable, Ids, ownTarget, type Target } from './calls.ts';
import {
  adminOf,
  asOperator,
  butlerOf,
  butlers,
  operatorOf,
  renew,
  secretOf,
  tenants,
  visitorOf,
  type World,
} from './world.ts';
import { disableRule, forgetMemory, storeFact } from '../support/writes.ts';

/** One caller at the doors: what it must not learn, and what it must not change. */
export interface Trial {
  caller: Principal;
  own: Target;
  others: readonly Target[];
  ids: Ids;
  post(path: string, body: unknown, accept?: string): Promise<Response>;
  /** Fails when an answer tells what the caller may not know. */
  check(title: string, sent: unknown, answer: string): void;
  /** Before a mutation: something of the caller's own that was not used up yet, and what it takes to be done to anyone's. */
  renew(name: string): Promise<void>;
  /** Fails when something of the others was written since the last time; and looks at all rows anew. */
  expectOthersUntouched(title: string): Promise<void>;
}

type Tries = (field: RoleReferenceRow) => boolean;

export const everything: Tries = () => true;

/**
 * In this order: of who came in as a visitor the others learn, as they should. What an operator may too is not tried as an
 * admin at home once more, nor what a visitor reads as one who may also write: it takes time, and the same code answers.
 * The sample is the caller who may see the least.
 */
const everyCaller: [name: string, Principal, Tries][] = [
  ['a butler', butlerOf(tenants[0], 'home'), everything],
  ['an operator', operatorOf(tenants[0]), everything],
  ['an admin', adminOf(tenants[0]), ({ action }) => permissions[action].operator === 'refused'],
  ['a visitor', visitorOf(...tenants), everything],
  ['a visitor who may write', visitorOf(...tenants, true), ({ kind }) => kind === 'mutation'],
];

/**
 * Whether every way through the schema is followed, on one engine: which ways lead where is the schema's, and each takes a
 * third of the time again. What keeps callers apart is tried on all engines, by every caller and every argument.
 */
export const goesEveryWay = drill({ sample: false, all: testEngine === chosenEngines(process.env).at(-1) });

export const callers = drill({ sample: everyCaller.slice(0, 1), all: everyCaller });

export async function beginTrial(world: World, caller: Principal): Promise<Trial> {
  let rows = await world.rows();
  // A visitor is told of itself by what it came in.
  const knownTokenIds = caller.visit === undefined ? new Set<string>() : world.tokenIds;
  let foreign = foreignIds(rows, caller, knownTokenIds);
  const secrets = secretsKeptFrom(caller);
  const digest = (of: readonly OwnedRow[]): string[] => digestOfOthers(of, caller, world.tokenIds);
  const read = (now: OwnedRow[]): void => {
    rows = now;
    // A session that the caller named in something of its own is its own from then on.
    foreign = foreignIds(rows, caller, knownTokenIds);
    trial.ids = new Ids(rows);
  };
  const trial: Trial = {
    caller,
    own: ownTarget(caller),
    others: othersOf(caller),
    ids: new Ids(rows),
    post: (path, body, accept = 'application/json, text/event-stream') =>
      world.testApp.app.fetch(requestOf(path, body, { accept, ...headersOf(world, caller) })),
    check: (title, sent, answer) => {
      const told = `${answer}\n${decodeCursors(answer)}`;
      const known = new Set(uuidsIn(JSON.stringify(sent)));
      const ids = [...new Set(uuidsIn(told))].filter((id) => foreign.has(id) && !known.has(id));
      const leaks = [...ids.map((id) => describe(rows, id)), ...secrets.filter((secret) => told.includes(secret))];
      expect(told, `${title} is refused before it is tried`).not.toContain('at most 10000000 a minute');
      expect(leaks, `${title} tells ${caller.role} ${String(caller.butler)} what it may not know`).toEqual([]);
    },
    renew: async (name) => {
      await renew(world.contextOf(butlerOf(caller.tenantId, trial.own.owner)), trial.own.owner);
      read(await world.rows());
      for (const target of [trial.own, ...trial.others]) {
        const ready = readyFor[name]?.(world.contextOf(butlerOf(target.tenantId, target.owner)), trial.ids, target);
        await ready?.catch(allowIfDone);
      }
      read(await world.rows());
    },
    expectOthersUntouched: async (title) => {
      await world.testApp.app.createContext({}, caller).references.flush();
      const now = await world.rows();
      expect(changes(digest(rows), digest(now)), `${title} writes what is not the caller's`).toEqual([]);
      read(now);
    },
  };
  return trial;
}

/** What has to be so before something can be done: then only the boundary stands in the way of doing it to others. */
const readyFor: Record<string, (context: MemoryContext, ids: Ids, target: Target) => Promise<unknown>> = {
  enableRule: (context, ids, target) => disableRule(asOperator(context), { ruleId: ids.of('rule', target) }),
  eraseSubject: (context) => storeFact(context, { subject: erasable, predicate: 'has', content: 'A bench' }),
  restoreMemory: (context, ids, target) => forgetMemory(context, { type: 'fact', id: ids.of('fact', target) }),
};

/** By the trial of another caller. */
function allowIfDone(error: unknown): void {
  if (!(error instanceof MemoryError && error.code === 'INVALID_TRANSITION')) throw error;
}

function othersOf({ tenantId, butler }: Principal): Target[] {
  const [, otherTenant] = tenants;
  const foreigner = { name: 'another tenant', tenantId: otherTenant, owner: 'home' };
  return butler === null ? [foreigner] : [{ name: 'another butler', tenantId, owner: 'work' }, foreigner];
}

export function headersOf(world: World, caller: Principal): Record<string, string> {
  const authorization = `Bearer ${world.tokenOf(caller)}`;
  return { authorization, ...(caller.visit !== undefined && { 'x-butler-tenant': caller.tenantId }) };
}

function secretsKeptFrom({ tenantId, butler, visit }: Principal): string[] {
  const [, otherTenant] = tenants;
  const ofOthers = ['global', 'operator', ...butlers].map((owner) => secretOf(otherTenant, owner));
  // Where it is at home a visitor knows.
  const foreign = visit === undefined ? [otherTenant, ...ofOthers] : ofOthers;
  return butler === null ? foreign : [...foreign, secretOf(tenantId, 'work'), secretOf(tenantId, 'operator')];
}

function requestOf(path: string, body: unknown, headers: Record<string, string>): Request {
  return new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

function uuidsIn(text: string): string[] {
  return text.toLowerCase().match(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g) ?? [];
}

/** A cursor is text of ours in another spelling. */
function decodeCursors(answer: string): string {
  const cursors = answer.match(/[cC]ursor"\s*:\s*"([^"]+)"/g) ?? [];
  return cursors
    .map((cursor) => Buffer.from(cursor.replace(/^.*"([^"]+)"$/, '$1'), 'base64').toString('latin1'))
    .join('\n');
}

function describe(rows: readonly OwnedRow[], id: string): string {
  const found = rows.find(({ row }) => Object.values(row).includes(id));
  return `${id} of ${String(found?.table)} of ${String(found?.owner)} of ${String(found?.tenantId)}`;
}

function changes(before: readonly string[], after: readonly string[]): string[] {
  const [had, has] = [new Set(before), new Set(after)];
  return [
    ...before.filter((line) => !has.has(line)).map((line) => `was: ${line}`),
    ...after.filter((line) => !had.has(line)).map((line) => `is: ${line}`),
  ];
}
