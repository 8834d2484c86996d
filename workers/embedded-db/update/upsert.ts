import { StoreError } from '../bson/errors.ts';
import type { Value } from '../bson/read.ts';
import { BsonWriter } from '../bson/write.ts';
import type { Filter } from '../query/filter.ts';
import { applyTree } from './apply.ts';
import { addChange, checkDepth, newTree, type UpdateTree } from './node.ts';

const EMPTY = Buffer.from([5, 0, 0, 0, 0]);
const writer = new BsonWriter(512);

/**
 * The document that an upsert begins with: the fields that the filter pins to one value (`a: 1`, `a: { $eq: 1 }`, also
 * inside `$and`, and in an `$or` or `$in` of one), in the order of their paths. For a replacement only `_id` counts.
 */
export function upsertSeed(filter: Filter, idOnly: boolean): Buffer {
  const tree = newTree('by name');
  pin(filter, tree, idOnly);
  applyTree(tree.root, { buf: EMPTY, pos: 0, context: { nowMs: 0 }, inserting: true }, writer, false);
  return Buffer.from(writer.buf.subarray(0, writer.length));
}

/** Throws 224, as mongod does, when the filter has an `$expr`, however deep. */
export function checkUpsertFilter(filter: Filter): void {
  if (filter.kind === 'expr') {
    throw new StoreError(224, '$expr is not allowed in the query predicate for an upsert');
  }
  if (filter.kind === 'not') checkUpsertFilter(filter.filter);
  else if (filter.kind !== 'field') filter.filters.forEach(checkUpsertFilter);
}

function pin(filter: Filter, tree: UpdateTree, idOnly: boolean): void {
  if (filter.kind === 'and' || (filter.kind === 'or' && filter.filters.length === 1)) {
    for (const part of filter.filters) pin(part, tree, idOnly);
    return;
  }
  if (filter.kind !== 'field') return;
  const value = pinned(filter.test);
  if (value === undefined) return;
  if (idOnly && filter.path.text !== '_id') return;
  checkDepth(filter.path.text, value);
  addChange(tree, filter.path.text, { next: () => value, creates: true, onInsertOnly: false });
}

function pinned(test: (Filter & { kind: 'field' })['test']): Value | undefined {
  if (test.op === 'eq') return test.value;
  if (test.op === 'in' && test.values.length === 1) return test.values[0];
  return undefined;
}
