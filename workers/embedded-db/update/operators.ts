import { notSupported, StoreError } from '../bson/errors.ts';
import { arithmetic } from '../bson/number.ts';
import { compare } from '../bson/order.ts';
import { Elements, TYPE, type Value } from '../bson/read.ts';
import { isNumber, show, typeName } from '../bson/value.ts';
import { pull, push } from './array-operators.ts';
import { addChange, type Change, checkDepth, idOf, newTree, REMOVE, type UpdateTree } from './node.ts';

/** Parses `{ $set: …, $inc: … }` into a tree. Errors: 9 and 14 for what is no update, 40 for conflicting paths. */
export function parseOperators(update: Value): UpdateTree {
  const tree = newTree('by name');
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
      const argument = fields.value();
      checkDepth(path, argument);
      addChange(tree, path, parseChange(operator, path, argument));
    }
    if (!KNOWN.has(operator)) throw unknownModifier(operator);
  }
  return tree;
}

const KNOWN = new Set(['$set', '$setOnInsert', '$unset', '$inc', '$min', '$max', '$push', '$pull']);
/** MongoDB has them, nothing of the product sends them (docs/decisions/0032). */
const ELSEWHERE = new Set(['$mul', '$addToSet', '$pullAll', '$pop', '$rename', '$currentDate', '$bit']);

function unknownModifier(operator: string): StoreError {
  if (ELSEWHERE.has(operator)) return notSupported(operator);
  return new StoreError(
    9,
    `Unknown modifier: ${operator}. Expected a valid update modifier or pipeline-style update specified as an array`,
  );
}

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
      throw unknownModifier(operator);
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
