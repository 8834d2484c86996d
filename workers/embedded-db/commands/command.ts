import { codeName, DuplicateKeyError, malformed, notSupported, StoreError } from '../bson/errors.ts';
import { Elements as ElementReader, type Elements, MISSING, TYPE, type Value, valuesOf } from '../bson/read.ts';
import { asFlag, asNumber, asString, isNullish } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { checkDatabase } from '../storage/catalog.ts';
import type { Batch } from './cursors.ts';

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

  array(name: string): readonly Value[] {
    const array = this.get(name);
    if (array.type === TYPE.array) return valuesOf(array);
    throw malformed(`BSON field '${this.name}.${name}' must be an array`);
  }

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

/** Refuses a field or an option that the command (or statement) does not have: it might change the result. */
export function checkFields(fields: Iterable<string>, allowed: ReadonlySet<string>, where: string): void {
  for (const name of fields) if (!allowed.has(name)) throw notSupported(`The field ${where}.${name}`);
}

const writer = new BsonWriter(64 * 1024);

/** `{ …, ok: 1 }` */
export function reply(build: (out: BsonWriter) => void): Buffer {
  const handle = writer.begin();
  build(writer);
  writer.double('ok', 1);
  return writer.finish(handle);
}

export const OK = reply(() => {});

/** `{ cursor: { firstBatch: […], id, ns }, ok: 1 }` */
export function cursorReply(batch: Batch, field: 'firstBatch' | 'nextBatch'): Buffer {
  return reply((out) => {
    const cursor = out.object('cursor');
    const docs = out.array(field);
    for (let i = 0; i < batch.docs.length; i++) {
      const doc = batch.docs[i];
      if (doc !== undefined) out.document(String(i), doc);
    }
    out.close(docs);
    out.int64('id', batch.cursorId);
    out.string('ns', batch.ns);
    out.close(cursor);
  });
}

/** `{ ok: 0, errmsg, code, codeName }`; an error that is no StoreError is a fault of ours, 1. */
export function errorReply(error: unknown): Buffer {
  const known = error instanceof StoreError ? error : new StoreError(1, `internal error: ${describe(error)}`);
  const handle = writer.begin();
  writer.double('ok', 0);
  writer.string('errmsg', cut(known.message));
  writer.int32('code', known.code);
  writer.string('codeName', codeName(known.code));
  if (known instanceof DuplicateKeyError) {
    writer.document('keyPattern', known.keyPattern);
    writer.document('keyValue', known.keyValue);
  }
  return writer.finish(handle);
}

/** A message may show a value of 16 MB. */
const MESSAGE_MAX = 2_000;

function cut(message: string): string {
  return message.length <= MESSAGE_MAX ? message : `${message.slice(0, MESSAGE_MAX)}…`;
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export interface WriteError {
  readonly index: number;
  readonly error: StoreError;
}

/** `writeErrors: [{ index, code, errmsg }]`, left out when there are none. */
export function putWriteErrors(out: BsonWriter, errors: readonly WriteError[]): void {
  if (errors.length === 0) return;
  const array = out.array('writeErrors');
  for (const [i, { index, error }] of errors.entries()) {
    const one = out.object(String(i));
    out.int32('index', index);
    out.int32('code', error.code);
    if (error instanceof DuplicateKeyError) {
      out.document('keyPattern', error.keyPattern);
      out.document('keyValue', error.keyValue);
    }
    out.string('errmsg', cut(error.message));
    out.close(one);
  }
  out.close(array);
}
