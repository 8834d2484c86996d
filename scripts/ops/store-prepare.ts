import { ensureIndexes, INDEXES } from '../../shared/mongo/indexes.ts';
import { isCurrent, newestSchema } from '../../shared/schema/migrate.ts';
import { readSchema } from '../../shared/schema/version-store.ts';
import { type Command, defineCommand } from './command.ts';

/** What an update needs of the store, done while the version before still runs. */
export const STORE_PREPARE_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'store',
    verb: 'prepare',
    about: 'Builds the indexes of this version while an earlier one runs: before the update of a large store.',
    args: {},
    options: {},
    notes:
      'Run it in the folder of the new version. Otherwise the first start builds them, and no process works meanwhile. It takes a few seconds for each 100,000 messages; after 40 seconds the command says what it waits for. When it was interrupted, run it again: the store goes on building by itself. The migration to another schema is left to the start.',
    async run(_values, { db, tell }) {
      const store = await db();
      const current = await isCurrent(store); // refuses a newer store
      await ensureIndexes(store, ({ collection, indexes, seconds }) =>
        tell(`Building indexes of ${collection} (${indexes}): ${seconds} s so far.`),
      );
      const schema = (await readSchema(store))?.version ?? null;
      const newest = newestSchema();
      const migrates = !current && schema !== null;
      const next = migrates
        ? `The first start then migrates the store from schema ${schema} to ${newest} before it answers.`
        : 'Start or reload this version now.';
      return {
        text: `All ${INDEXES.length} indexes of this version are there. ${next}`,
        json: { indexes: INDEXES.length, schema, newest_schema: newest },
      };
    },
  }),
];
