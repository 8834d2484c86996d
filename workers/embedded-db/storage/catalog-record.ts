import { documentBytes, fieldOf, type Value, valuesOf } from '../bson/read.ts';
import { asFlag, asNumber, asString } from '../bson/value.ts';
import type { BsonWriter } from '../bson/write.ts';
import { type Index, indexFromSpec } from './index-definition.ts';

/** What the catalogue stores of a collection. */
export interface CollectionRecord {
  readonly id: number;
  readonly uuid: Buffer;
  readonly indexes: Index[];
  readonly builds: Build[];
}

/** Indexes that one command makes and that nobody uses yet, because not every document has its entries. */
export interface Build {
  readonly id: number;
  readonly indexes: readonly Index[];
  /** The key of the last document that was read. Each document up to it has its entries, or is doubtful. */
  to: Buffer;
  /** The group of the log in which the last slice ran; only in memory. */
  lastGroup: number | undefined;
}

const FIELD = {
  id: Buffer.from('id'),
  uuid: Buffer.from('uuid'),
  indexes: Buffer.from('indexes'),
  builds: Buffer.from('builds'),
  to: Buffer.from('to'),
  spec: Buffer.from('spec'),
  multikey: Buffer.from('multikey'),
  nested: Buffer.from('nested'),
} as const;

/**
 * `{ id, uuid, indexes: [{ id, spec, multikey, nested }], builds: [{ id, to, indexes }] }`, with `uuid` and `to` as hex. `builds` is
 * absent while there are none.
 */
export function encodeCollection(writer: BsonWriter, { id, uuid, indexes, builds }: CollectionRecord): Buffer {
  const doc = writer.begin();
  writer.int32('id', id);
  writer.string('uuid', uuid.toString('hex'));
  putIndexes(writer, indexes);
  if (builds.length > 0) {
    const array = writer.array('builds');
    for (const [i, build] of builds.entries()) {
      const one = writer.object(String(i));
      writer.int32('id', build.id);
      writer.string('to', build.to.toString('hex'));
      putIndexes(writer, build.indexes);
      writer.close(one);
    }
    writer.close(array);
  }
  return writer.finish(doc);
}

function putIndexes(writer: BsonWriter, indexes: readonly Index[]): void {
  const array = writer.array('indexes');
  for (const [i, index] of indexes.entries()) {
    const one = writer.object(String(i));
    writer.int32('id', index.id);
    writer.document('spec', index.spec);
    putFlags(writer, 'multikey', index.multikey);
    putFlags(writer, 'nested', index.nested);
    writer.close(one);
  }
  writer.close(array);
}

function putFlags(writer: BsonWriter, name: string, flags: readonly boolean[]): void {
  const array = writer.array(name);
  for (const [field, flag] of flags.entries()) writer.bool(String(field), flag);
  writer.close(array);
}

export function decodeCollection(doc: Buffer): CollectionRecord {
  return {
    id: idOf(doc, 0),
    uuid: hexOf(fieldOf(doc, 0, FIELD.uuid)),
    indexes: indexesOf(doc, 0),
    builds: valuesOf(fieldOf(doc, 0, FIELD.builds)).map(({ buf, pos }) => ({
      id: idOf(buf, pos),
      to: hexOf(fieldOf(buf, pos, FIELD.to)),
      indexes: indexesOf(buf, pos),
      lastGroup: undefined,
    })),
  };
}

function idOf(buf: Buffer, pos: number): number {
  return asNumber(fieldOf(buf, pos, FIELD.id)) ?? 0;
}

function hexOf(value: Value): Buffer {
  return Buffer.from(asString(value) ?? '', 'hex');
}

function indexesOf(record: Buffer, at: number): Index[] {
  return valuesOf(fieldOf(record, at, FIELD.indexes)).map(({ buf, pos }) => {
    const index = indexFromSpec(idOf(buf, pos), Buffer.from(documentBytes(fieldOf(buf, pos, FIELD.spec))));
    for (const [i, flag] of valuesOf(fieldOf(buf, pos, FIELD.multikey)).entries()) {
      index.multikey[i] = asFlag(flag) ?? false;
    }
    for (const [i, flag] of valuesOf(fieldOf(buf, pos, FIELD.nested)).entries())
      index.nested[i] = asFlag(flag) ?? false;
    return index;
  });
}
