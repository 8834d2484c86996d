import { beginEffort } from '../bson/effort.ts';
import { malformed, notSupported, StoreError } from '../bson/errors.ts';
import { Elements, fieldOf, MISSING, TYPE, type Value } from '../bson/read.ts';
import { asNumber } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import type { Hit } from '../plan/scan.ts';
import type { ExpressionContext } from '../query/expression.ts';
import { EVERYTHING, type Filter, parseFilter } from '../query/filter.ts';
import { parseProjection } from '../query/projection.ts';
import { parseSort } from '../query/sort.ts';
import type { Collection } from '../storage/catalog.ts';
import { checkUpsertFilter, parseUpdate, type Update, upsertSeed } from '../update/update.ts';
import {
  type Command,
  checkFields,
  documentOf,
  fieldsOf,
  flagOf,
  putWriteErrors,
  reply,
  type WriteError,
} from './command.ts';
import { type Progress, Rest, Slice, type Step, type Store } from './store.ts';
import { changeTargets, type TargetChange, UNSORTED } from './targets.ts';

/** mongod's limit, told to drivers in `hello`. */
export const MAX_WRITE_BATCH = 100_000;

/** One write command with its statements, each done on its own. `Form`: the fields of a statement. */
interface Statements<Tally, Form> {
  readonly statements: readonly Value[];
  /** Called for all statements before the first runs: a malformed one refuses the whole command, as in mongod. */
  form(statement: Value): Form;
  readonly ordered: boolean;
  readonly tally: Tally;
  copy(tally: Tally): Tally;
  run(form: Form, index: number, tally: Tally, slice: Slice): Step<Tally> | undefined;
  reply(tally: Tally, errors: readonly WriteError[]): Buffer;
}

interface Place<Tally> {
  readonly index: number;
  readonly step: Step<Tally> | undefined;
  readonly tally: Tally;
  readonly errors: readonly WriteError[];
}

function runStatements<Tally, Form>(store: Store, command: Statements<Tally, Form>): Progress {
  const { length } = command.statements;
  if (length === 0 || length > MAX_WRITE_BATCH)
    throw malformed(`Write batch sizes must be from 1 to ${MAX_WRITE_BATCH}`);
  const forms = command.statements.map((statement) => {
    if (statement.type !== TYPE.object) throw malformed('a write statement must be an object');
    return command.form(statement);
  });
  return runSlice(store, { ...command, forms }, { index: 0, step: undefined, tally: command.tally, errors: [] });
}

interface Checked<Tally, Form> extends Statements<Tally, Form> {
  readonly forms: readonly Form[];
}

function runSlice<Tally, Form>(store: Store, command: Checked<Tally, Form>, from: Place<Tally>): Progress {
  const slice = new Slice(store);
  const tally = command.copy(from.tally);
  const errors = [...from.errors];
  let { step } = from;
  for (let { index } = from; index < command.forms.length; index++) {
    try {
      if (slice.over) return new Rest(() => runSlice(store, command, { index, step, tally, errors }));
      if (step !== undefined) step = step(tally, slice);
      else {
        beginEffort();
        step = command.run(command.forms[index] as Form, index, tally, slice); // index is below the length
      }
      if (step !== undefined) {
        const rest = step;
        return new Rest(() => runSlice(store, command, { index, step: rest, tally, errors }));
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      errors.push({ index, error });
      step = undefined;
      if (command.ordered) break;
    }
  }
  return command.reply(tally, errors);
}

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

interface UpdateTally {
  matched: number;
  modified: number;
  readonly upserted: { readonly index: number; readonly id: Value }[];
}

export function update(store: Store, command: Command): Progress {
  const context = { nowMs: store.now() };
  const { db } = command;
  const name = command.collection();
  return runStatements<UpdateTally, UpdateForm>(store, {
    statements: command.statements('updates'),
    ordered: command.flag('ordered', true),
    tally: { matched: 0, modified: 0, upserted: [] },
    copy: (tally) => ({ ...tally, upserted: [...tally.upserted] }),
    form: updateForm,
    run(form, index, tally, slice) {
      const { filter, one, upsert, update } = parseForm(form, context);
      const collection = upsert ? store.catalog.ensure(db, name) : store.catalog.get(`${db}.${name}`);
      if (collection === undefined) return undefined;
      const target: TargetChange<UpdateTally> = {
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

function replyOf({ matched, modified, upserted }: UpdateTally, errors: readonly WriteError[]): Buffer {
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

interface UpdateForm {
  readonly query: Value;
  readonly change: Value;
  readonly multi: boolean;
  readonly upsert: boolean;
}

function updateForm(value: Value): UpdateForm {
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

function parseForm({ query, change, multi, upsert }: UpdateForm, context: ExpressionContext): Statement {
  const update = parseUpdate(change, context);
  if (multi && update.replaces) throw malformed('multi update is not supported for replacement-style update');
  const filter = parseFilter(query.buf, query.pos);
  if (upsert) checkUpsertFilter(filter);
  return { filter, update, upsert, one: !multi };
}

const writer = new BsonWriter(64 * 1024);

/** Undefined when the update does not change the document. The new bytes are valid until the next call. */
function changeDocument(store: Store, collection: Collection, hit: Hit, change: Update): Buffer | undefined {
  change.apply(hit.doc, false, writer);
  const next = writer.buf.subarray(0, writer.length);
  if (next.length === hit.doc.length && next.equals(hit.doc)) return undefined;
  store.documents.replace(collection, hit.key, hit.doc, next, change.paths);
  return next;
}

function upsertDocument(store: Store, collection: Collection, filter: Filter, change: Update): Buffer {
  change.apply(upsertSeed(filter, change.replaces), true, writer);
  const doc = Buffer.from(writer.buf.subarray(0, writer.length));
  const id = store.documents.insert(collection, doc, 0, store.now());
  const stored = store.documents.get(store.documents.keyOf(collection, id));
  if (stored === undefined) throw new Error('an inserted document is not there');
  return stored;
}

const DELETE_FIELDS = new Set(['q', 'limit', 'hint']);

export function deleteDocuments(store: Store, command: Command): Progress {
  const context = { nowMs: store.now() };
  const ns = `${command.db}.${command.collection()}`;
  return runStatements(store, {
    statements: command.statements('deletes'),
    ordered: command.flag('ordered', true),
    tally: { removed: 0 },
    copy: (tally) => ({ ...tally }),
    form: deleteForm,
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

interface DeleteForm {
  readonly query: Value;
  readonly one: boolean;
  readonly hint: Value;
}

function deleteForm(value: Value): DeleteForm {
  const fields = fieldsOf(new Elements(value.buf, value.pos));
  const get = (name: string): Value => fields.get(name) ?? MISSING;
  checkFields(fields.keys(), DELETE_FIELDS, 'delete.deletes');
  const query = documentOf(get('q'), 'delete.deletes.q');
  const limit = asNumber(get('limit'));
  if (query === MISSING || (limit !== 0 && limit !== 1)) throw malformed('a delete has a q, and a limit of 0 or 1');
  return { query, one: limit === 1, hint: get('hint') };
}

export function findAndModify(store: Store, command: Command): Progress {
  const context = { nowMs: store.now() };
  const remove = command.flag('remove', false);
  const giveNew = command.flag('new', false);
  const upsert = command.flag('upsert', false);
  const change = command.get('update');
  if (remove ? upsert || giveNew || change.type !== TYPE.missing : change.type === TYPE.missing) {
    throw malformed('either remove, or an update with what belongs to it');
  }
  const query = command.document('query');
  const filter = query.type === TYPE.missing ? EVERYTHING : parseFilter(query.buf, query.pos);
  if (upsert) checkUpsertFilter(filter);
  const projection = parseProjection(command.get('fields'));
  const shown = (doc: Buffer): Buffer => (projection === undefined ? doc : projection(doc));
  const parsed = remove ? undefined : parseUpdate(change, context);
  const sort = parseSort(command.get('sort'));
  const none = (): Buffer => (remove ? answer({ n: 0 }) : answer({ n: 0, updatedExisting: false }));
  const collection = upsert
    ? store.catalog.ensure(command.db, command.collection())
    : store.catalog.get(`${command.db}.${command.collection()}`);
  if (collection === undefined) return none();
  const target: TargetChange<FoundTally> = {
    collection,
    filter,
    sort,
    one: true,
    hint: MISSING,
    context,
    change(now, hit, tally) {
      if (parsed === undefined) {
        store.documents.remove(now, hit.key, hit.doc);
        tally.reply = answer({ n: 1, value: shown(hit.doc) });
      } else {
        const next = changeDocument(store, now, hit, parsed) ?? hit.doc;
        tally.reply = answer({ n: 1, updatedExisting: true, value: shown(giveNew ? next : hit.doc) });
      }
    },
    end(now, matched, tally) {
      if (matched > 0 || !upsert || parsed === undefined) return;
      const doc = upsertDocument(store, now, filter, parsed);
      const value = giveNew ? shown(doc) : undefined;
      tally.reply = answer({ n: 1, updatedExisting: false, upserted: doc, value });
    },
  };
  return inSlices(store, (tally, slice) => changeTargets(store, target, tally, slice), none);
}

interface FoundTally {
  reply: Buffer | undefined;
}

function inSlices(store: Store, step: Step<FoundTally>, none: () => Buffer): Progress {
  const tally: FoundTally = { reply: undefined };
  const rest = step(tally, new Slice(store));
  return rest === undefined ? (tally.reply ?? none()) : new Rest(() => inSlices(store, rest, none));
}

interface Outcome {
  readonly n: number;
  readonly updatedExisting?: boolean;
  readonly upserted?: Buffer;
  readonly value?: Buffer | undefined;
}

function answer({ n, updatedExisting, upserted, value }: Outcome): Buffer {
  return reply((out) => {
    const last = out.object('lastErrorObject');
    out.int32('n', n);
    if (updatedExisting !== undefined) out.bool('updatedExisting', updatedExisting);
    if (upserted !== undefined) out.value('upserted', fieldOf(upserted, 0, ID));
    out.close(last);
    if (value === undefined) out.null('value');
    else out.document('value', value);
  });
}
