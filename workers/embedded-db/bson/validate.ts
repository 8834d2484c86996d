import { MAX_DEPTH } from './path.ts';
import { byteAt, int32At, TYPE } from './read.ts';

/** What `validDocumentEnd` gives for a document that is nested too deep; other faults are -1. */
export const TOO_DEEP = -2;

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
    case TYPE.undefined:
    case TYPE.minKey:
    case TYPE.maxKey:
      return pos;
    case TYPE.bool:
      return pos < limit && byteAt(buf, pos) <= 1 ? pos + 1 : -1;
    case TYPE.int32:
      return within(pos + 4, limit);
    case TYPE.double:
    case TYPE.date:
    case TYPE.timestamp:
    case TYPE.int64:
      return within(pos + 8, limit);
    case TYPE.objectId:
      return within(pos + 12, limit);
    case TYPE.decimal:
      return within(pos + 16, limit);
    case TYPE.string:
    case TYPE.code:
    case TYPE.symbol:
      return validStringEnd(buf, pos, limit);
    case TYPE.object:
    case TYPE.array:
      return validDocumentEnd(buf, pos, limit, depth + 1);
    case TYPE.binary: {
      if (pos + 5 > limit) return -1;
      const length = int32At(buf, pos);
      return length < 0 ? -1 : within(pos + 5 + length, limit);
    }
    case TYPE.regex: {
      const options = validCStringEnd(buf, pos, limit);
      return options < 0 ? -1 : validCStringEnd(buf, options, limit);
    }
    case TYPE.dbPointer: {
      const id = validStringEnd(buf, pos, limit);
      return id < 0 ? -1 : within(id + 12, limit);
    }
    case TYPE.codeWithScope: {
      if (pos + 4 > limit) return -1;
      const end = pos + int32At(buf, pos);
      if (end > limit) return -1;
      const scope = validStringEnd(buf, pos + 4, end);
      if (scope < 0) return -1;
      const scopeEnd = validDocumentEnd(buf, scope, end, depth + 1);
      return scopeEnd < 0 || scopeEnd === end ? scopeEnd : -1;
    }
    default:
      return -1;
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

function validCStringEnd(buf: Buffer, pos: number, limit: number): number {
  for (let p = pos; p < limit; p++) if (buf[p] === 0) return p + 1;
  return -1;
}
