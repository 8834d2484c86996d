import { DuplicateKeyError } from '../bson/errors.ts';
import { fieldOf, TYPE, type Value } from '../bson/read.ts';
import { show } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import type { Collection } from './catalog.ts';
import type { Index } from './index-definition.ts';

const ID = Buffer.from('_id');
const ID_KEY = Buffer.from([14, 0, 0, 0, 0x10, 0x5f, 0x69, 0x64, 0, 1, 0, 0, 0, 0]); // { _id: 1 }

export function duplicateId(collection: Collection, id: Value): DuplicateKeyError {
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  writer.value(ID, id);
  return new DuplicateKeyError(
    `E11000 duplicate key error collection: ${collection.ns} index: _id_ dup key: { _id: ${show(id)} }`,
    ID_KEY,
    writer.finish(handle),
  );
}

export function duplicateEntry(collection: Collection, index: Index, doc: Buffer): DuplicateKeyError {
  const writer = new BsonWriter(256);
  const handle = writer.begin();
  const shown: string[] = [];
  for (const { path } of index.fields) {
    const value = keyValue(doc, path.parts);
    writer.value(path.text, value);
    shown.push(`${path.text}: ${show(value)}`);
  }
  return new DuplicateKeyError(
    `E11000 duplicate key error collection: ${collection.ns} index: ${index.name} dup key: { ${shown.join(', ')} }`,
    index.key,
    writer.finish(handle),
  );
}

function keyValue(doc: Buffer, parts: readonly Buffer[]): Value {
  let value: Value = { type: TYPE.object, buf: doc, pos: 0 };
  for (const part of parts) {
    if (value.type !== TYPE.object && value.type !== TYPE.array) return NULL_VALUE;
    value = fieldOf(value.buf, value.pos, part);
  }
  return value.type === TYPE.missing ? NULL_VALUE : value;
}

const NULL_VALUE: Value = { type: TYPE.null, buf: Buffer.alloc(0), pos: 0 };
