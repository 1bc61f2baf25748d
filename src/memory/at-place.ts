import { MemoryError } from '../shared/errors.ts';

/** What is wrong with one of several, with its place in the message: `episodes[1].content: ...`. */
export function atPlace<T>(list: string, place: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    return atPlaceError(list, place)(error);
  }
}

/** The same for a promise that was rejected. */
export function atPlaceError(list: string, place: number): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof MemoryError)) throw error;
    const { hint } = error;
    throw new MemoryError(error.code, `${list}[${place}].${error.message}`, hint === undefined ? {} : { hint });
  };
}
