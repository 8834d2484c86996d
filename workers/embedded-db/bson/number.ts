import { int32At, TYPE, type Value } from './read.ts';
import { double, int32, int64 } from './value.ts';

/**
 * Numbers of three types compare by their exact value, whatever their type (so an int64 beyond 2^53 keeps its order).
 * Arithmetic gives mongod's type: int32, widened to int64 when it does not fit, double if either is one.
 */

/** Negative, zero or positive; NaN is the lowest number and equals itself. */
export function compareNumbers(ta: number, a: Buffer, pa: number, tb: number, b: Buffer, pb: number): number {
  if (ta === TYPE.int32 && tb === TYPE.int32) return int32At(a, pa) - int32At(b, pb);
  const x = numberAt(ta, a, pa);
  const y = numberAt(tb, b, pb);
  if (x < y) return -1; // of a number and a bigint too this is exact
  if (x > y) return 1;
  return Number(Number.isNaN(y)) - Number(Number.isNaN(x));
}

function numberAt(type: number, buf: Buffer, pos: number): number | bigint {
  if (type === TYPE.int32) return int32At(buf, pos);
  return type === TYPE.int64 ? buf.readBigInt64LE(pos) : buf.readDoubleLE(pos);
}

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

type Arithmetic = 'add' | 'subtract';

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

function fitsInt64(number: bigint): boolean {
  return number >= INT64_MIN && number <= INT64_MAX;
}

function onNumbers(operation: Arithmetic, x: number, y: number): number {
  return operation === 'add' ? x + y : x - y;
}

function toDouble({ type, buf, pos }: Value): number {
  return Number(numberAt(type, buf, pos));
}

function toInteger({ type, buf, pos }: Value): bigint {
  return BigInt(numberAt(type, buf, pos));
}

/** Below this a sum of int32s is exact as a JavaScript number, whatever comes next. */
const SAFE = 2 ** 52;

/** A sum as mongod makes it, of integers exactly. An int32 that does not fit becomes int64, and an int64 a double. */
export class Sum {
  private small = 0;
  private integers = 0n;
  private doubles: number | undefined;
  private wide = false;

  /** The value must be a number. */
  add({ type, buf, pos }: Value): void {
    if (type === TYPE.int32) {
      this.small += int32At(buf, pos);
      if (Math.abs(this.small) > SAFE) this.flush();
    } else if (type === TYPE.int64) {
      this.wide = true;
      this.integers += buf.readBigInt64LE(pos);
    } else {
      this.doubles = (this.doubles ?? 0) + buf.readDoubleLE(pos);
    }
  }

  private flush(): void {
    this.integers += BigInt(this.small);
    this.small = 0;
  }

  value(): Value {
    if (this.doubles === undefined && !this.wide && this.integers === 0n && (this.small | 0) === this.small) {
      return int32(this.small);
    }
    this.flush();
    if (this.doubles !== undefined) return double(this.doubles + Number(this.integers));
    if (!this.wide && BigInt.asIntN(32, this.integers) === this.integers) return int32(Number(this.integers));
    return fitsInt64(this.integers) ? int64(this.integers) : double(Number(this.integers));
  }
}
