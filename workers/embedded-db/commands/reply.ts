import { codeName, DuplicateKeyError, StoreError } from '../bson/errors.ts';
import { BsonWriter } from '../bson/write.ts';
import type { Batch } from './cursors.ts';

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

/** `{ ok: 0, errmsg, code, codeName }`; what is no StoreError is a fault of ours, 1. */
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
