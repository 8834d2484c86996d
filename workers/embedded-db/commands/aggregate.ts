import { notSupported, StoreError } from '../bson/errors.ts';
import { Elements, isEmptyContainer, TYPE, type Value, valuesOf } from '../bson/read.ts';
import { asNumber, show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { isPlainCount, parseGroup } from '../plan/group.ts';
import { filtered, fromList, type Results, window } from '../plan/results.ts';
import { sorted } from '../plan/sort.ts';
import type { ExpressionContext } from '../query/expression.ts';
import { EVERYTHING, type Filter, parseFilter } from '../query/filter.ts';
import { predicate } from '../query/predicate.ts';
import { parseSort, type SortField } from '../query/sort.ts';
import { checkLength } from '../update/pipeline.ts';
import type { Command } from './command.ts';
import { DEFAULT_BATCH, type FindQuery, findResults } from './find.ts';
import { cursorReply } from './reply.ts';
import type { Store } from './store.ts';

export function aggregate(store: Store, command: Command): Buffer | Promise<Buffer> {
  if (command.get('aggregate').type !== TYPE.string) throw notSupported('An aggregation without a collection');
  const ns = `${command.db}.${command.collection()}`;
  const cursor = command.document('cursor');
  if (cursor.type === TYPE.missing) {
    throw new StoreError(9, "The 'cursor' option is required, except for aggregate with the explain argument");
  }
  const size = batchSizeOf(cursor);
  const results = aggregateResults(store, ns, stagesOf(command.get('pipeline')), command.get('hint'));
  const batch = store.cursors.first(ns, results, size, false, store.now());
  return batch instanceof Promise
    ? batch.then((made) => cursorReply(made, 'firstBatch'))
    : cursorReply(batch, 'firstBatch');
}

function batchSizeOf(cursor: Value): number {
  const elements = new Elements(cursor.buf, cursor.pos);
  while (elements.next()) {
    if (elements.name() !== 'batchSize') throw notSupported(`The field cursor.${elements.name()}`);
    return asNumber(elements.value()) ?? DEFAULT_BATCH;
  }
  return DEFAULT_BATCH;
}

interface Stage {
  readonly name: string;
  readonly argument: Value;
}

function stagesOf(pipeline: Value): Stage[] {
  if (pipeline.type !== TYPE.array) throw new StoreError(14, "'pipeline' option must be specified as an array");
  const stages = valuesOf(pipeline);
  checkLength(stages.length);
  return stages.map((stage) => {
    if (stage.type !== TYPE.object) throw new StoreError(14, "Each element of the 'pipeline' array must be an object");
    const elements = new Elements(stage.buf, stage.pos);
    const found = elements.next() ? { name: elements.name(), argument: elements.value() } : undefined;
    if (found === undefined || elements.next()) {
      throw new StoreError(40323, 'A pipeline stage specification object must contain exactly one field.');
    }
    return found;
  });
}

/** What the first stages ask of the collection: `$match`, then `$sort`, then `$limit`, as far as they stand in front. */
function leadingQuery(stages: readonly Stage[], hint: Value): { query: FindQuery; rest: readonly Stage[] } {
  let rest = stages;
  let filter = EVERYTHING;
  let sort: readonly SortField[] = [];
  let limit = 0;
  if (rest[0]?.name === '$match') {
    filter = parseMatch(rest[0].argument);
    rest = rest.slice(1);
  }
  if (rest[0]?.name === '$sort') {
    sort = parseStageSort(rest[0].argument);
    rest = rest.slice(1);
  }
  if (rest[0]?.name === '$limit') {
    limit = parseLimit(rest[0].argument);
    rest = rest.slice(1);
  }
  return { query: { filter, sort, skip: 0, limit, hint }, rest };
}

function aggregateResults(store: Store, ns: string, stages: readonly Stage[], hint: Value): Results {
  const { query, rest } = leadingQuery(stages, hint);
  const context = { nowMs: store.now() };
  const first = rest[0];
  // countDocuments({}): the number is known.
  if (isEverything(query) && rest.length === 1 && first?.name === '$group' && isPlainCount(first.argument)) {
    const count = store.catalog.get(ns)?.count ?? 0;
    return fromList(count === 0 ? [] : [countDocument(first.argument, count)]);
  }
  let results = findResults(store, ns, query);
  for (const stage of rest) results = addStage(results, stage, context);
  return results;
}

function isEverything({ filter, limit }: FindQuery): boolean {
  return filter.kind === 'and' && filter.filters.length === 0 && limit === 0;
}

function countDocument(group: Value, count: number): Buffer {
  const out = new BsonWriter(64);
  const handle = out.begin();
  const elements = new Elements(group.buf, group.pos);
  while (elements.next()) {
    if (elements.name() === '_id') out.value('_id', elements.value());
    else out.int32(elements.name(), count);
  }
  return out.finish(handle);
}

function addStage(inner: Results, { name, argument }: Stage, context: ExpressionContext): Results {
  switch (name) {
    case '$match': {
      const matches = predicate(parseMatch(argument), context);
      return filtered(inner, (doc) => matches(TYPE.object, doc, 0));
    }
    case '$sort':
      return sorted(inner, parseStageSort(argument), 0);
    case '$limit':
      return window(inner, 0, parseLimit(argument));
    case '$group':
      return parseGroup(argument, context)(inner);
    case '$changeStream':
      throw new StoreError(40573, 'The $changeStream stage is only supported on replica sets');
    default:
      throw notSupported(`The stage ${name}`);
  }
}

function parseMatch(argument: Value): Filter {
  if (argument.type !== TYPE.object) {
    throw new StoreError(15959, 'the match filter must be an expression in an object');
  }
  return parseFilter(argument.buf, argument.pos);
}

function parseStageSort(argument: Value): readonly SortField[] {
  if (argument.type !== TYPE.object) throw new StoreError(15973, 'the $sort key specification must be an object');
  if (isEmptyContainer(argument.buf, argument.pos)) {
    throw new StoreError(15976, '$sort stage must have at least one sort key');
  }
  return parseSort(argument);
}

function parseLimit(argument: Value): number {
  const number = asNumber(argument);
  if (number === undefined || !Number.isInteger(number)) {
    throw new StoreError(5107201, `invalid argument to $limit stage: Expected a number in: $limit: ${show(argument)}`);
  }
  if (number <= 0) throw new StoreError(15958, 'the limit must be positive');
  return number;
}
