import { expectTypeOf, it } from 'vitest';
import type { TenantClient } from '../../src/db/database.ts';
import type { AsStored, Opened, Sealable } from '../../src/db/stored-fact.ts';
import type { Fact } from '../../src/memory/facts/facts.ts';
import type { openRow } from '../../src/encryption/sealing.ts';

/** `npm run check` compiles these: what a stored fact says is of no use until the fact is opened. */
type Found = Awaited<ReturnType<TenantClient['fact']['findFirstOrThrow']>>;

it('a fact that is read is not a text until it is opened', () => {
  expectTypeOf<Found['content']>().not.toExtend<string>();
  expectTypeOf<AsStored<Fact>['content']>().toEqualTypeOf<Sealable<string>>();
  expectTypeOf<AsStored<Fact>>().not.toExtend<Fact>();
  expectTypeOf<Opened<AsStored<Fact>>>().toEqualTypeOf<Fact>();
  expectTypeOf<Awaited<ReturnType<typeof openRow<AsStored<Fact>>>>>().toExtend<Fact>();
});
