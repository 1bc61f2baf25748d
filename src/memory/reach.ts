import { describeGiven, MemoryError } from '../shared/errors.ts';
import type { MemoryContext } from './context.ts';
import { reaches } from './permissions.ts';
import { globalScope } from './values.ts';

/**
 * How much of its tenant a caller reaches. A butler reads and writes what is global and what is its own; who works for
 * the whole tenant reaches all of it. The database says the same of every row (policy butler_reach): what is refused
 * here would be refused there, with a worse message.
 */

type Caller = Pick<MemoryContext, 'principal'>;

/** The butler to whose own memories the caller is confined; null for who works for the whole tenant. */
export function onlyButlerOf({ principal }: Caller): string | null {
  return reaches[principal.role] === 'own' ? (principal.butler ?? '') : null;
}

/** Of facts and rules. */
export function requireScope(caller: Caller, scope: string): string {
  const own = onlyButlerOf(caller);
  if (own === null || scope === own || scope === globalScope) return scope;
  throw notOwn('scope', `"${globalScope}" or ${describeGiven(own)}`, scope);
}

/** Of episodes, contexts, runs and sources: a butler names itself and no other. */
export function requireButler(caller: Caller, butler: string, field = 'butler'): string {
  const own = onlyButlerOf(caller);
  if (own === null || butler === own) return butler;
  throw notOwn(field, describeGiven(own), butler);
}

function notOwn(field: string, allowed: string, given: string): MemoryError {
  const message = `${field} must be ${allowed} for the role butler (got ${describeGiven(given)})`;
  return new MemoryError('FORBIDDEN', message, { hint: 'The role operator may name any.' });
}

/** Throws FORBIDDEN unless the caller works for the whole tenant. */
export function requireForgottenReader(caller: Caller, asked: readonly string[]): void {
  if (onlyButlerOf(caller) === null) return;
  throw new MemoryError(
    'FORBIDDEN',
    `validity must not contain retracted for the role butler: it needs viewer, operator or admin (got ${describeGiven(asked)})`,
    { hint: 'Leave retracted out, or have an operator search what was forgotten.' },
  );
}
