import { malformed, notSupported } from '../bson/errors.ts';
import { Elements, fieldOf, MISSING, type Value } from '../bson/read.ts';
import { BsonWriter } from '../bson/write.ts';
import type { Hit } from '../plan/scan.ts';
import type { ExpressionContext } from '../query/expression.ts';
import { type Filter, parseFilter } from '../query/filter.ts';
import type { Collection } from '../storage/catalog.ts';
import { checkUpsertFilter, parseUpdate, type Update, upsertSeed } from '../update/update.ts';
import { type Command, documentOf, flagOf } from './command.ts';
import { putWriteErrors, reply, type WriteError } from './reply.ts';
import type { Progress } from './slices.ts';
import { runStatements } from './statements.ts';
import type { Store } from './store.ts';
import { changeTargets, type TargetChange, UNSORTED } from './targets.ts';

interface Tally {
  matched: number;
  modified: number;
  readonly upserted: { readonly index: number; readonly id: Value }[];
}

export function update(store: Store, command: Command): Progress {
  const context = { nowMs: store.now() };
  const { db } = command;
  const name = command.collection();
  return runStatements<Tally, Form>(store, {
    statements: command.statements('updates'),
    ordered: command.flag('ordered', true),
    tally: { matched: 0, modified: 0, upserted: [] },
    copy: (tally) => ({ ...tally, upserted: [...tally.upserted] }),
    form: formOf,
    run(form, index, tally, slice) {
      const { filter, one, upsert, update } = parseForm(form, context);
      const collection = upsert ? store.catalog.ensure(db, name) : store.catalog.get(`${db}.${name}`);
      if (collection === undefined) return undefined;
      const target: TargetChange<Tally> = {
        collection,
        filter,
        sort: UNSORTED,
        one,
        hint: MISSING,
        context,
        change(now, hit, tally) {
          if (changeDocument(store, now, hit, update) !== undefined) tally.modified++;
        },
        end(now, matched, tally) {
          tally.matched += matched;
          if (matched > 0 || !upsert) return;
          const doc = upsertDocument(store, now, filter, update);
          tally.matched++;
          tally.upserted.push({ index, id: fieldOf(doc, 0, ID) });
        },
      };
      return changeTargets(store, target, tally, slice);
    },
    reply: replyOf,
  });
}

function replyOf({ matched, modified, upserted }: Tally, errors: readonly WriteError[]): Buffer {
  return reply((out) => {
    out.int32('n', matched);
    out.int32('nModified', modified);
    if (upserted.length > 0) {
      const array = out.array('upserted');
      for (const [i, { index, id }] of upserted.entries()) {
        const one = out.object(String(i));
        out.int32('index', index);
        out.value(ID, id);
        out.close(one);
      }
      out.close(array);
    }
    putWriteErrors(out, errors);
  });
}

const ID = Buffer.from('_id');

interface Form {
  readonly query: Value;
  readonly change: Value;
  readonly multi: boolean;
  readonly upsert: boolean;
}

function formOf(value: Value): Form {
  let query = MISSING;
  let change = MISSING;
  let multi = false;
  let upsert = false;
  const fields = new Elements(value.buf, value.pos);
  while (fields.next()) {
    const name = fields.name();
    switch (name) {
      case 'q':
        query = documentOf(fields.value(), 'update.updates.q');
        break;
      case 'u':
        change = fields.value();
        break;
      case 'multi':
        multi = flagOf(fields.value(), name, false);
        break;
      case 'upsert':
        upsert = flagOf(fields.value(), name, false);
        break;
      default:
        throw notSupported(`The field update.updates.${name}`);
    }
  }
  if (query === MISSING || change === MISSING) throw malformed('an update has a q and a u');
  return { query, change, multi, upsert };
}

interface Statement {
  readonly filter: Filter;
  readonly update: Update;
  readonly upsert: boolean;
  readonly one: boolean;
}

function parseForm({ query, change, multi, upsert }: Form, context: ExpressionContext): Statement {
  const update = parseUpdate(change, context);
  if (multi && update.replaces) throw malformed('multi update is not supported for replacement-style update');
  const filter = parseFilter(query.buf, query.pos);
  if (upsert) checkUpsertFilter(filter);
  return { filter, update, upsert, one: !multi };
}

const writer = new BsonWriter(64 * 1024);

/** Changes one document; undefined when the update does not change it. The new bytes are valid until the next call. */
export function changeDocument(store: Store, collection: Collection, hit: Hit, change: Update): Buffer | undefined {
  change.apply(hit.doc, false, writer);
  const next = writer.buf.subarray(0, writer.length);
  if (next.length === hit.doc.length && next.equals(hit.doc)) return undefined;
  store.documents.replace(collection, hit.key, hit.doc, next, change.paths);
  return next;
}

/** Inserts the document that an upsert builds from filter and update; returns it as stored. */
export function upsertDocument(store: Store, collection: Collection, filter: Filter, change: Update): Buffer {
  change.apply(upsertSeed(filter, change.replaces), true, writer);
  const doc = Buffer.from(writer.buf.subarray(0, writer.length));
  const id = store.documents.insert(collection, doc, 0, store.now());
  const stored = store.documents.get(store.documents.keyOf(collection, id));
  if (stored === undefined) throw new Error('an inserted document is not there');
  return stored;
}
