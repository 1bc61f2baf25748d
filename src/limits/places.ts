/** Gives a place back. Called again, it does nothing. */
export type Release = () => void;

export interface Places {
  /** Undefined when the key has as many as it may. */
  take(key: string): Release | undefined;
}

/** So many for each key at one time. */
export function createPlaces(most: number): Places {
  const taken = new Map<string, number>();
  const add = (key: string, change: number): void => {
    const count = (taken.get(key) ?? 0) + change;
    if (count > 0) taken.set(key, count);
    else taken.delete(key);
  };
  return {
    take: (key) => {
      if ((taken.get(key) ?? 0) >= most) return undefined;
      add(key, 1);
      let isReleased = false;
      return () => {
        if (!isReleased) add(key, -1);
        isReleased = true;
      };
    },
  };
}
