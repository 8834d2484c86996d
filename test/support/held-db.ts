import type { Db } from 'mongodb';

export interface HeldDb {
  readonly db: Db;
  /** Updates that have not reached the store yet. */
  readonly waiting: number;
  /** Updates wait from now on. */
  hold(): void;
  /** Lets them go; resolves when each is answered and its caller has gone on. */
  release(): Promise<void>;
}

/** A connection that can hold up `updateMany` of one collection. */
export function holdUpdates(db: Db, collection: string): HeldDb {
  let gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;
  const asked = new Set<Promise<unknown>>();
  const held = (target: object): object =>
    new Proxy(target, {
      get: (of, name) => {
        const value = Reflect.get(of, name) as unknown;
        if (typeof value !== 'function') return value;
        if (name !== 'updateMany') return value.bind(of) as unknown;
        return async (...args: unknown[]): Promise<unknown> => {
          const answer = (gate?.opened ?? Promise.resolve()).then(() => value.apply(of, args) as unknown);
          asked.add(answer);
          return answer.finally(() => asked.delete(answer));
        };
      },
    });
  const proxy = new Proxy(db, {
    get: (of, name) => {
      const value = Reflect.get(of, name) as unknown;
      if (typeof value !== 'function') return value;
      if (name !== 'collection') return value.bind(of) as unknown;
      return (wanted: string): unknown => {
        const found = of.collection(wanted);
        return wanted === collection ? held(found) : found;
      };
    },
  });
  return {
    db: proxy,
    get waiting() {
      return gate === undefined ? 0 : asked.size;
    },
    hold: () => {
      let open = (): void => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      gate = { opened, open };
    },
    release: async () => {
      const waited = [...asked];
      gate?.open();
      gate = undefined;
      await Promise.all(waited);
      // The caller gets its answer in this turn of the event loop, and goes on up to its next command.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
