import { notSupported, StoreError } from '../bson/errors.ts';
import { Elements as ElementReader, type Elements, MISSING, TYPE, type Value, valuesOf } from '../bson/read.ts';
import { asFlag, asNumber, asString, isNullish, typeName } from '../bson/value.ts';
import { checkDatabase } from '../storage/catalog.ts';

/** A parsed command: its fields by name, and its document sequences. */
export class Command {
  readonly name: string;
  readonly fields: ReadonlyMap<string, Value>;
  readonly sequences: ReadonlyMap<string, readonly Value[]>;

  constructor(body: Buffer, sequences: ReadonlyMap<string, readonly Value[]>) {
    this.fields = fieldsOf(new ElementReader(body, 0));
    this.name = this.fields.keys().next().value ?? '';
    this.sequences = sequences;
    for (const name of sequences.keys()) {
      if (this.fields.has(name)) {
        throw new StoreError(40433, `Duplicate field between body and document sequence '${name}'`);
      }
    }
  }

  get db(): string {
    const db = asString(this.get('$db')) ?? 'admin';
    checkDatabase(db);
    return db;
  }

  get(name: string): Value {
    return this.fields.get(name) ?? MISSING;
  }

  /** The collection that the command names in its first field. */
  collection(): string {
    const name = asString(this.get(this.name));
    if (name === undefined) {
      throw new StoreError(73, `collection name has invalid type ${typeName(this.get(this.name).type)}`);
    }
    if (name === '' || name.includes('\0')) throw new StoreError(73, `Invalid namespace specified '${this.db}.'`);
    return name;
  }

  /** The statements of a write, from a sequence or from the array in the body. */
  statements(name: string): readonly Value[] {
    return this.sequences.get(name) ?? this.array(name);
  }

  flag(name: string, fallback: boolean): boolean {
    return flagOf(this.get(name), name, fallback);
  }

  /** A whole number that is not negative. */
  count(name: string, fallback: number): number {
    const value = this.get(name);
    if (isNullish(value.type)) return fallback;
    const number = asNumber(value);
    if (number === undefined) throw new StoreError(14, `BSON field '${this.name}.${name}' must be a number`);
    if (!Number.isInteger(number) || number < 0) {
      throw new StoreError(51024, `BSON field '${name}' value must be >= 0, actual value '${number}'`);
    }
    return number;
  }

  /** The values of an array; throws 40414 when it is not given. */
  array(name: string): readonly Value[] {
    const array = this.get(name);
    const field = `BSON field '${this.name}.${name}'`;
    if (array.type === TYPE.missing) throw new StoreError(40414, `${field} is missing but a required field`);
    if (array.type === TYPE.array) return valuesOf(array);
    throw new StoreError(14, `${field} is the wrong type '${typeName(array.type)}', expected type 'array'`);
  }

  /** A document; MISSING when it is not given. */
  document(name: string): Value {
    return documentOf(this.get(name), `${this.name}.${name}`);
  }
}

/** Throws 40413 when a name is there twice. */
export function fieldsOf(elements: Elements): Map<string, Value> {
  const fields = new Map<string, Value>();
  let count = 0;
  for (; elements.next(); count++) fields.set(elements.name(), elements.value());
  if (fields.size === count) return fields;
  throw new StoreError(40413, 'a field is given twice');
}

export function flagOf(value: Value, name: string, fallback: boolean): boolean {
  if (isNullish(value.type)) return fallback;
  const flag = asFlag(value);
  if (flag === undefined) {
    throw new StoreError(14, `BSON field '${name}' is the wrong type '${typeName(value.type)}', expected type 'bool'`);
  }
  return flag;
}

export function documentOf(value: Value, name: string): Value {
  if (isNullish(value.type)) return MISSING;
  if (value.type !== TYPE.object) {
    throw new StoreError(
      14,
      `BSON field '${name}' is the wrong type '${typeName(value.type)}', expected type 'object'`,
    );
  }
  return value;
}

/** Refuses a field, or an option, that the command (or statement) does not have: it might change the result. */
export function checkFields(fields: Iterable<string>, allowed: ReadonlySet<string>, where: string): void {
  for (const name of fields) if (!allowed.has(name)) throw notSupported(`The field ${where}.${name}`);
}
