import { malformed, notSupported, StoreError } from '../bson/errors.ts';
import { Elements as ElementReader, type Elements, MISSING, TYPE, type Value, valuesOf } from '../bson/read.ts';
import { asFlag, asNumber, asString, isNullish } from '../bson/value.ts';
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
    for (const name of sequences.keys())
      if (this.fields.has(name)) throw malformed(`the field '${name}' is there twice`);
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
    if (name === undefined || name === '' || name.includes('\0'))
      throw new StoreError(73, 'Invalid namespace specified');
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
    const number = asNumber(value) ?? -1;
    if (Number.isInteger(number) && number >= 0) return number;
    throw malformed(`BSON field '${name}' must be a whole number`);
  }

  /** The values of an array, which must be given. */
  array(name: string): readonly Value[] {
    const array = this.get(name);
    if (array.type === TYPE.array) return valuesOf(array);
    throw malformed(`BSON field '${this.name}.${name}' must be an array`);
  }

  /** A document; MISSING when it is not given. */
  document(name: string): Value {
    return documentOf(this.get(name), `${this.name}.${name}`);
  }
}

export function fieldsOf(elements: Elements): Map<string, Value> {
  const fields = new Map<string, Value>();
  let count = 0;
  for (; elements.next(); count++) fields.set(elements.name(), elements.value());
  if (fields.size === count) return fields;
  throw malformed('a field is given twice');
}

export function flagOf(value: Value, name: string, fallback: boolean): boolean {
  if (isNullish(value.type)) return fallback;
  const flag = asFlag(value);
  if (flag === undefined) throw malformed(`BSON field '${name}' must be a bool`);
  return flag;
}

export function documentOf(value: Value, name: string): Value {
  if (isNullish(value.type)) return MISSING;
  if (value.type !== TYPE.object) throw malformed(`BSON field '${name}' must be an object`);
  return value;
}

/** Refuses a field, or an option, that the command (or statement) does not have: it might change the result. */
export function checkFields(fields: Iterable<string>, allowed: ReadonlySet<string>, where: string): void {
  for (const name of fields) if (!allowed.has(name)) throw notSupported(`The field ${where}.${name}`);
}
