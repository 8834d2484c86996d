import { spend } from '../bson/effort.ts';
import { malformed, notSupported, StoreError } from '../bson/errors.ts';
import { arithmetic } from '../bson/number.ts';
import { compare, equals } from '../bson/order.ts';
import {
  byteAt,
  Elements,
  fieldOf,
  findElement,
  isContainer,
  isEmptyContainer,
  MAX_DEPTH,
  TOO_DEEP,
  TYPE,
  type Value,
  validDocumentEnd,
  valueEnd,
  valuesOf,
} from '../bson/read.ts';
import { asNumber, asString, isNumber, show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { type ExpressionContext, parseExpression } from '../query/expression.ts';
import { type Filter, isOperators, parseFilter, predicate } from '../query/filter.ts';
import {
  addChange,
  applyTree,
  type Change,
  checkDepth,
  type DocumentScope,
  idOf,
  newTree,
  REMOVE,
  type UpdateTree,
} from './tree.ts';

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

/** The fields that the filter pins to one value, also inside `$and`. For a replacement only `_id` counts. */
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

function parseOperators(update: Value): UpdateTree {
  const tree = newTree();
  const operators = new Elements(update.buf, update.pos);
  while (operators.next()) {
    const operator = operators.name();
    if (!KNOWN.has(operator)) throw notSupported(operator);
    if (operators.type !== TYPE.object) throw malformed(`${operator} needs fields`);
    const fields = new Elements(operators.buf, operators.pos);
    while (fields.next()) {
      const path = fields.name();
      const argument = fields.value();
      checkDepth(path, argument);
      addChange(tree, path, parseChange(operator, path, argument));
    }
  }
  return tree;
}

const KNOWN = new Set(['$set', '$setOnInsert', '$unset', '$inc', '$min', '$max', '$push', '$pull']);
function creating(next: Change['next']): Change {
  return { next, creates: true, onInsertOnly: false };
}

function parseChange(operator: string, path: string, argument: Value): Change {
  switch (operator) {
    case '$set':
      return creating(() => argument);
    case '$setOnInsert':
      return { next: () => argument, creates: true, onInsertOnly: true };
    case '$unset':
      return REMOVE;
    case '$inc':
      return increment(path, argument);
    case '$min':
      return creating((current) =>
        current.type === TYPE.missing || compare(argument, current) < 0 ? argument : current,
      );
    case '$max':
      return creating((current) =>
        current.type === TYPE.missing || compare(argument, current) > 0 ? argument : current,
      );
    case '$push':
      return creating(push(path, argument));
    case '$pull':
      return { next: pull(argument), creates: false, onInsertOnly: false };
    default:
      throw notSupported(operator);
  }
}

function increment(path: string, argument: Value): Change {
  if (!isNumber(argument.type))
    throw malformed(`Cannot increment with non-numeric argument: {${path}: ${show(argument)}}`);
  return creating((current, document) => {
    if (current.type === TYPE.missing) return argument;
    const result = isNumber(current.type) ? arithmetic('add', current, argument) : undefined;
    if (result === undefined)
      throw malformed(`Cannot apply $inc to ${show(current)}, '${path}' of {_id: ${idOf(document)}}`);
    return result;
  });
}

type Next = Change['next'];

const arrays = new BsonWriter(1024);

function arrayValue(values: readonly Value[]): Value {
  const handle = arrays.begin();
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== undefined) arrays.value(String(i), value);
  }
  return { type: TYPE.array, buf: arrays.finish(handle), pos: 0 };
}

function mustBeArray(path: string, current: Value, document: DocumentScope): void {
  if (current.type !== TYPE.array) throw malformed(`The field '${path}' must be an array in {_id: ${idOf(document)}}`);
}

/** `$push: value`, or `{ $each: […], $slice: n }`. */
function push(path: string, argument: Value): Next {
  const { each, slice } = parsePush(argument);
  return (current, document) => {
    if (current.type !== TYPE.missing) mustBeArray(path, current, document);
    if (slice === undefined && current.type === TYPE.array) return appended(current, each);
    const values = [...(current.type === TYPE.missing ? [] : valuesOf(current)), ...each];
    if (slice === undefined) return arrayValue(values);
    return arrayValue(slice < 0 ? values.slice(slice) : values.slice(0, slice));
  };
}

/** Existing elements keep their bytes; only new ones get a name. */
function appended(array: Value, each: readonly Value[]): Value {
  const { buf, pos } = array;
  const elements = new Elements(buf, pos);
  let length = 0;
  while (elements.next()) length++;
  const handle = arrays.begin();
  arrays.raw(buf, pos + 4, valueEnd(TYPE.array, buf, pos) - 1);
  for (const value of each) arrays.value(String(length++), value);
  return { type: TYPE.array, buf: arrays.finish(handle), pos: 0 };
}

interface Push {
  readonly each: readonly Value[];
  readonly slice: number | undefined;
}

function parsePush(argument: Value): Push {
  if (!isOperators(argument)) return { each: [argument], slice: undefined };
  let each: readonly Value[] | undefined;
  let slice: number | undefined;
  const clauses = new Elements(argument.buf, argument.pos);
  while (clauses.next()) {
    const name = clauses.name();
    const value = clauses.value();
    if (name === '$each' && value.type === TYPE.array) each = valuesOf(value);
    else if (name === '$slice' && Number.isInteger(asNumber(value))) slice = asNumber(value);
    else throw notSupported(`$push with ${name} so`);
  }
  if (each === undefined) throw malformed('$push with clauses needs $each');
  return { each, slice };
}

/** Removes elements equal to the value, or, if it is an object, documents that match it as a filter. */
function pull(argument: Value): Next {
  const unwanted = pullPredicate(argument);
  return (current) => {
    if (current.type === TYPE.missing) return current;
    if (current.type !== TYPE.array) throw malformed('Cannot apply $pull to a non-array value');
    const values = valuesOf(current);
    const kept = values.filter((value) => !unwanted(value));
    return kept.length === values.length ? current : arrayValue(kept);
  };
}

/** Only `$expr` uses the time, and an element's filter cannot have `$expr`. */
const NO_TIME = { nowMs: 0 };

function pullPredicate(argument: Value): (element: Value) => boolean {
  if (isOperators(argument)) throw notSupported('$pull of anything but a value or documents');
  if (argument.type !== TYPE.object) return (element) => equals(element, argument);
  const matches = predicate(parseFilter(argument.buf, argument.pos, 'element'), NO_TIME);
  return ({ type, buf, pos }) => type === TYPE.object && matches(type, buf, pos);
}

/** Each stage gets the document that the stage before made. */
interface Pipeline {
  readonly paths: readonly string[];
  apply(scope: DocumentScope, out: BsonWriter): void;
}

function parsePipeline(stages: Value): Pipeline {
  const trees = stagesIn(stages).map(parseStage);
  const between = new BsonWriter();
  return {
    paths: trees.flatMap((tree) => tree.paths),
    apply(scope, out) {
      // Two writers take turns, so that the last stage writes into `out`.
      let current = scope;
      for (const [i, tree] of trees.entries()) {
        const writer = (trees.length - i) % 2 === 1 ? out : between;
        applyStage(tree, current, writer);
        current = { ...scope, buf: writer.buf, pos: 0 };
      }
      if (trees.length === 0) applyTree(newTree().root, scope, out, true);
    },
  };
}

/** Throws 15 when the stage's document is nested too deep. */
function applyStage(tree: UpdateTree, scope: DocumentScope, out: BsonWriter): void {
  tree.nested = false;
  applyTree(tree.root, scope, out, true);
  spend(out.length);
  if (!tree.nested || validDocumentEnd(out.buf, 0, out.length) !== TOO_DEEP) return;
  throw new StoreError(15, `cannot nest a document deeper than ${MAX_DEPTH} levels`);
}

/** mongod's `internalPipelineLengthLimit`. */
const STAGES_MAX = 1000;

interface Stage {
  readonly name: string;
  readonly argument: Value;
}

export function stagesIn(pipeline: Value): Stage[] {
  const stages = valuesOf(pipeline);
  if (stages.length > STAGES_MAX) throw malformed(`Pipeline length must be no longer than ${STAGES_MAX} stages`);
  return stages.map(({ type, buf, pos }) => {
    if (type !== TYPE.object) throw malformed('a pipeline stage must be a document');
    const elements = new Elements(buf, pos);
    const found = elements.next() ? { name: elements.name(), argument: elements.value() } : undefined;
    if (found === undefined || elements.next()) throw malformed('a pipeline stage has exactly one field');
    return found;
  });
}

function parseStage({ name, argument }: Stage): UpdateTree {
  const tree = newTree();
  switch (name) {
    case '$set':
      if (argument.type !== TYPE.object) throw malformed('$set needs a document');
      addFields(tree, '', argument);
      return tree;
    case '$unset':
      for (const path of argument.type === TYPE.array ? valuesOf(argument) : [argument]) {
        const text = asString(path);
        if (text === undefined) throw malformed('$unset needs names of fields');
        addChange(tree, text, REMOVE);
      }
      return tree;
    default:
      throw notSupported(`The update stage ${name}`);
  }
}

/** An object that is no expression names fields inside: `{ a: { b: 1 } }` sets `a.b` and keeps what else `a` has. */
function addFields(tree: UpdateTree, prefix: string, spec: Value): void {
  const elements = new Elements(spec.buf, spec.pos);
  while (elements.next()) {
    const path = prefix + elements.name();
    const value = elements.value();
    if (value.type !== TYPE.object || isOperators(value)) {
      const expression = parseExpression(value);
      const next = (_current: Value, scope: DocumentScope): Value => {
        const computed = expression(scope);
        if (isContainer(computed.type)) tree.nested = true;
        return computed;
      };
      addChange(tree, path, { next, creates: true, onInsertOnly: false });
    } else if (isEmptyContainer(value.buf, value.pos)) {
      throw malformed(`an empty object is not a valid value. Found empty object at path ${path}`);
    } else {
      addFields(tree, `${path}.`, value);
    }
  }
}
