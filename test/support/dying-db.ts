import type { Db } from 'mongodb';

/** Thrown to a killed process, which must do nothing more. */
export class Died extends Error {}

/** Methods of a collection that send a command when they are called or when their cursor is read. */
const ASKING = new Set([
  'aggregate',
  'bulkWrite',
  'countDocuments',
  'deleteMany',
  'deleteOne',
  'find',
  'findOne',
  'findOneAndUpdate',
  'insertMany',
  'insertOne',
  'replaceOne',
  'updateMany',
  'updateOne',
]);
const WRITING = /^(bulkWrite|delete|findOneAnd|insert|replace|update)/;

/**
 * The connection of a process that is killed at its `last` command (from 1): `before` the store got it, or `after` the
 * store did it but before the answer. Every later command fails too.
 */
export function dyingDb(db: Db, last: number, when: 'before' | 'after'): Db {
  let commands = 0;
  const ask = (writes: boolean, put: () => unknown): unknown => {
    commands += 1;
    if (commands > last || (commands === last && !(when === 'after' && writes))) throw new Died();
    const asked = put();
    if (commands < last || !(asked instanceof Promise)) return asked;
    return asked.then(() => {
      throw new Died();
    });
  };
  const collection = (name: string): object =>
    new Proxy(db.collection(name), {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        if (typeof property !== 'string' || !ASKING.has(property)) return value.bind(target);
        return (...args: unknown[]): unknown => ask(WRITING.test(property), () => value.apply(target, args));
      },
    });
  // Bare commands count too (mongo/insert-new.ts, update-each.ts, find-one.ts).
  const command = (...args: Parameters<Db['command']>): unknown =>
    ask('insert' in args[0] || 'update' in args[0] || 'delete' in args[0], () => db.command(...args));
  return new Proxy(db, {
    get(target, property) {
      if (property === 'collection') return collection;
      if (property === 'command') return async (...args: Parameters<Db['command']>) => command(...args);
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
