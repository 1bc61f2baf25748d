import { MemoryError } from '../shared/errors.ts';
import { roles, type MemoryContext, type Role } from './context.ts';

/**
 * The permission table: which role may do what. It is the one place that decides. GraphQL checks every root field against
 * it, the domain checks writes and restricted reads again, MCP offers tools by it, and routes.ts opens routes by it. The
 * table in docs/security.md and the permission tests are generated from it.
 */

/**
 * - `allowed`: on everything that the caller sees (reach.ts says what that is).
 * - `own`: only on what is the caller's own, although it sees more. The row says what counts as its own.
 * - `refused`: never.
 */
export type Permission = 'allowed' | 'own' | 'refused';

export interface PermissionRow extends Readonly<Record<Role, Permission>> {
  /** What a role with the permission `own` may act on. */
  readonly ownMeans?: string;
}

const everyone: PermissionRow = { viewer: 'allowed', butler: 'allowed', operator: 'allowed', admin: 'allowed' };
/** Reads that concern the whole tenant or the server. */
const tenantReaders: PermissionRow = { ...everyone, butler: 'refused' };
const writers: PermissionRow = { ...everyone, viewer: 'refused' };
const operators: PermissionRow = { ...writers, butler: 'refused' };
const admins: PermissionRow = { ...operators, operator: 'refused' };

/** Writes that a butler makes only on what is its own. */
function permitOwners(ownMeans: string): PermissionRow {
  return { ...writers, butler: 'own', ownMeans };
}

const rows = {
  'query accesses': admins,
  'query activity': everyone,
  'query activityByDay': tenantReaders,
  'query activityStream': everyone,
  'query asOf': everyone,
  'query auditHead': tenantReaders,
  'query consolidationRun': everyone,
  'query consolidationRuns': everyone,
  'query context': everyone,
  'query contextBatch': everyone,
  'query diff': everyone,
  'query embeddingVersions': tenantReaders,
  'query episode': everyone,
  'query episodes': everyone,
  'query erasurePlan': admins,
  'query explain': everyone,
  'query exportSubject': tenantReaders,
  'query fact': everyone,
  'query facts': everyone,
  'query fading': everyone,
  'query health': everyone,
  'query history': everyone,
  'query jobRun': tenantReaders,
  'query jobRuns': tenantReaders,
  'query memory': everyone,
  'query node': everyone,
  'query nodes': everyone,
  'query quarantine': operators,
  'query recall': everyone,
  'query recallBatch': everyone,
  'query receipt': everyone,
  'query replay': everyone,
  'query reviews': everyone,
  'query rule': everyone,
  'query rules': everyone,
  'query schedules': tenantReaders,
  'query search': everyone,
  'query searchBatch': everyone,
  'query stats': everyone,
  'query timeline': everyone,
  'mutation approveQuarantined': operators,
  'mutation claimConsolidation': permitOwners('its own episodes'),
  'mutation confirmMemory': writers,
  'mutation demoteRule': operators,
  'mutation disableRule': operators,
  'mutation editRule': permitOwners('rules in its own scope'),
  'mutation enableRule': operators,
  'mutation eraseMemory': admins,
  'mutation eraseSubject': admins,
  'mutation failConsolidation': writers,
  'mutation forgetMemory': permitOwners('memories in its own scope or stored in its own name'),
  'mutation ingestEpisodes': permitOwners('episodes in its own name'),
  'mutation linkMemories': writers,
  'mutation markRuleHarmful': writers,
  'mutation markRuleHelpful': writers,
  'mutation promoteRule': operators,
  'mutation refuseQuarantined': operators,
  'mutation renewConsolidation': writers,
  'mutation requeueEpisodes': permitOwners('its own episodes'),
  'mutation restoreMemory': permitOwners('memories in its own scope or stored in its own name'),
  'mutation runJob': operators,
  'mutation settleReview': writers,
  'mutation storeEpisode': permitOwners('episodes in its own name'),
  'mutation storeFact': permitOwners('facts in its own name, global or in its own scope'),
  'mutation storeNote': writers,
  'mutation storeRule': permitOwners('rules in its own name, global or in its own scope'),
  'mutation submitConsolidation': writers,
  'mutation undo': permitOwners('its own events'),
  'subscription activity': everyone,
  'subscription health': everyone,
  // A field that is null instead of refused, so that the rest of the answer is still read.
  'field HealthCheck.detail': tenantReaders,
  'field Stats.jobs': tenantReaders,
  'route /graphql': everyone,
  'route /mcp': everyone,
  'route /metrics': tenantReaders,
  // The details. The status is public.
  'route /readyz': tenantReaders,
} satisfies Record<string, PermissionRow>;

export type Action = keyof typeof rows;

export const permissions: Readonly<Record<Action, PermissionRow>> = rows;

export const actions = Object.keys(rows) as Action[];

/** Throws when the table has no such row: a new field, tool or route needs one. */
export function requireAction(kind: string, name: string): Action {
  const action = actions.find((candidate) => candidate === `${kind} ${name}`);
  if (action === undefined) throw new Error(`src/memory/permissions.ts must have a row for "${kind} ${name}"`);
  return action;
}

/**
 * How much of its tenant a role sees: all of it, or what is global and its own. The policy `butler_reach` of the database
 * enforces the same.
 */
export const reaches: Readonly<Record<Role, 'tenant' | 'own'>> = {
  viewer: 'tenant',
  butler: 'own',
  operator: 'tenant',
  admin: 'tenant',
};

/** Whether every mutation is refused to a role. Its transactions are read-only, so that the database refuses them too. */
export function isReadOnly(role: Role): boolean {
  return actions.every((action) => !action.startsWith('mutation ') || permissions[action][role] === 'refused');
}

type Caller = Pick<MemoryContext, 'principal'>;

/** Whether the caller may do this at all, be it only on what is its own. */
export function isPermitted({ principal }: Caller, action: Action): boolean {
  return permissions[action][principal.role] !== 'refused';
}

/** Whether the caller may do this on one thing. */
export function isPermittedOn({ principal }: Caller, action: Action, isOwn: boolean): boolean {
  const permission = permissions[action][principal.role];
  return permission === 'allowed' || (permission === 'own' && isOwn);
}

/** Throws FORBIDDEN when the role of the caller may not do this at all. */
export function authorize(caller: Caller, action: Action): void {
  if (!isPermitted(caller, action)) throw forbidden(caller, action, nameAction(action));
}

/** Throws FORBIDDEN when the caller may do this only on what is its own, and the target is not. */
export function authorizeTarget(caller: Caller, action: Action, { name, isOwn }: Target): void {
  authorize(caller, action);
  if (permissions[action][caller.principal.role] === 'own' && !isOwn) {
    throw forbidden(caller, action, `${nameAction(action)} of ${name}`);
  }
}

interface Target {
  /** Such as "fact" and its id. */
  name: string;
  isOwn: boolean;
}

function forbidden({ principal: { role } }: Caller, action: Action, what: string): MemoryError {
  const row = permissions[action];
  const isOwner = row[role] === 'own';
  // A role that may do it on its own memories needs one that may on all; a role that may not at all, one that may.
  const needed = roles.filter((other) => row[other] === 'allowed' || (row[other] === 'own' && !isOwner));
  return new MemoryError('FORBIDDEN', `role must be ${listRoles(needed)} for ${what} (got ${role})`, {
    hint: isOwner ? `The role ${role} may do it only for ${row.ownMeans}.` : 'Use a token of that role.',
  });
}

/** As in "viewer, operator or admin". */
function listRoles(names: readonly Role[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' or ');
}

function nameAction(action: Action): string {
  return action.slice(action.indexOf(' ') + 1);
}
