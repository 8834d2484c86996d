import { malformed, notSupported } from '../bson/errors.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { asNumber, show } from '../bson/value.ts';
import { parseGroup } from '../plan/group.ts';
import type { Results } from '../plan/results.ts';
import { EVERYTHING, parseFilter } from '../query/filter.ts';
import { stagesIn } from '../update/pipeline.ts';
import type { Command } from './command.ts';
import { DEFAULT_BATCH, type FindQuery, findResults } from './find.ts';
import { cursorReply } from './reply.ts';
import type { Store } from './store.ts';

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

/** What is sent is `$match`, `$limit` (drivers count so) and `$group`, in this order; of the first two each may be absent. */
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
