import { malformed, notSupported } from '../bson/errors.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asNumber, asString, show } from '../bson/value.ts';
import { type Plan, planQuery } from '../plan/plan.ts';
import { fromList, fromScan, parseGroup, projected, type Results, sorted, window } from '../plan/results.ts';
import { Scan } from '../plan/scan.ts';
import { EVERYTHING, type Filter, idOf, parseFilter, predicate } from '../query/filter.ts';
import { parseProjection } from '../query/projection.ts';
import { parseSort, type SortField } from '../query/sort.ts';
import { stagesIn } from '../update/update.ts';
import { type Command, cursorReply, reply } from './command.ts';
import type { Batch } from './cursors.ts';
import type { Store } from './store.ts';

const DEFAULT_BATCH = 101;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

export function find(store: Store, command: Command): Buffer | Promise<Buffer> {
  const ns = `${command.db}.${command.collection()}`;
  const query = parseFind(command);
  const projection = parseProjection(command.get('projection'));
  const results = projected(findResults(store, ns, query), projection);
  const size = command.count('batchSize', DEFAULT_BATCH);
  return answer(store.cursors.first(ns, results, size, command.flag('singleBatch', false), store.now()), 'firstBatch');
}

interface FindQuery {
  readonly filter: Filter;
  readonly sort: readonly SortField[];
  readonly skip: number;
  /** 0: none */
  readonly limit: number;
  readonly hint: Value;
}

function parseFind(command: Command): FindQuery {
  const filter = command.document('filter');
  return {
    filter: filter.type === TYPE.missing ? EVERYTHING : parseFilter(filter.buf, filter.pos),
    sort: parseSort(command.get('sort')),
    skip: command.count('skip', 0),
    limit: command.count('limit', 0),
    hint: command.get('hint'),
  };
}

function findResults(store: Store, ns: string, query: FindQuery): Results {
  const collection = store.catalog.get(ns);
  const context = { nowMs: store.now() };
  const { filter, sort, skip, limit, hint } = query;
  if (collection === undefined) return fromList([]);
  const id = hint.type === TYPE.missing && skip === 0 ? idOf(filter) : undefined;
  if (id !== undefined) {
    const doc = store.documents.get(store.documents.keyOf(collection, id));
    const found = doc !== undefined && predicate(filter, context)(TYPE.object, doc, 0);
    return fromList(found ? [doc] : []);
  }
  const plan = planQuery(collection, { filter, sort, limited: limit > 0, hint });
  const needed = limit > 0 ? limit + skip : 0;
  const expected = needed > 0 && plan.sorted ? needed : undefined;
  const scan = new Scan(store.database, collection, plan, predicate(filter, context), expected);
  const passed = passOver(scan, plan, skip);
  const found = fromScan(scan);
  return window(plan.sorted ? found : sorted(found, sort, needed), skip - passed, limit);
}

/** Skips along the index if no look at documents is needed; returns how many of `skip` it skipped: all or none. */
function passOver(scan: Scan, plan: Plan, skip: number): number {
  if (plan.kind !== 'index' || !plan.sorted || !plan.exact) return 0;
  scan.skip(skip);
  return skip;
}

export function getMore(store: Store, command: Command): Buffer | Promise<Buffer> {
  const id = command.get('getMore');
  if (id.type !== TYPE.int64) throw malformed('a cursor is an int64');
  const collection = asString(command.get('collection')) ?? '';
  const size = command.count('batchSize', 0);
  return answer(
    store.cursors.more(
      id.buf.readBigInt64LE(id.pos),
      `${command.db}.${collection}`,
      size === 0 ? NO_LIMIT : size,
      store.now(),
    ),
    'nextBatch',
  );
}

function answer(batch: Batch | Promise<Batch>, field: 'firstBatch' | 'nextBatch'): Buffer | Promise<Buffer> {
  return batch instanceof Promise ? batch.then((made) => cursorReply(made, field)) : cursorReply(batch, field);
}

export function killCursors(store: Store, command: Command): Buffer {
  const killed: bigint[] = [];
  const unknown: bigint[] = [];
  for (const value of command.array('cursors')) {
    if (value.type !== TYPE.int64) throw malformed('a cursor is an int64');
    const id = value.buf.readBigInt64LE(value.pos);
    (store.cursors.kill(id) ? killed : unknown).push(id);
  }
  return reply((out) => {
    for (const [name, ids] of [
      ['cursorsKilled', killed],
      ['cursorsNotFound', unknown],
      ['cursorsAlive', []],
      ['cursorsUnknown', []],
    ] as const) {
      const array = out.array(name);
      for (const [i, id] of ids.entries()) out.int64(String(i), id);
      out.close(array);
    }
  });
}

export function aggregate(store: Store, command: Command): Buffer | Promise<Buffer> {
  if (command.get('aggregate').type !== TYPE.string) throw notSupported('An aggregation without a collection');
  const ns = `${command.db}.${command.collection()}`;
  const size = batchSizeOf(command.document('cursor'));
  const results = aggregateResults(store, ns, command.get('pipeline'), command.get('hint'));
  const batch = store.cursors.first(ns, results, size, false, store.now());
  return batch instanceof Promise
    ? batch.then((made) => cursorReply(made, 'firstBatch'))
    : cursorReply(batch, 'firstBatch');
}

function batchSizeOf(cursor: Value): number {
  if (cursor.type === TYPE.missing) throw malformed('an aggregation needs a cursor');
  const elements = new Elements(cursor.buf, cursor.pos);
  while (elements.next()) {
    if (elements.name() !== 'batchSize') throw notSupported(`The field cursor.${elements.name()}`);
    return asNumber(elements.value()) ?? DEFAULT_BATCH;
  }
  return DEFAULT_BATCH;
}

/** `$match`, `$limit` (drivers count so) and `$group`, in this order; the first two may be absent. */
function aggregateResults(store: Store, ns: string, pipeline: Value, hint: Value): Results {
  if (pipeline.type !== TYPE.array) throw malformed('a pipeline is an array');
  const stages = stagesIn(pipeline);
  const take = (name: string): Value | undefined => (stages[0]?.name === name ? stages.shift()?.argument : undefined);
  const [match, limit, group] = [take('$match'), take('$limit'), take('$group')];
  const [next] = stages;
  if (group === undefined || next !== undefined)
    throw notSupported(`The stage ${next?.name ?? 'after all'} in its place`);
  if (group.type !== TYPE.object || (match ?? group).type !== TYPE.object)
    throw malformed('$match and $group need documents');
  const query: FindQuery = {
    filter: match === undefined ? EVERYTHING : parseFilter(match.buf, match.pos),
    sort: [],
    skip: 0,
    limit: limit === undefined ? 0 : parseLimit(limit),
    hint,
  };
  return parseGroup(group, { nowMs: store.now() })(findResults(store, ns, query));
}

function parseLimit(argument: Value): number {
  const number = asNumber(argument);
  if (number !== undefined && Number.isInteger(number) && number > 0) return number;
  throw malformed(`$limit needs a positive number, not ${show(argument)}`);
}
