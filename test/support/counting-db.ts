import { type Db, MongoClient } from 'mongodb';
import type { TestStore } from './store.ts';

/** The test's database over a connection of its own, which counts the commands sent: `find`, `update` … */
export interface CountingDb {
  readonly db: Db;
  /** Commands of that name so far, of all collections or of one. */
  sent(command: string, collection?: string): number;
  close(): Promise<void>;
}

export function openCountingDb({ uri, db }: Pick<TestStore, 'uri' | 'db'>): CountingDb {
  const client = new MongoClient(uri, { monitorCommands: true });
  const counts = new Map<string, number>();
  client.on('commandStarted', ({ commandName, command }) => {
    for (const name of [commandName, `${commandName} ${command[commandName]}`]) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  });
  return {
    db: client.db(db.databaseName),
    sent: (command, collection) => counts.get(collection === undefined ? command : `${command} ${collection}`) ?? 0,
    close: () => client.close(),
  };
}
