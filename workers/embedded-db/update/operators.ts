import { notSupported, StoreError } from '../bson/errors.ts';
import { arithmetic } from '../bson/number.ts';
import { compare, equals } from '../bson/order.ts';
import { Elements, TYPE, type Value, valueEnd, valuesOf } from '../bson/read.ts';
import { asNumber, isNumber, show, typeName } from '../bson/value.ts';
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

/** Parses `{ $set: …, $inc: … }` into a tree. Errors: 9 and 14 for what is no update, 40 for conflicting paths. */
export function parseOperators(update: Value): UpdateTree {
  const tree = newTree('by name');
  const operators = new Elements(update.buf, update.pos);
  while (operators.next()) {
    const operator = operators.name();
    if (operators.type !== TYPE.object) {
      if (!KNOWN.has(operator)) throw notSupported(operator);
      throw new StoreError(
        9,
        `Modifiers operate on fields but we found type ${typeName(operators.type)} instead. For example: {$mod: {<field>: ...}} not {${operator}: ${show(operators.value())}}`,
      );
    }
    const fields = new Elements(operators.buf, operators.pos);
    while (fields.next()) {
      const path = fields.name();
      const argument = fields.value();
      checkDepth(path, argument);
      addChange(tree, path, parseChange(operator, path, argument));
    }
    if (!KNOWN.has(operator)) throw notSupported(operator);
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
  if (!isNumber(argument.type)) {
    throw new StoreError(14, `Cannot increment with non-numeric argument: {${path}: ${show(argument)}}`);
  }
  return creating((current, document) => {
    if (current.type === TYPE.missing) return argument;
    if (!isNumber(current.type)) {
      throw new StoreError(
        14,
        `Cannot apply $inc to a value of non-numeric type. {_id: ${idOf(document)}} has the field '${lastName(path)}' of non-numeric type ${typeName(current.type)}`,
      );
    }
    const result = arithmetic('add', current, argument);
    if (result === undefined) {
      throw new StoreError(
        2,
        `Failed to apply $inc operations to current value ((NumberLong)${show(current)}) for document {_id: ${idOf(document)}}`,
      );
    }
    return result;
  });
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
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
  if (current.type === TYPE.array) return;
  throw new StoreError(
    2,
    `The field '${path}' must be an array but is of type ${typeName(current.type)} in document {_id: ${idOf(document)}}`,
  );
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
  each: readonly Value[];
  slice: number | undefined;
}

function parsePush(argument: Value): Push {
  const out: Push = { each: [argument], slice: undefined };
  if (!isOperators(argument)) return out;
  let sawEach = false;
  const clauses = new Elements(argument.buf, argument.pos);
  while (clauses.next()) {
    const name = clauses.name();
    const value = clauses.value();
    if (name === '$each') {
      if (value.type !== TYPE.array) {
        throw new StoreError(
          2,
          `The argument to $each in $push must be an array but it was of type: ${typeName(value.type)}`,
        );
      }
      out.each = valuesOf(value);
      sawEach = true;
    } else if (name === '$slice') {
      out.slice = integerClause(name, value);
    } else if (name === '$position' || name === '$sort') {
      throw notSupported(`$push with ${name}`);
    } else {
      throw new StoreError(2, `Unrecognized clause in $push: ${name}`);
    }
  }
  if (!sawEach) {
    throw new StoreError(
      52,
      `The dollar ($) prefixed field in $push without $each is not valid for storage: ${show(argument)}`,
    );
  }
  return out;
}

function integerClause(name: string, value: Value): number {
  const number = asNumber(value);
  if (number === undefined || !Number.isInteger(number)) {
    throw new StoreError(
      2,
      `The value for ${name} must be an integer value but was given type: ${typeName(value.type)}`,
    );
  }
  return number;
}

/** Removes what equals the value, or, of an object, the documents that match it as a filter. */
function pull(argument: Value): Next {
  const unwanted = pullPredicate(argument);
  return (current) => {
    if (current.type === TYPE.missing) return current;
    if (current.type !== TYPE.array) throw new StoreError(2, 'Cannot apply $pull to a non-array value');
    const values = valuesOf(current);
    const kept = values.filter((value) => !unwanted(value));
    return kept.length === values.length ? current : arrayValue(kept);
  };
}

/** Only `$expr` sees the time, and elements have none. */
const NO_TIME = { nowMs: 0 };

function pullPredicate(argument: Value): (element: Value) => boolean {
  if (isOperators(argument)) {
    throw notSupported('$pull of anything but a value or documents');
  }
  if (argument.type !== TYPE.object) return (element) => equals(element, argument);
  const matches = predicate(parseFilter(argument.buf, argument.pos, 'element'), NO_TIME);
  return ({ type, buf, pos }) => type === TYPE.object && matches(type, buf, pos);
}
