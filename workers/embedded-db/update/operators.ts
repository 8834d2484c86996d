import { notSupported, StoreError } from '../bson/errors.ts';
import { arithmetic } from '../bson/number.ts';
import { compare } from '../bson/order.ts';
import { parsePath, plainElement } from '../bson/path.ts';
import { byteAt, Elements, fieldOf, MISSING, TYPE, type Value } from '../bson/read.ts';
import { asString, date, isNumber, show, typeName } from '../bson/value.ts';
import { addToSet, pop, pull, pullAll, push } from './array-operators.ts';
import { addChange, type Change, type DocumentScope, idOf, newTree, REMOVE, type UpdateTree } from './node.ts';

/** Parses `{ $set: …, $inc: … }` into a tree. Errors: 9 and 14 for what is no update, 40 for conflicting paths. */
export function parseOperators(update: Value): UpdateTree {
  const tree = newTree();
  const operators = new Elements(update.buf, update.pos);
  while (operators.next()) {
    const operator = operators.name();
    if (operators.type !== TYPE.object) {
      if (!KNOWN.has(operator)) throw unknownModifier(operator);
      throw new StoreError(
        9,
        `Modifiers operate on fields but we found type ${typeName(operators.type)} instead. For example: {$mod: {<field>: ...}} not {${operator}: ${show(operators.value())}}`,
      );
    }
    const fields = new Elements(operators.buf, operators.pos);
    while (fields.next()) {
      const path = fields.name();
      if (operator === '$rename') rename(tree, path, fields.value());
      else addChange(tree, path, parseChange(operator, path, fields.value()));
    }
    if (!KNOWN.has(operator)) throw unknownModifier(operator);
  }
  return tree;
}

const KNOWN = new Set([
  '$set',
  '$setOnInsert',
  '$unset',
  '$inc',
  '$mul',
  '$min',
  '$max',
  '$push',
  '$addToSet',
  '$pull',
  '$pullAll',
  '$pop',
  '$rename',
  '$currentDate',
]);

function unknownModifier(operator: string): StoreError {
  if (operator === '$bit') return notSupported(operator);
  return new StoreError(
    9,
    `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update specified as an array`,
  );
}

function creating(next: Change['next']): Change {
  return { next, creates: true, onInsertOnly: false };
}

function notCreating(next: Change['next']): Change {
  return { next, creates: false, onInsertOnly: false };
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
    case '$mul':
      return numeric(operator, path, argument);
    case '$min':
      return creating((current) =>
        current.type === TYPE.missing || compare(argument, current) < 0 ? argument : current,
      );
    case '$max':
      return creating((current) =>
        current.type === TYPE.missing || compare(argument, current) > 0 ? argument : current,
      );
    case '$currentDate':
      return currentDate(argument);
    case '$push':
      return creating(push(path, argument));
    case '$addToSet':
      return creating(addToSet(path, argument));
    case '$pull':
      return notCreating(pull(argument));
    case '$pullAll':
      return notCreating(pullAll(argument));
    case '$pop':
      return notCreating(pop(path, argument));
    default:
      throw unknownModifier(operator);
  }
}

function numeric(operator: '$inc' | '$mul', path: string, argument: Value): Change {
  const verb = operator === '$inc' ? 'increment' : 'multiply';
  if (!isNumber(argument.type)) {
    throw new StoreError(14, `Cannot ${verb} with non-numeric argument: {${path}: ${show(argument)}}`);
  }
  if (argument.type === TYPE.decimal) throw notSupported(`${operator} of Decimal128`);
  return creating((current, document) => {
    if (current.type === TYPE.missing) return operator === '$inc' ? argument : zeroLike(argument);
    if (!isNumber(current.type)) {
      throw new StoreError(
        14,
        `Cannot apply ${operator} to a value of non-numeric type. {_id: ${idOf(document)}} has the field '${lastName(path)}' of non-numeric type ${typeName(current.type)}`,
      );
    }
    if (current.type === TYPE.decimal) throw notSupported(`${operator} of Decimal128`);
    const result = arithmetic(operator === '$inc' ? 'add' : 'multiply', current, argument);
    if (result === undefined) {
      throw new StoreError(
        2,
        `Failed to apply ${operator} operations to current value ((NumberLong)${show(current)}) for document {_id: ${idOf(document)}}`,
      );
    }
    return result;
  });
}

function zeroLike({ type }: Value): Value {
  return { type, buf: Buffer.alloc(8), pos: 0 };
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

function currentDate(argument: Value): Change {
  if (argument.type === TYPE.object) {
    const kind = asString(fieldOf(argument.buf, argument.pos, Buffer.from('$type')));
    if (kind === 'timestamp') throw notSupported('$currentDate with $type: "timestamp"');
    if (kind !== 'date') {
      throw new StoreError(2, "The '$type' string field is required to be 'date' or 'timestamp'");
    }
  } else if (argument.type !== TYPE.bool || byteAt(argument.buf, argument.pos) > 1) {
    throw new StoreError(
      2,
      `${typeName(argument.type)} is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).`,
    );
  }
  return creating((_current, document) => date(document.context.nowMs));
}

/** Takes the source away and puts its value at the target; nothing happens when there is no source. */
function rename(tree: UpdateTree, from: string, argument: Value): void {
  const to = asString(argument);
  if (to === undefined)
    throw new StoreError(2, `The 'to' field for $rename must be a string: ${from}: ${show(argument)}`);
  if (to.includes('\0')) {
    throw new StoreError(
      2,
      `The 'to' field for $rename cannot contain an embedded null byte: ${from}: ${show(argument)}`,
    );
  }
  if (from === to)
    throw new StoreError(2, `The source and target field for $rename must differ: ${from}: ${show(argument)}`);
  const source = parsePath(from);
  const value = (document: DocumentScope): Value => {
    const found = plainElement(source, document.buf, document.pos);
    return found.pos < 0 ? MISSING : { type: found.type, buf: document.buf, pos: found.pos };
  };
  addChange(tree, from, REMOVE);
  addChange(
    tree,
    to,
    creating((current, document) => {
      const moved = value(document);
      return moved.type === TYPE.missing ? current : moved;
    }),
  );
}
