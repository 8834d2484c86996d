import { type Db, type Document, MongoClient } from 'mongodb';
import type { UsedStore } from './store.ts';

/** A connection of its own to the test's database that counts commands by name. */
export interface CountingDb {
  readonly db: Db;
  sent(command: string, collection?: string): number;
  /** The finds in a collection so far. */
  asked(collection: string): readonly Document[];
  close(): Promise<void>;
}

export function openCountingDb({ uri, db }: UsedStore): CountingDb {
  const client = new MongoClient(uri, { monitorCommands: true });
  const counts = new Map<string, number>();
  const finds: Document[] = [];
  client.on('commandStarted', ({ commandName, command }) => {
    if (commandName === 'find') finds.push(command);
    for (const name of [commandName, `${commandName} ${command[commandName]}`]) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  });
  return {
    db: client.db(db.databaseName),
    sent: (command, collection) => counts.get(collection === undefined ? command : `${command} ${collection}`) ?? 0,
    asked: (collection) => finds.filter(({ find }) => find === collection).map(({ filter }) => filter),
    close: () => client.close(),
  };
}
