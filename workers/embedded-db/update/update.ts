import { malformed } from '../bson/errors.ts';
import { equals } from '../bson/order.ts';
import { byteAt, Elements, fieldOf, findElement, TYPE, type Value, valueEnd } from '../bson/read.ts';
import { show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import type { ExpressionContext } from '../query/expression.ts';
import type { Filter } from '../query/filter.ts';
import { applyTree } from './apply.ts';
import { addChange, checkDepth, type DocumentScope, newTree, type UpdateTree } from './node.ts';
import { parseOperators } from './operators.ts';
import { parsePipeline } from './pipeline.ts';

/** A parsed update: operators, a pipeline, or a whole new document. */
export interface Update {
  readonly replaces: boolean;
  /** The dotted paths that it may change; undefined for a replacement. Indexes on other paths stay as they are. */
  readonly paths: readonly string[] | undefined;
  /** Writes the changed document into `out`. Throws before anything is stored, also when `_id` would change. */
  apply(buf: Buffer, inserting: boolean, out: BsonWriter): void;
}

const ID = Buffer.from('_id');

export function parseUpdate(update: Value, context: ExpressionContext): Update {
  if (update.type === TYPE.array) {
    const pipeline = parsePipeline(update);
    return make(pipeline.paths, context, (scope, out) => pipeline.apply(scope, out));
  }
  if (update.type !== TYPE.object) throw malformed('Update argument must be either an object or an array');
  if (byteAt(update.buf, update.pos + 4) !== 0 && byteAt(update.buf, update.pos + 5) === 0x24) {
    const tree = parseOperators(update);
    return make(tree.paths, context, (scope, out) => applyTree(tree.root, scope, out, false));
  }
  return replacement(update);
}

function make(
  paths: readonly string[],
  context: ExpressionContext,
  write: (scope: DocumentScope, out: BsonWriter) => void,
): Update {
  const touchesId = paths.some((path) => path === '_id' || path.startsWith('_id.'));
  return {
    replaces: false,
    paths,
    apply(buf, inserting, out) {
      write({ buf, pos: 0, context, inserting }, out);
      if (touchesId) keepId(buf, out);
    },
  };
}

function keepId(before: Buffer, out: BsonWriter): void {
  const old = fieldOf(before, 0, ID);
  if (old.type === TYPE.missing) return;
  const next = fieldOf(out.buf, 0, ID);
  if (next.type === TYPE.missing || !equals(old, next)) {
    throw malformed("Performing an update on the path '_id' would modify the immutable field '_id'");
  }
}

function replacement(update: Value): Update {
  const fields = new Elements(update.buf, update.pos);
  while (fields.next()) {
    const name = fields.name();
    if (name.startsWith('$')) throw malformed(`The field '${name}' is not allowed in a replacement document`);
  }
  const given = fieldOf(update.buf, update.pos, ID);
  return {
    replaces: true,
    paths: undefined,
    apply(buf, _inserting, out) {
      const old = fieldOf(buf, 0, ID);
      if (given.type !== TYPE.missing && old.type !== TYPE.missing && !equals(given, old)) {
        throw malformed(`The immutable field '_id' was found to have been altered to ${show(given)}`);
      }
      const handle = out.begin();
      const id = old.type === TYPE.missing ? given : old;
      if (id.type !== TYPE.missing) out.value(ID, id);
      copyWithoutId(update.buf, update.pos, out);
      out.close(handle);
    },
  };
}

/** The elements of the document at `doc`, but not its `_id`. */
export function copyWithoutId(buf: Buffer, doc: number, out: BsonWriter): void {
  const end = valueEnd(TYPE.object, buf, doc) - 1;
  const id = findElement(buf, doc, ID);
  if (id < 0) {
    out.raw(buf, doc + 4, end);
    return;
  }
  out.raw(buf, doc + 4, id);
  out.raw(buf, valueEnd(byteAt(buf, id), buf, id + ID.length + 2), end);
}

const EMPTY = Buffer.from([5, 0, 0, 0, 0]);
const writer = new BsonWriter(512);

/**
 * The document that an upsert begins with: the fields that the filter pins to one value (`a: 1`, `a: { $eq: 1 }`, also
 * inside `$and`). For a replacement only `_id` counts.
 */
export function upsertSeed(filter: Filter, idOnly: boolean): Buffer {
  const tree = newTree();
  pin(filter, tree, idOnly);
  applyTree(tree.root, { buf: EMPTY, pos: 0, context: { nowMs: 0 }, inserting: true }, writer, false);
  return Buffer.from(writer.buf.subarray(0, writer.length));
}

/** Refuses an `$expr` in the filter, however deep, as mongod does. */
export function checkUpsertFilter(filter: Filter): void {
  if (filter.kind === 'expr') throw malformed('$expr is not allowed in the query predicate for an upsert');
  if (filter.kind === 'not') checkUpsertFilter(filter.filter);
  else if (filter.kind !== 'field') filter.filters.forEach(checkUpsertFilter);
}

function pin(filter: Filter, tree: UpdateTree, idOnly: boolean): void {
  if (filter.kind === 'and') for (const part of filter.filters) pin(part, tree, idOnly);
  if (filter.kind !== 'field' || filter.test.op !== 'eq') return;
  if (idOnly && filter.path.text !== '_id') return;
  const { value } = filter.test;
  checkDepth(filter.path.text, value);
  addChange(tree, filter.path.text, { next: () => value, creates: true, onInsertOnly: false });
}
