import { randomBytes } from 'node:crypto';
import { byteAt, Elements, int32At, TYPE, type Value } from './read.ts';

/** Creates and reads single values. A value of the wrong type gives undefined; the caller knows the right error. */

export function isNumber(type: number): boolean {
  return type === TYPE.int32 || type === TYPE.double || type === TYPE.int64;
}

export function asNumber({ type, buf, pos }: Value): number | undefined {
  switch (type) {
    case TYPE.int32:
      return int32At(buf, pos);
    case TYPE.double:
      return buf.readDoubleLE(pos);
    case TYPE.int64:
      return Number(buf.readBigInt64LE(pos));
    default:
      return undefined;
  }
}

export function asString({ type, buf, pos }: Value): string | undefined {
  return type === TYPE.string ? stringAt(buf, pos) : undefined;
}

export function stringAt(buf: Buffer, pos: number): string {
  return buf.toString('utf8', pos + 4, pos + 3 + int32At(buf, pos));
}

/** mongod's "safe bool" of command options: booleans, and numbers that are not zero. */
export function asFlag(value: Value): boolean | undefined {
  if (value.type === TYPE.bool) return byteAt(value.buf, value.pos) === 1;
  const number = asNumber(value);
  return number === undefined ? undefined : number !== 0;
}

/** Truth as expressions and projections see it: null, missing, undefined, false and zero are false. */
export function isTruthy(value: Value): boolean {
  switch (value.type) {
    case TYPE.missing:
    case TYPE.null:
    case TYPE.undefined:
      return false;
    case TYPE.bool:
      return byteAt(value.buf, value.pos) === 1;
    default:
      return asNumber(value) !== 0;
  }
}

export function isNullish(type: number): boolean {
  return type === TYPE.null || type === TYPE.missing || type === TYPE.undefined;
}

export const NULL: Value = { type: TYPE.null, buf: Buffer.alloc(0), pos: 0 };
export const TRUE: Value = { type: TYPE.bool, buf: Buffer.from([1]), pos: 0 };
export const FALSE: Value = { type: TYPE.bool, buf: Buffer.from([0]), pos: 0 };

export function int32(number: number): Value {
  const buf = Buffer.allocUnsafe(4);
  buf.writeInt32LE(number, 0);
  return { type: TYPE.int32, buf, pos: 0 };
}

export function int64(number: bigint): Value {
  const buf = Buffer.allocUnsafe(8);
  buf.writeBigInt64LE(number, 0);
  return { type: TYPE.int64, buf, pos: 0 };
}

export function double(number: number): Value {
  const buf = Buffer.allocUnsafe(8);
  buf.writeDoubleLE(number, 0);
  return { type: TYPE.double, buf, pos: 0 };
}

export function date(ms: number | bigint): Value {
  const buf = Buffer.allocUnsafe(8);
  buf.writeBigInt64LE(BigInt(ms), 0);
  return { type: TYPE.date, buf, pos: 0 };
}

export function string(text: string): Value {
  const size = Buffer.byteLength(text);
  const buf = Buffer.allocUnsafe(size + 5);
  buf.writeInt32LE(size + 1, 0);
  buf.write(text, 4, 'utf8');
  buf[size + 4] = 0;
  return { type: TYPE.string, buf, pos: 0 };
}

export function object(doc: Buffer): Value {
  return { type: TYPE.object, buf: doc, pos: 0 };
}

const PROCESS_PART = randomBytes(5);
let counter = randomBytes(3).readUIntBE(0, 3);

/** A new ObjectId (4 bytes of seconds, 5 random per process, 3 counting), for documents inserted without `_id`. */
export function newObjectId(nowMs: number): Value {
  const buf = Buffer.allocUnsafe(12);
  counter = (counter + 1) & 0xffffff;
  buf.writeUInt32BE(Math.floor(nowMs / 1000) >>> 0, 0);
  PROCESS_PART.copy(buf, 4);
  buf.writeUIntBE(counter, 9, 3);
  return { type: TYPE.objectId, buf, pos: 0 };
}

const TYPE_NAMES: Readonly<Record<number, string>> = {
  [TYPE.missing]: 'missing',
  [TYPE.double]: 'double',
  [TYPE.string]: 'string',
  [TYPE.object]: 'object',
  [TYPE.array]: 'array',
  [TYPE.binary]: 'binData',
  [TYPE.objectId]: 'objectId',
  [TYPE.bool]: 'bool',
  [TYPE.date]: 'date',
  [TYPE.null]: 'null',
  [TYPE.int32]: 'int',
  [TYPE.int64]: 'long',
};

export function typeName(type: number): string {
  return TYPE_NAMES[type] ?? 'unknown';
}

/** A value as error messages show it, in the shell's manner: `{ a: 1, b: "x" }`. */
export function show(value: Value): string {
  const { type, buf, pos } = value;
  switch (type) {
    case TYPE.string:
      return JSON.stringify(stringAt(buf, pos));
    case TYPE.object:
    case TYPE.array: {
      const parts: string[] = [];
      const elements = new Elements(buf, pos);
      while (elements.next()) parts.push((type === TYPE.object ? `${elements.name()}: ` : '') + show(elements.value()));
      if (type === TYPE.array) return parts.length === 0 ? '[]' : `[ ${parts.join(', ')} ]`;
      return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
    }
    case TYPE.objectId:
      return `ObjectId('${buf.toString('hex', pos, pos + 12)}')`;
    case TYPE.bool:
      return String(byteAt(buf, pos) === 1);
    case TYPE.date:
      return `new Date(${buf.readBigInt64LE(pos)})`;
    case TYPE.null:
      return 'null';
    case TYPE.int64:
      return String(buf.readBigInt64LE(pos));
    case TYPE.double: {
      const number = buf.readDoubleLE(pos);
      return Number.isInteger(number) ? number.toFixed(1) : String(number);
    }
    case TYPE.int32:
      return String(int32At(buf, pos));
    default:
      return `<${typeName(type)}>`;
  }
}
