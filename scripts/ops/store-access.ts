import { readSchema } from '../../shared/schema/version-store.ts';
import { openAccess, readAccess } from '../../shared/store-access/access-store.ts';
import { accessWords } from '../../shared/store-access/refusal.ts';
import { operator } from './audited.ts';
import { type Command, type Context, defineCommand, Failure } from './command.ts';
import { choice, required } from './parameters.ts';
import { openOwnStore } from './store/open-store.ts';
import { enterInAudit, makeReadOnly, type Operating } from './store/read-only.ts';

/** Commands about who may use the product's store. They work whether the product runs or not. */
export const STORE_ACCESS_COMMANDS: readonly Command[] = [
  defineCommand({
    noun: 'store',
    verb: 'read-only',
    about: 'Makes the store read-only while the product runs, or ends that.',
    args: { state: required(choice(['on', 'off']), 'whether nothing may be written') },
    options: {},
    notes:
      'While it is on, callers get 503 `read_only` for whatever changes something, reads are answered, and nothing is sent or posted: the carriers and providers keep what is for us. The command waits until nothing is written any more, some seconds.',
    run: ({ state }, context) =>
      withOwnStore(context, async (operating) => {
        if (state === 'on') {
          const { since } = await makeReadOnly(operating);
          return { text: `The store is read-only. Nothing writes to it.`, json: { read_only: true, since } };
        }
        const access = await readAccess(operating.db);
        if (access !== undefined && access.mode !== 'read_only') {
          throw new Failure(
            `The store is not read-only but ${access.mode === 'moved' ? 'moved: `store reopen` lets it be used again' : 'an unfinished copy: run the command again that copies'}.`,
          );
        }
        if (access !== undefined) {
          await openAccess(operating.db, access);
          await enterInAudit(operating, 'store.read-only', { state: 'off' });
        }
        return { text: 'The store may be written to.', json: { read_only: false } };
      }),
  }),
  defineCommand({
    noun: 'store',
    verb: 'reopen',
    about: 'Lets the product use a store again whose data were moved elsewhere.',
    args: {},
    options: {},
    notes:
      'What happened since, in the store that the data were moved to, is not in this one: balances and messages are as they were then. Never let the product run on both.',
    run: (_values, context) =>
      withOwnStore(context, async (operating) => {
        const access = await readAccess(operating.db);
        if (access?.mode !== 'moved')
          throw new Failure('This store is not marked as moved: there is nothing to reopen.');
        await openAccess(operating.db, access);
        await enterInAudit(operating, 'store.reopen', { moved_to: access.to, moved_at: access.since });
        return { text: 'The store may be used again.', json: { moved_to: access.to, moved_at: access.since } };
      }),
  }),
  defineCommand({
    noun: 'store',
    verb: 'show',
    about: 'Shows the schema of the store and who may use it.',
    args: {},
    options: {},
    run: (_values, context) =>
      withOwnStore(context, async ({ db }) => {
        const access = await readAccess(db);
        const schema = (await readSchema(db))?.version ?? null;
        const { mode = 'open', since = null, to = null } = access ?? {};
        const words = access === undefined ? 'neither read-only nor moved' : accessWords(access);
        return {
          text: `Schema ${schema ?? 'none: the store is empty'}; ${words}.`,
          json: { schema, access: mode, since, moved_to: to },
        };
      }),
  }),
];

async function withOwnStore<T>({ config, clock }: Context, work: (operating: Operating) => Promise<T>): Promise<T> {
  const store = await openOwnStore(config);
  try {
    return await work({ db: store.db, clock, config, actor: operator() });
  } finally {
    await store.close();
  }
}
