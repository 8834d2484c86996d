/**
 * Reading BSON in place (bsonspec.org, version 1.1). The store never decodes documents into objects: a value is its
 * type and the place of its bytes, so that nothing is lost (int32, double and int64 stay what they are) and a binary of
 * 50 KB costs no more than a boolean. Each buffer read here passed `validDocumentEnd` or was made by `write.ts`.
 */

export const TYPE = {
  /** A path to a field that is not there leads to no element. Not a BSON type. */
  missing: 0,
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binary: 5,
  /** BSON's own, deprecated: here an index's value for an empty array, and never in a document. */
  undefined: 6,
  objectId: 7,
  bool: 8,
  date: 9,
  null: 10,
  int32: 16,
  int64: 18,
} as const;

/** `pos` is where the value's bytes begin, after type and name. */
export interface Value {
  readonly type: number;
  readonly buf: Buffer;
  readonly pos: number;
}

export const MISSING: Value = { type: TYPE.missing, buf: Buffer.alloc(0), pos: 0 };

export function byteAt(buf: Buffer, at: number): number {
  return buf[at] as number; // `at` lies inside a validated document, so there is a byte.
}

export function int32At(buf: Buffer, at: number): number {
  return byteAt(buf, at) | (byteAt(buf, at + 1) << 8) | (byteAt(buf, at + 2) << 16) | (byteAt(buf, at + 3) << 24);
}

/** Bytes of a value by type; -1 where the value says its own length. */
const FIXED_SIZE = new Int8Array(256).fill(-1);
for (const [type, size] of [
  [TYPE.double, 8],
  [TYPE.objectId, 12],
  [TYPE.bool, 1],
  [TYPE.date, 8],
  [TYPE.null, 0],
  [TYPE.int32, 4],
  [TYPE.int64, 8],
] as const) {
  FIXED_SIZE[type] = size;
}

export function valueEnd(type: number, buf: Buffer, pos: number): number {
  const fixed = FIXED_SIZE[type] ?? -1;
  if (fixed >= 0) return pos + fixed;
  switch (type) {
    case TYPE.string:
      return pos + 4 + int32At(buf, pos);
    case TYPE.binary:
      return pos + 5 + int32At(buf, pos);
    default:
      return pos + int32At(buf, pos);
  }
}

/** Where the element named `name` (without NUL) of the document at `doc` begins (its type byte), or -1. */
export function findElement(buf: Buffer, doc: number, name: Buffer): number {
  const length = name.length;
  let at = doc + 4;
  for (;;) {
    const type = byteAt(buf, at);
    if (type === 0) return -1;
    let p = at + 1;
    let i = 0;
    while (i < length && buf[p] === name[i]) {
      p++;
      i++;
    }
    if (i === length && buf[p] === 0) return at;
    at = nextElement(type, buf, nameEnd(buf, p) + 1);
  }
}

/** The end of the value at `pos`. For bytes that are not a document (our bug) it throws instead of looping for ever. */
function nextElement(type: number, buf: Buffer, pos: number): number {
  const end = valueEnd(type, buf, pos);
  if (end >= pos && end <= buf.length) return end;
  throw new Error('bytes that are no document');
}

function nameEnd(buf: Buffer, start: number): number {
  let p = start;
  while (buf[p] !== 0) if (p++ >= buf.length) throw new Error('bytes that are no document');
  return p;
}

/** The value of a top-level field; `MISSING` when it is not there. */
export function fieldOf(buf: Buffer, doc: number, name: Buffer): Value {
  const at = findElement(buf, doc, name);
  return at < 0 ? MISSING : { type: byteAt(buf, at), buf, pos: at + name.length + 2 };
}

/** Walks the elements of one document or array: `while (elements.next()) …`. */
export class Elements {
  readonly buf: Buffer;
  type = 0;
  /** Where the element begins (its type byte). */
  start = 0;
  /** Where its value begins and ends; the name is the bytes from `start + 1` to `pos - 1`. */
  pos = 0;
  end: number;

  constructor(buf: Buffer, doc: number) {
    this.buf = buf;
    this.end = doc + 4;
  }

  next(): boolean {
    const start = this.end;
    const type = byteAt(this.buf, start);
    if (type === 0) return false;
    this.start = start;
    this.type = type;
    this.pos = nameEnd(this.buf, start + 1) + 1;
    this.end = nextElement(type, this.buf, this.pos);
    return true;
  }

  name(): string {
    return textAt(this.buf, this.start + 1, this.pos - 1);
  }

  value(): Value {
    return { type: this.type, buf: this.buf, pos: this.pos };
  }
}

/** A cache of names by a hash of their bytes: few names repeat, and a new string costs more than comparing bytes. */
const NAMES: (string | undefined)[] = new Array(1024).fill(undefined);
const LONGEST_CACHED = 40;

function textAt(buf: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > LONGEST_CACHED) return buf.toString('utf8', start, end);
  let hash = length;
  for (let i = start; i < end; i++) hash = (hash * 31 + byteAt(buf, i)) | 0;
  const slot = hash & 1023;
  const known = NAMES[slot];
  if (known !== undefined && known.length === length) {
    let i = 0;
    while (i < length && known.charCodeAt(i) === buf[start + i]) i++;
    if (i === length) return known; // a byte above 127 never equals: those names are made anew
  }
  const text = buf.toString('utf8', start, end);
  if (text.length === length) NAMES[slot] = text;
  return text;
}

export function isContainer(type: number): boolean {
  return type === TYPE.object || type === TYPE.array;
}

export function isEmptyContainer(buf: Buffer, pos: number): boolean {
  return byteAt(buf, pos + 4) === 0;
}

/** Not copied. */
export function documentBytes(value: Value): Buffer {
  return value.buf.subarray(value.pos, value.pos + int32At(value.buf, value.pos));
}

/** The values in an array or object; none of a missing one. */
export function valuesOf(container: Value): Value[] {
  const out: Value[] = [];
  if (container.type === TYPE.missing) return out;
  const elements = new Elements(container.buf, container.pos);
  while (elements.next()) out.push(elements.value());
  return out;
}

/** mongod's limit on nested documents (`BSONDepth::kDefaultMaxAllowableDepth`). */
export const MAX_DEPTH = 200;

/** Results of `validDocumentEnd` for too deep nesting, and for a value that only MongoDB keeps; other faults are -1. */
export const TOO_DEEP = -2;
const NOT_KEPT = -3;
/** Undefined, regular expression, DBPointer, code, symbol, code with scope, timestamp, Decimal128, MaxKey, MinKey. */
const TYPES_NOT_KEPT: ReadonlySet<number> = new Set([6, 11, 12, 13, 14, 15, 17, 19, 127, 255]);

/**
 * Checks the structure of the document at `pos`, which must end at or before `limit`: lengths, known types,
 * terminators, depth. Done once, when it arrives; all later code reads without checking. Returns the document's end;
 * below 0 when it is invalid.
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
