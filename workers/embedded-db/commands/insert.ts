import type { Command } from './command.ts';
import { putWriteErrors, reply } from './reply.ts';
import type { Progress } from './slices.ts';
import { runStatements } from './statements.ts';
import type { Store } from './store.ts';

export function insert(store: Store, command: Command): Progress {
  const { db } = command;
  const name = command.collection();
  const nowMs = store.now();
  return runStatements(store, {
    statements: command.statements('documents'),
    ordered: command.flag('ordered', true),
    tally: { inserted: 0 },
    copy: (tally) => ({ ...tally }),
    form: (document) => document,
    run({ buf, pos }, _index, tally, slice) {
      slice.changed();
      store.documents.insert(store.catalog.ensure(db, name), buf, pos, nowMs);
      tally.inserted++;
      return undefined;
    },
    reply: ({ inserted }, errors) =>
      reply((out) => {
        out.int32('n', inserted);
        putWriteErrors(out, errors);
      }),
  });
}
