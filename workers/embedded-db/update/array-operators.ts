import { notSupported, StoreError } from '../bson/errors.ts';
import { equals } from '../bson/order.ts';
import { SELF } from '../bson/path.ts';
import { Elements, TYPE, type Value, valueEnd, valuesOf } from '../bson/read.ts';
import { asNumber, show, typeName } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { isOperators, parseElementOperators, parseFilter } from '../query/filter.ts';
import { type Predicate, predicate } from '../query/predicate.ts';
import { type Change, type DocumentScope, idOf } from './node.ts';

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

/** `$push: value`, or `{ $each: […], $slice: n, $position: n }`. */
export function push(path: string, argument: Value): Next {
  const { each, position, slice } = parsePush(argument);
  return (current, document) => {
    if (current.type !== TYPE.missing) mustBeArray(path, current, document);
    if (position === undefined && slice === undefined && current.type === TYPE.array) return appended(current, each);
    const values = current.type === TYPE.missing ? [] : valuesOf(current);
    const at = position ?? values.length;
    values.splice(at < 0 ? Math.max(0, values.length + at) : at, 0, ...each);
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
  position: number | undefined;
  slice: number | undefined;
}

function parsePush(argument: Value): Push {
  const out: Push = { each: [argument], position: undefined, slice: undefined };
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
    } else if (name === '$position') {
      out.position = integerClause(name, value);
    } else if (name === '$slice') {
      out.slice = integerClause(name, value);
    } else if (name === '$sort') {
      throw notSupported('$push with $sort');
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

export function addToSet(path: string, argument: Value): Next {
  const each = eachOf(argument);
  return (current, document) => {
    if (current.type !== TYPE.missing) mustBeArray(path, current, document);
    const values = current.type === TYPE.missing ? [] : valuesOf(current);
    const added: Value[] = [];
    for (const value of each) {
      if (!values.some((known) => equals(known, value)) && !added.some((known) => equals(known, value))) {
        added.push(value);
      }
    }
    if (current.type === TYPE.missing) return arrayValue(added);
    return added.length === 0 ? current : appended(current, added);
  };
}

function eachOf(argument: Value): readonly Value[] {
  if (!isOperators(argument)) return [argument];
  const clauses = new Elements(argument.buf, argument.pos);
  clauses.next();
  if (clauses.name() !== '$each') return [argument];
  const each = clauses.value();
  if (each.type !== TYPE.array) {
    throw new StoreError(
      14,
      `The argument to $each in $addToSet must be an array but it was of type ${typeName(each.type)}`,
    );
  }
  if (clauses.next()) throw new StoreError(2, `Found unexpected fields after $each in $addToSet: ${clauses.name()}`);
  return valuesOf(each);
}

/** Removes what equals the value, satisfies the operators, or (objects) matches the filter. */
export function pull(argument: Value): Next {
  const unwanted = pullPredicate(argument);
  return (current) => removing(current, (element) => unwanted(element.type, element.buf, element.pos));
}

function pullPredicate(argument: Value): Predicate {
  const context = { nowMs: 0 }; // `$expr` is refused in `$pull` by mongod too, so no time is needed.
  if (isOperators(argument)) return predicate(parseElementOperators(SELF, argument), context);
  if (argument.type === TYPE.object) {
    const matches = predicate(parseFilter(argument.buf, argument.pos), context);
    return (type, buf, pos) => type === TYPE.object && matches(type, buf, pos);
  }
  return (type, buf, pos) => equals({ type, buf, pos }, argument);
}

export function pullAll(argument: Value): Next {
  if (argument.type !== TYPE.array) {
    throw new StoreError(2, `$pullAll requires an array argument but was given a ${typeName(argument.type)}`);
  }
  const unwanted = valuesOf(argument);
  return (current) => removing(current, (element) => unwanted.some((value) => equals(value, element)));
}

function removing(current: Value, unwanted: (element: Value) => boolean): Value {
  if (current.type === TYPE.missing) return current;
  if (current.type !== TYPE.array) throw new StoreError(2, 'Cannot apply $pull to a non-array value');
  const values = valuesOf(current);
  const kept = values.filter((value) => !unwanted(value));
  return kept.length === values.length ? current : arrayValue(kept);
}

export function pop(path: string, argument: Value): Next {
  const end = asNumber(argument);
  if (end !== 1 && end !== -1) {
    throw new StoreError(9, `$pop expects 1 or -1, found: ${show(argument)}`);
  }
  return (current) => {
    if (current.type === TYPE.missing) return current;
    if (current.type !== TYPE.array) {
      throw new StoreError(14, `Path '${path}' contains an element of non-array type '${typeName(current.type)}'`);
    }
    const values = valuesOf(current);
    if (values.length === 0) return current;
    return arrayValue(end === 1 ? values.slice(0, -1) : values.slice(1));
  };
}
