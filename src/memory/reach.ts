import { describeGiven, MemoryError } from '../errors.ts';
import type { MemoryContext } from './context.ts';
import { globalScope } from './values.ts';

/**
 * How much of its tenant a caller reaches. A butler reads and writes what is global and what is its own; who works for
 * the whole tenant reaches all of it. The database says the same of every row (policy butler_reach): what is refused
 * here would be refused there, with a worse message.
 */

type Caller = Pick<MemoryContext, 'principal'>;

/** The butler to whose own memories the caller is confined; null for who works for the whole tenant. */
export function onlyButlerOf({ principal }: Caller): string | null {
  return principal.role === 'butler' ? (principal.butler ?? '') : null;
}

/** Of facts and rules. */
export function requireScope(caller: Caller, scope: string): string {
  const own = onlyButlerOf(caller);
  if (own === null || scope === own || scope === globalScope) return scope;
  throw new MemoryError('FORBIDDEN', `scope: ${globalScope} or ${own}, your own; given ${scope}`);
}

/** Of episodes, contexts and runs. */
export function requireButler(caller: Caller, butler: string): string {
  const own = onlyButlerOf(caller);
  if (own === null || butler === own) return butler;
  throw new MemoryError('FORBIDDEN', `butler: ${own}, your own; given ${butler}`);
}

/** Throws FORBIDDEN unless the caller works for the whole tenant. */
export function requireForgottenReader(caller: Caller, asked: readonly string[]): void {
  if (onlyButlerOf(caller) === null) return;
  throw new MemoryError(
    'FORBIDDEN',
    `validity must not contain retracted for the role butler: it needs operator or admin (got ${describeGiven(asked)})`,
    { hint: 'Leave retracted out, or have an operator search what was forgotten.' },
  );
}
