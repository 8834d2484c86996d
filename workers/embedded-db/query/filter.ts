import { notSupported, StoreError } from '../bson/errors.ts';
import { type Path, parsePath, SELF } from '../bson/path.ts';
import { Elements, isEmptyContainer, MISSING, TYPE, type Value, valuesOf } from '../bson/read.ts';
import { asNumber, asString, isTruthy, show, typeByName, typeName } from '../bson/value.ts';
import { type Expression, parseExpression } from './expression.ts';
import { compileRegex, type TextTest } from './regex.ts';

/** A parsed filter: what `predicate.ts` runs and `plan.ts` finds index bounds in. Values point into the filter's bytes. */
export type Filter =
  | { readonly kind: 'and' | 'or' | 'nor'; readonly filters: readonly Filter[] }
  | { readonly kind: 'not'; readonly filter: Filter }
  | { readonly kind: 'field'; readonly path: Path; readonly test: Test }
  | { readonly kind: 'expr'; readonly expression: Expression }
  | { readonly kind: 'nothing' };

export type Test =
  | { readonly op: 'eq' | 'gt' | 'gte' | 'lt' | 'lte'; readonly value: Value }
  | { readonly op: 'in'; readonly values: readonly Value[]; readonly patterns: readonly Pattern[] }
  | { readonly op: 'regex'; readonly pattern: Pattern }
  | { readonly op: 'exists' }
  | { readonly op: 'type'; readonly types: ReadonlySet<number> }
  | { readonly op: 'size'; readonly size: number }
  /** `elements` that are objects satisfy a whole filter, or values satisfy operators (whose paths are `SELF`). */
  | { readonly op: 'elemMatch'; readonly of: 'objects' | 'values'; readonly filter: Filter };

export interface Pattern {
  readonly matches: TextTest;
  /** The regular expression as a value: it matches itself, stored. */
  readonly value: Value;
}

/** Parses the filter document at `doc`. Throws what mongod answers: 2 for bad operators and operands, 238 for refusals. */
export function parseFilter(buf: Buffer, doc: number): Filter {
  const filters: Filter[] = [];
  const elements = new Elements(buf, doc);
  while (elements.next()) {
    const name = elements.name();
    const value = elements.value();
    if (name.startsWith('$')) {
      const parsed = parseTopLevel(name, value);
      if (parsed !== undefined) filters.push(parsed);
    } else if (isOperators(value)) {
      parseOperators(parsePath(name), value, filters);
    } else {
      filters.push(equality(parsePath(name), value));
    }
  }
  return all(filters);
}

function all(filters: Filter[]): Filter {
  const only = filters[0];
  return filters.length === 1 && only !== undefined ? only : { kind: 'and', filters };
}

/** `{ $gt: 1 }`, but not `{ $ref: …, $id: … }`, which is a value. */
export function isOperators({ type, buf, pos }: Value): boolean {
  if (type !== TYPE.object || isEmptyContainer(buf, pos) || buf[pos + 5] !== 0x24) return false;
  const first = new Elements(buf, pos);
  first.next();
  const name = first.name();
  return name !== '$ref' && name !== '$id' && name !== '$db';
}

function parseTopLevel(name: string, value: Value): Filter | undefined {
  switch (name) {
    case '$and':
    case '$or':
    case '$nor': {
      if (value.type !== TYPE.array) throw new StoreError(2, `${name} must be an array`);
      const parts = valuesOf(value);
      if (parts.length === 0) throw new StoreError(2, `${name} argument must be a non-empty array`);
      const filters = parts.map((part) => {
        if (part.type !== TYPE.object) throw new StoreError(2, `${name} argument's entries must be objects`);
        return parseFilter(part.buf, part.pos);
      });
      return { kind: name === '$and' ? 'and' : name === '$or' ? 'or' : 'nor', filters };
    }
    case '$expr':
      return { kind: 'expr', expression: parseExpression(value) };
    case '$comment':
      return undefined;
    case '$where':
    case '$text':
    case '$jsonSchema':
    case '$sampleRate':
      throw notSupported(name);
    default:
      throw new StoreError(
        2,
        `unknown top level operator: ${name}. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.`,
      );
  }
}

function equality(path: Path, value: Value): Filter {
  if (value.type === TYPE.regex) return { kind: 'field', path, test: { op: 'regex', pattern: pattern(value) } };
  if (value.type === TYPE.undefined) throw new StoreError(2, 'cannot compare to undefined');
  return { kind: 'field', path, test: { op: 'eq', value } };
}

function not(filter: Filter): Filter {
  return { kind: 'not', filter };
}

/** `{ $gt: 1, $lt: 5 }` about one value, for `$pull`. */
export function parseElementOperators(path: Path, operators: Value): Filter {
  const filters: Filter[] = [];
  parseOperators(path, operators, filters);
  return all(filters);
}

function parseOperators(path: Path, operators: Value, out: Filter[]): void {
  const elements = new Elements(operators.buf, operators.pos);
  while (elements.next()) {
    const parsed = parseOperator(path, elements.name(), elements.value(), operators);
    if (parsed !== undefined) out.push(parsed);
  }
}

function parseOperator(path: Path, op: string, value: Value, siblings: Value): Filter | undefined {
  const field = (test: Test): Filter => ({ kind: 'field', path, test });
  switch (op) {
    case '$eq':
      return equality(path, value);
    case '$ne':
      if (value.type === TYPE.regex) throw new StoreError(2, "Can't have regex as arg to $ne.");
      return not(equality(path, value));
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      if (value.type === TYPE.regex) {
        throw new StoreError(2, "Can't have RegEx as arg to predicate over field '".concat(path.text, "'."));
      }
      return field({ op: op === '$gt' ? 'gt' : op === '$gte' ? 'gte' : op === '$lt' ? 'lt' : 'lte', value });
    case '$in':
      return field(parseIn(op, value));
    case '$nin':
      return not(field(parseIn(op, value)));
    case '$exists':
      return isTruthy(value) ? field({ op: 'exists' }) : not(field({ op: 'exists' }));
    case '$type':
      return field({ op: 'type', types: parseTypes(path, value) });
    case '$regex':
      return field({ op: 'regex', pattern: regexOperator(value, siblings) });
    case '$options':
      if (findIn(siblings, '$regex').type === TYPE.missing) throw new StoreError(2, '$options needs a $regex');
      return undefined;
    case '$not':
      return not(parseNot(path, value));
    case '$size':
      return field({ op: 'size', size: parseSize(value) });
    case '$all':
      return parseAll(path, value);
    case '$elemMatch':
      return field(parseElemMatch(value));
    case '$comment':
      return undefined;
    case '$mod':
    case '$bitsAllSet':
    case '$bitsAllClear':
    case '$bitsAnySet':
    case '$bitsAnyClear':
    case '$geoWithin':
    case '$geoIntersects':
    case '$near':
    case '$nearSphere':
      throw notSupported(op);
    default:
      throw new StoreError(2, `unknown operator: ${op}`);
  }
}

function findIn(object: Value, name: string): Value {
  const elements = new Elements(object.buf, object.pos);
  while (elements.next()) if (elements.name() === name) return elements.value();
  return MISSING;
}

function parseIn(op: string, value: Value): Test {
  if (value.type !== TYPE.array) throw new StoreError(2, `${op} needs an array`);
  const values: Value[] = [];
  const patterns: Pattern[] = [];
  for (const part of valuesOf(value)) {
    if (isOperators(part)) throw new StoreError(2, `cannot nest $ under ${op}`);
    if (part.type === TYPE.undefined) throw new StoreError(2, `${op} cannot contain undefined`);
    if (part.type === TYPE.regex) patterns.push(pattern(part));
    else values.push(part);
  }
  return { op: 'in', values, patterns };
}

function parseTypes(path: Path, value: Value): ReadonlySet<number> {
  const wanted = value.type === TYPE.array ? valuesOf(value) : [value];
  if (wanted.length === 0) throw new StoreError(9, `${path.text} must match at least one type`);
  const types = new Set<number>();
  for (const one of wanted) {
    const name = asString(one);
    if (name === 'number') {
      for (const type of [TYPE.double, TYPE.int32, TYPE.int64, TYPE.decimal]) types.add(type);
      continue;
    }
    if (name !== undefined) {
      const type = typeByName(name);
      if (type === undefined) throw new StoreError(2, `Unknown type name alias: ${name}`);
      types.add(type);
      continue;
    }
    const number = asNumber(one);
    if (number === undefined) throw new StoreError(14, 'type must be represented as a number or a string');
    const type = number === -1 ? TYPE.minKey : number;
    if (type === 0 || typeName(type) === 'unknown') throw new StoreError(2, `Invalid numerical type code: ${number}`);
    types.add(type);
  }
  return types;
}

function parseNot(path: Path, value: Value): Filter {
  if (value.type === TYPE.regex) return equality(path, value);
  if (value.type !== TYPE.object) throw new StoreError(2, '$not needs a regex or a document');
  if (isEmptyContainer(value.buf, value.pos)) throw new StoreError(2, '$not cannot be empty');
  if (!isOperators(value)) throw new StoreError(2, `unknown operator: ${firstName(value)}`);
  return parseElementOperators(path, value);
}

function firstName(object: Value): string {
  const elements = new Elements(object.buf, object.pos);
  return elements.next() ? elements.name() : '';
}

function parseSize(value: Value): number {
  const size = asNumber(value);
  if (size === undefined || !Number.isInteger(size)) {
    throw new StoreError(2, `Failed to parse $size. Expected an integer in: $size: ${show(value)}`);
  }
  if (size < 0) {
    throw new StoreError(2, `Failed to parse $size. Expected a non-negative number in: $size: ${show(value)}`);
  }
  return size;
}

function parseAll(path: Path, value: Value): Filter {
  if (value.type !== TYPE.array) throw new StoreError(2, '$all needs an array');
  const parts = valuesOf(value);
  if (parts.length === 0) return { kind: 'nothing' };
  return all(
    parts.map((part) => {
      if (!isOperators(part)) return equality(path, part);
      if (firstName(part) !== '$elemMatch') throw new StoreError(2, 'no $ expressions in $all');
      return { kind: 'field', path, test: parseElemMatch(findIn(part, '$elemMatch')) };
    }),
  );
}

function parseElemMatch(value: Value): Test {
  if (value.type !== TYPE.object) throw new StoreError(2, '$elemMatch needs an Object');
  const first = firstName(value);
  if (isOperators(value) && first !== '$and' && first !== '$or' && first !== '$nor' && first !== '$expr') {
    return { op: 'elemMatch', of: 'values', filter: parseElementOperators(SELF, value) };
  }
  return { op: 'elemMatch', of: 'objects', filter: parseFilter(value.buf, value.pos) };
}

function regexOperator(value: Value, siblings: Value): Pattern {
  const options = findIn(siblings, '$options');
  const flags = options.type === TYPE.missing ? undefined : asString(options);
  if (options.type !== TYPE.missing && flags === undefined) throw new StoreError(2, '$options has to be a string');
  if (value.type === TYPE.regex) return pattern(value, flags);
  const source = asString(value);
  if (source === undefined) throw new StoreError(2, '$regex has to be a string');
  return { matches: compileRegex(source, flags ?? ''), value };
}

function pattern(value: Value, flags?: string): Pattern {
  const sourceEnd = value.buf.indexOf(0, value.pos);
  const source = value.buf.toString('utf8', value.pos, sourceEnd);
  const own = value.buf.toString('utf8', sourceEnd + 1, value.buf.indexOf(0, sourceEnd + 1));
  return { matches: compileRegex(source, flags ?? own), value };
}

/** `_id: <value>` of a filter whose `_id` is one plain value: the commonest filter needs no plan. */
export function idOf(filter: Filter): Value | undefined {
  if (filter.kind === 'field') {
    return filter.path.text === '_id' && filter.test.op === 'eq' ? filter.test.value : undefined;
  }
  if (filter.kind !== 'and') return undefined;
  for (const part of filter.filters) {
    const id = idOf(part);
    if (id !== undefined) return id;
  }
  return undefined;
}
