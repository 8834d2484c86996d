import { type Document, MongoServerSelectionError, type TopologyDescription } from 'mongodb';
import { Connection } from 'mongodb/lib/cmap/connection.js';

/** Finds one document of the product's database. */
export type FindHere = (collection: string, filter: Document) => Promise<Document | undefined>;

/** Decides about every write of a client before it is sent. */
export interface WriteGuard {
  /**
   * Sends a write to a collection, or rejects with `WriteRefused`. The write has its connection already, and `find` uses that one:
   * when all connections have writes that wait, no other is free.
   */
  write(collection: string, send: () => Promise<unknown>, find: FindHere): Promise<unknown>;
}

/**
 * The store may not be written to, and this write was not sent. Everybody treats it like a store that cannot be reached, which is
 * what the class that it extends means.
 */
export class WriteRefused extends MongoServerSelectionError {
  constructor(message: string) {
    super(message, NO_SERVER as TopologyDescription); // the driver reads its `error` only
  }
}

const NO_SERVER = {};

/** What a server answers to `find`. */
interface FindAnswer {
  readonly cursor: { readonly firstBatch: readonly Document[] };
}

/** The commands by which the product, its libraries and ops change data. `aggregate` is none: nobody uses `$out` or `$merge`. */
const WRITES = new Set([
  'insert',
  'update',
  'delete',
  'findAndModify',
  'create',
  'createIndexes',
  'dropIndexes',
  'drop',
  'dropDatabase',
]);

/**
 * The class of a client's connections that ask `guard` before each write. All commands of the driver pass here, so no write gets
 * by. Costs nothing but the look at a command's name otherwise.
 */
export function guardedConnection(guard: WriteGuard): typeof Connection {
  return class GuardedConnection extends Connection {
    override command(...sent: Parameters<Connection['command']>): Promise<unknown> {
      const [namespace, command] = sent;
      for (const name in command) {
        if (!WRITES.has(name)) break;
        const find: FindHere = async (collection, filter) => {
          const look = { find: collection, filter, limit: 1, singleBatch: true };
          const { cursor } = (await super.command(namespace, look)) as FindAnswer;
          return cursor.firstBatch[0];
        };
        return guard.write(String(Reflect.get(command, name)), () => super.command(...sent), find);
      }
      return super.command(...sent);
    }
  };
}
