import { MAX_DEPTH } from './path.ts';
import { byteAt, int32At, TYPE } from './read.ts';

/** What `validDocumentEnd` gives for a document that is nested too deep, or has a value that only MongoDB keeps; other faults are -1. */
export const TOO_DEEP = -2;
const NOT_KEPT = -3;
/** Undefined, regular expression, DBPointer, code, symbol, code with scope, timestamp, Decimal128, MaxKey, MinKey (bsonspec.org). */
const TYPES_NOT_KEPT: ReadonlySet<number> = new Set([6, 11, 12, 13, 14, 15, 17, 19, 127, 255]);

/**
 * Checks the structure of the document at `pos`, which must end at or before `limit`: lengths, known types, terminators, depth.
 * Done once, when it arrives; all later code reads without checking. Returns the document's end; below 0 when it is invalid.
 */
export function validDocumentEnd(buf: Buffer, pos: number, limit: number, depth = 0): number {
  if (depth > MAX_DEPTH) return TOO_DEEP;
  if (pos + 5 > limit) return -1;
  const end = pos + int32At(buf, pos);
  if (end < pos + 5 || end > limit || buf[end - 1] !== 0) return -1;
  const last = end - 1;
  let at = pos + 4;
  while (at < last) {
    const type = byteAt(buf, at);
    let p = at + 1;
    while (p < last && buf[p] !== 0) p++;
    if (p >= last) return -1;
    at = validValueEnd(type, buf, p + 1, last, depth);
    if (at < 0) return at;
  }
  return at === last ? end : -1;
}

function validValueEnd(type: number, buf: Buffer, pos: number, limit: number, depth: number): number {
  switch (type) {
    case TYPE.null:
      return pos;
    case TYPE.bool:
      return pos < limit && byteAt(buf, pos) <= 1 ? pos + 1 : -1;
    case TYPE.int32:
      return within(pos + 4, limit);
    case TYPE.double:
    case TYPE.date:
    case TYPE.int64:
      return within(pos + 8, limit);
    case TYPE.objectId:
      return within(pos + 12, limit);
    case TYPE.string:
      return validStringEnd(buf, pos, limit);
    case TYPE.object:
    case TYPE.array:
      return validDocumentEnd(buf, pos, limit, depth + 1);
    case TYPE.binary: {
      if (pos + 5 > limit) return -1;
      const length = int32At(buf, pos);
      return length < 0 ? -1 : within(pos + 5 + length, limit);
    }
    default:
      return TYPES_NOT_KEPT.has(type) ? NOT_KEPT : -1;
  }
}

function within(end: number, limit: number): number {
  return end <= limit ? end : -1;
}

function validStringEnd(buf: Buffer, pos: number, limit: number): number {
  if (pos + 5 > limit) return -1;
  const length = int32At(buf, pos);
  const end = pos + 4 + length;
  return length >= 1 && end <= limit && buf[end - 1] === 0 ? end : -1;
}
