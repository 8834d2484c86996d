import { refuseEmptyTimestamp } from '../bson/value.ts';
import { type Command, refuseOptions } from './command.ts';
import { putWriteErrors, reply } from './reply.ts';
import { eachStatement } from './statements.ts';
import type { Store } from './store.ts';

export function insert(store: Store, command: Command): Buffer {
  refuseOptions((name) => command.get(name), ['bypassDocumentValidation']);
  const collection = store.catalog.ensure(command.db, command.collection());
  const nowMs = store.now();
  let inserted = 0;
  const errors = eachStatement(command.statements('documents'), command.flag('ordered', true), ({ buf, pos }) => {
    refuseEmptyTimestamp(buf, pos);
    store.documents.insert(collection, buf, pos, nowMs);
    inserted++;
  });
  return reply((out) => {
    out.int32('n', inserted);
    putWriteErrors(out, errors);
  });
}
