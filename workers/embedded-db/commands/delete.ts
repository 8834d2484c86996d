import { malformed } from '../bson/errors.ts';
import { Elements, MISSING, type Value } from '../bson/read.ts';
import { asNumber } from '../bson/value.ts';
import { parseFilter } from '../query/filter.ts';
import { type Command, checkFields, documentOf, fieldsOf } from './command.ts';
import { putWriteErrors, reply } from './reply.ts';
import type { Progress } from './slices.ts';
import { runStatements } from './statements.ts';
import type { Store } from './store.ts';
import { changeTargets, type TargetChange, UNSORTED } from './targets.ts';

const STATEMENT = new Set(['q', 'limit', 'hint']);

export function deleteDocuments(store: Store, command: Command): Progress {
  const context = { nowMs: store.now() };
  const ns = `${command.db}.${command.collection()}`;
  return runStatements(store, {
    statements: command.statements('deletes'),
    ordered: command.flag('ordered', true),
    tally: { removed: 0 },
    copy: (tally) => ({ ...tally }),
    form: formOf,
    run({ query, one, hint }, _index, tally, slice) {
      const filter = parseFilter(query.buf, query.pos);
      const collection = store.catalog.get(ns);
      if (collection === undefined) return undefined;
      const target: TargetChange<typeof tally> = {
        collection,
        filter,
        sort: UNSORTED,
        one,
        hint,
        context,
        change(now, hit, tally) {
          store.documents.remove(now, hit.key, hit.doc);
          tally.removed++;
        },
        end: () => {},
      };
      return changeTargets(store, target, tally, slice);
    },
    reply: ({ removed }, errors) =>
      reply((out) => {
        out.int32('n', removed);
        putWriteErrors(out, errors);
      }),
  });
}

interface Form {
  readonly query: Value;
  readonly one: boolean;
  readonly hint: Value;
}

function formOf(value: Value): Form {
  const fields = fieldsOf(new Elements(value.buf, value.pos));
  const get = (name: string): Value => fields.get(name) ?? MISSING;
  checkFields(fields.keys(), STATEMENT, 'delete.deletes');
  const query = documentOf(get('q'), 'delete.deletes.q');
  const limit = asNumber(get('limit'));
  if (query === MISSING || (limit !== 0 && limit !== 1)) throw malformed('a delete has a q, and a limit of 0 or 1');
  return { query, one: limit === 1, hint: get('hint') };
}
