import { KeyBuffer } from '../bson/key.ts';
import { rankOf } from '../bson/order.ts';
import { TYPE, type Value } from '../bson/read.ts';
import type { KeyRange } from '../storage/database.ts';
import type { IndexField } from '../storage/index-definition.ts';
import type { Bounds } from './bounds.ts';
import { widened } from './long-keys.ts';

const buffer = new KeyBuffer();

/**
 * The keys of an index (or of a collection's documents) whose first fields have the values of `prefix` and whose next field lies
 * within `bounds`. `apart`: the bounds may hold for two elements of an array, so only one of them narrows the range.
 */
export function keyRange(...args: Parameters<typeof wholeRange>): KeyRange {
  return widened(wholeRange(...args));
}

function wholeRange(
  id: number,
  fields: readonly IndexField[],
  prefix: readonly Value[],
  bounds: Bounds | undefined,
  apart: boolean,
): KeyRange {
  buffer.start(id);
  for (const [i, value] of prefix.entries()) {
    buffer.append(value.type, value.buf, value.pos, fields[i]?.descending ?? false);
  }
  const common = buffer.copy();
  if (bounds === undefined) {
    if (prefix.length > 0) return { start: common, end: plus(common, 0xff) };
    const end = Buffer.allocUnsafe(4);
    end.writeUInt32BE(id + 1, 0);
    return { start: common, end };
  }
  const low = bounds.low;
  const high = apart && low !== undefined ? undefined : bounds.high;
  const descending = fields[prefix.length]?.descending ?? false;
  const rank = rankOf((low ?? high)?.value.type ?? TYPE.null);
  const [first, last] = descending ? [high, low] : [low, high];
  const encode = (value: Value): Buffer => {
    buffer.start(id).appendBytes(common, 4, common.length);
    buffer.append(value.type, value.buf, value.pos, descending);
    return buffer.copy();
  };
  const bracket = descending ? rank ^ 0xff : rank;
  const start =
    first === undefined
      ? plus(common, bracket)
      : first.inclusive
        ? encode(first.value)
        : plus(encode(first.value), 0xff);
  const end =
    last === undefined
      ? plus(common, bracket + 1)
      : last.inclusive
        ? plus(encode(last.value), 0xff)
        : descending
          ? plus(encode(last.value), 0x01) // a string that goes on after a NUL is greater, and lies before that
          : encode(last.value);
  return { start, end };
}

function plus(bytes: Buffer, byte: number): Buffer {
  const out = Buffer.allocUnsafe(bytes.length + 1);
  bytes.copy(out);
  out[bytes.length] = byte;
  return out;
}
