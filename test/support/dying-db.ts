import type { Db } from 'mongodb';

/** The process that used this connection is gone: nothing further of it happens. */
export class Died extends Error {}

/** Methods of a collection that ask the store for something, when they are called or when their cursor is read. */
const ASKING = new Set([
  'aggregate',
  'countDocuments',
  'deleteMany',
  'deleteOne',
  'find',
  'findOne',
  'findOneAndUpdate',
  'insertMany',
  'insertOne',
  'updateMany',
  'updateOne',
]);
const WRITING = /^(delete|findOneAnd|insert|update)/;

/**
 * A connection of a process that is killed at its `last` command (from 1): `before` the store got it, or `after` the store
 * did it and before its answer came. Every command after it fails too.
 */
export function dyingDb(db: Db, last: number, when: 'before' | 'after'): Db {
  let commands = 0;
  const collection = (name: string): object =>
    new Proxy(db.collection(name), {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        if (typeof property !== 'string' || !ASKING.has(property)) return value.bind(target);
        return (...args: unknown[]): unknown => {
          commands += 1;
          if (commands > last || (commands === last && !(when === 'after' && WRITING.test(property)))) throw new Died();
          const asked: unknown = value.apply(target, args);
          if (commands < last || !(asked instanceof Promise)) return asked;
          return asked.then(() => {
            throw new Died();
          });
        };
      },
    });
  return new Proxy(db, {
    get(target, property) {
      if (property === 'collection') return collection;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
