import { StoreError } from '../bson/errors.ts';
import { Elements, MISSING, type Value } from '../bson/read.ts';
import { asNumber } from '../bson/value.ts';
import { parseFilter } from '../query/filter.ts';
import { type Command, checkFields, documentOf, fieldsOf, refuseOptions } from './command.ts';
import { putWriteErrors, reply } from './reply.ts';
import { eachStatement, findTargets } from './statements.ts';
import type { Store } from './store.ts';

const STATEMENT = new Set(['q', 'limit', 'hint', 'collation']);

export function deleteDocuments(store: Store, command: Command): Buffer {
  refuseOptions((name) => command.get(name), ['let']);
  const context = { nowMs: store.now() };
  const collection = store.catalog.get(`${command.db}.${command.collection()}`);
  let removed = 0;
  const errors = eachStatement(command.statements('deletes'), command.flag('ordered', true), (value) => {
    const fields = fieldsOf(new Elements(value.buf, value.pos));
    const get = (name: string): Value => fields.get(name) ?? MISSING;
    checkFields(fields.keys(), STATEMENT, 'delete.deletes');
    refuseOptions(get, ['collation']);
    const query = documentOf(get('q'), 'delete.deletes.q');
    if (query === MISSING) throw new StoreError(40414, "BSON field 'delete.deletes.q' is missing but a required field");
    const limit = asNumber(get('limit'));
    if (limit !== 0 && limit !== 1) {
      throw new StoreError(9, `The limit field in delete objects must be 0 or 1. Got ${limit}`);
    }
    const filter = parseFilter(query.buf, query.pos);
    if (collection === undefined) return;
    const target = { filter, hint: get('hint'), sort: [], one: limit === 1 };
    for (const hit of findTargets(store, collection, target, context)) {
      store.documents.remove(collection, hit.key, hit.doc);
      removed++;
    }
  });
  return reply((out) => {
    out.int32('n', removed);
    putWriteErrors(out, errors);
  });
}
