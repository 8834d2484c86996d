import { int32At, TYPE, type Value } from './read.ts';
import { double, int32, int64 } from './value.ts';

/**
 * Numbers of four types compare by their exact value, whatever their type (so an int64 beyond 2^53 keeps its order), and
 * arithmetic gives the type that mongod gives: int32, widened to int64 when it does not fit, double if either is one.
 */

/** Negative, zero or positive; NaN is the lowest number and equals itself. */
export function compareNumbers(ta: number, a: Buffer, pa: number, tb: number, b: Buffer, pb: number): number {
  if (ta === TYPE.int32 && tb === TYPE.int32) return Math.sign(int32At(a, pa) - int32At(b, pb));
  if (ta === TYPE.int64 && tb === TYPE.int64) return sign(a.readBigInt64LE(pa) - b.readBigInt64LE(pb));
  if (ta !== TYPE.decimal && tb !== TYPE.decimal && ta !== TYPE.int64 && tb !== TYPE.int64) {
    return compareDoubles(simpleNumber(ta, a, pa), simpleNumber(tb, b, pb));
  }
  const x = exactNumber(ta, a, pa);
  const y = exactNumber(tb, b, pb);
  if (typeof x === 'number' || typeof y === 'number') {
    return compareDoubles(typeof x === 'number' ? x : 0, typeof y === 'number' ? y : 0);
  }
  return sign(x.over * y.under - y.over * x.under);
}

function simpleNumber(type: number, buf: Buffer, pos: number): number {
  return type === TYPE.int32 ? int32At(buf, pos) : buf.readDoubleLE(pos);
}

function compareDoubles(x: number, y: number): number {
  if (x < y) return -1;
  if (x > y) return 1;
  if (x === y) return 0;
  return Number.isNaN(x) ? (Number.isNaN(y) ? 0 : -1) : 1;
}

function sign(difference: bigint): number {
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** A finite number as an exact fraction; `under` is positive. */
export interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

/** The exact value; a JavaScript number (NaN or an infinity) when it is not finite. */
export function exactNumber(type: number, buf: Buffer, pos: number): Fraction | number {
  if (type === TYPE.int32) return { over: BigInt(int32At(buf, pos)), under: 1n };
  if (type === TYPE.int64) return { over: buf.readBigInt64LE(pos), under: 1n };
  if (type === TYPE.double) return exactDouble(buf.readDoubleLE(pos));
  return exactDecimal(buf, pos);
}

const doubleBits = Buffer.alloc(8);

export function exactDouble(number: number): Fraction | number {
  if (!Number.isFinite(number)) return number;
  if (Number.isInteger(number)) return { over: BigInt(number), under: 1n };
  doubleBits.writeDoubleBE(number);
  const bits = doubleBits.readBigUInt64BE();
  const rawExponent = Number((bits >> 52n) & 0x7ffn);
  const mantissa = (bits & 0xfffffffffffffn) | (rawExponent === 0 ? 0n : 0x10000000000000n);
  const exponent = (rawExponent === 0 ? 1 : rawExponent) - 1075; // negative: integers were answered above
  return { over: bits >> 63n === 0n ? mantissa : -mantissa, under: 1n << BigInt(-exponent) };
}

/** IEEE 754-2008 decimal128 in its binary integer encoding, little endian, as BSON has it. */
function exactDecimal(buf: Buffer, pos: number): Fraction | number {
  const high = buf.readBigUInt64LE(pos + 8);
  const negative = high >> 63n === 1n;
  const combination = Number((high >> 58n) & 0x1fn);
  if (combination === 0x1f) return Number.NaN;
  if (combination === 0x1e) return negative ? -Infinity : Infinity;
  const large = combination >> 3 === 3; // a coefficient above 34 digits: not canonical, counts as zero
  const exponent = Number((high >> (large ? 47n : 49n)) & 0x3fffn) - 6176;
  const magnitude = large ? 0n : ((high & 0x1ffffffffffffn) << 64n) | buf.readBigUInt64LE(pos);
  const coefficient = negative ? -magnitude : magnitude;
  if (exponent >= 0) return { over: coefficient * powerOfTen(exponent), under: 1n };
  return { over: coefficient, under: powerOfTen(-exponent) };
}

/** Up to 6,176. Made once: the largest takes as long as a thousand comparisons. */
const powersOfTen: bigint[] = [];

function powerOfTen(exponent: number): bigint {
  const known = powersOfTen[exponent];
  if (known !== undefined) return known;
  const power = 10n ** BigInt(exponent);
  powersOfTen[exponent] = power;
  return power;
}

/** The nearest double of a fraction; monotonic, which is what keys need. */
export function nearestDouble({ over, under }: Fraction): number {
  if (over === 0n) return 0;
  const magnitude = over < 0n ? -over : over;
  const shift = bitLength(under) - bitLength(magnitude) + 64;
  const quotient = shift >= 0 ? (magnitude << BigInt(shift)) / under : magnitude / (under << BigInt(-shift));
  // In two steps: 2^-shift alone may be outside the range of doubles although the product is inside.
  const half = Math.trunc(-shift / 2);
  const number = Number(quotient) * 2 ** half * 2 ** (-shift - half);
  return over < 0n ? -number : number;
}

function bitLength(number: bigint): number {
  return number.toString(16).length * 4;
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

export type Arithmetic = 'add' | 'subtract';

/** The sum or difference of int32, int64 or double; undefined when an int64 overflows. */
export function arithmetic(operation: Arithmetic, a: Value, b: Value): Value | undefined {
  if (a.type === TYPE.double || b.type === TYPE.double) {
    return double(onNumbers(operation, toDouble(a), toDouble(b)));
  }
  if (a.type === TYPE.int32 && b.type === TYPE.int32) {
    const result = onNumbers(operation, int32At(a.buf, a.pos), int32At(b.buf, b.pos));
    if (result >= -0x80000000 && result <= 0x7fffffff) return int32(result === 0 ? 0 : result);
  }
  const x = toInteger(a);
  const y = toInteger(b);
  const result = operation === 'add' ? x + y : x - y;
  return fitsInt64(result) ? int64(result) : undefined;
}

export function fitsInt64(number: bigint): boolean {
  return number >= INT64_MIN && number <= INT64_MAX;
}

function onNumbers(operation: Arithmetic, x: number, y: number): number {
  return operation === 'add' ? x + y : x - y;
}

function toDouble({ type, buf, pos }: Value): number {
  return type === TYPE.int64 ? Number(buf.readBigInt64LE(pos)) : simpleNumber(type, buf, pos);
}

function toInteger({ type, buf, pos }: Value): bigint {
  return type === TYPE.int64 ? buf.readBigInt64LE(pos) : BigInt(int32At(buf, pos));
}
