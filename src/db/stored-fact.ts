import type { Fact, Prisma } from '../generated/prisma/client.ts';

declare const sealable: unique symbol;

/**
 * A column whose row may be sealed: then it holds a placeholder, and the value is elsewhere in the row, encrypted. It is
 * no value of its type until the row is opened, so that code which forgets to do so does not compile.
 */
export interface Sealable<Value> {
  readonly [sealable]: Value;
}

type SealableColumn = 'content' | 'tags' | 'metadata';

/** A row of facts as it is stored. `openRow` makes of it what its writer gave. */
export type AsStored<Row> = {
  [Column in keyof Row]: Column extends SealableColumn ? Sealable<Row[Column]> : Row[Column];
};

/** The same, opened. Rows that are never sealed are the same before and after. */
export type Opened<Row> = {
  [Column in keyof Row]: Row[Column] extends Sealable<infer Value> ? Value : Row[Column];
};

export type StoredFact = AsStored<Fact>;

type Payload<Arguments> = AsStored<
  Prisma.FactGetPayload<Arguments extends Prisma.FactDefaultArgs ? Arguments : object>
>;

/** What reads facts with Prisma, with the type of what it reads. */
interface StoredFactReads {
  findMany<T extends Prisma.FactFindManyArgs>(
    args?: Prisma.SelectSubset<T, Prisma.FactFindManyArgs>,
  ): Promise<Payload<T>[]>;
  findUnique<T extends Prisma.FactFindUniqueArgs>(
    args: Prisma.SelectSubset<T, Prisma.FactFindUniqueArgs>,
  ): Promise<Payload<T> | null>;
  findUniqueOrThrow<T extends Prisma.FactFindUniqueOrThrowArgs>(
    args: Prisma.SelectSubset<T, Prisma.FactFindUniqueOrThrowArgs>,
  ): Promise<Payload<T>>;
  findFirst<T extends Prisma.FactFindFirstArgs>(
    args?: Prisma.SelectSubset<T, Prisma.FactFindFirstArgs>,
  ): Promise<Payload<T> | null>;
  findFirstOrThrow<T extends Prisma.FactFindFirstOrThrowArgs>(
    args?: Prisma.SelectSubset<T, Prisma.FactFindFirstOrThrowArgs>,
  ): Promise<Payload<T>>;
  create<T extends Prisma.FactCreateArgs>(args: Prisma.SelectSubset<T, Prisma.FactCreateArgs>): Promise<Payload<T>>;
  update<T extends Prisma.FactUpdateArgs>(args: Prisma.SelectSubset<T, Prisma.FactUpdateArgs>): Promise<Payload<T>>;
}

/** A Prisma client whose facts are as they are stored. */
export type WithStoredFacts<Client extends { fact: object }> = Omit<Client, 'fact'> & {
  readonly fact: Pick<Client['fact'], Extract<'count' | 'updateMany' | 'deleteMany', keyof Client['fact']>> &
    StoredFactReads;
};
