import { malformed, notSupported } from '../bson/errors.ts';
import { arithmetic } from '../bson/number.ts';
import { compare, equals } from '../bson/order.ts';
import { Elements, TYPE, type Value, valueEnd, valuesOf } from '../bson/read.ts';
import { asNumber, isNumber, show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { isOperators, parseFilter } from '../query/filter.ts';
import { predicate } from '../query/predicate.ts';
import {
  addChange,
  type Change,
  checkDepth,
  type DocumentScope,
  idOf,
  newTree,
  REMOVE,
  type UpdateTree,
} from './node.ts';

/** Parses `{ $set: …, $inc: … }` into a tree. */
export function parseOperators(update: Value): UpdateTree {
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

const writer = new BsonWriter(1024);

function arrayValue(values: readonly Value[]): Value {
  const handle = writer.begin();
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value !== undefined) writer.value(String(i), value);
  }
  return { type: TYPE.array, buf: writer.finish(handle), pos: 0 };
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
  const handle = writer.begin();
  writer.raw(buf, pos + 4, valueEnd(TYPE.array, buf, pos) - 1);
  for (const value of each) writer.value(String(length++), value);
  return { type: TYPE.array, buf: writer.finish(handle), pos: 0 };
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

/** Removes what equals the value, or, of an object, the documents that match it as a filter. */
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

/** Only `$expr` sees the time, and elements have none. */
const NO_TIME = { nowMs: 0 };

function pullPredicate(argument: Value): (element: Value) => boolean {
  if (isOperators(argument)) throw notSupported('$pull of anything but a value or documents');
  if (argument.type !== TYPE.object) return (element) => equals(element, argument);
  const matches = predicate(parseFilter(argument.buf, argument.pos, 'element'), NO_TIME);
  return ({ type, buf, pos }) => type === TYPE.object && matches(type, buf, pos);
}
