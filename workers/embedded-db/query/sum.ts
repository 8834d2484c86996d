import { fitsInt64 } from '../bson/number.ts';
import { int32At, TYPE, type Value } from '../bson/read.ts';
import { double, int32, int64 } from '../bson/value.ts';

/** Below this a sum of int32s is exact as a JavaScript number, whatever comes next. */
const SAFE = 2 ** 52;

/**
 * A sum as mongod makes it: exact for integers, compensated for doubles (ten times 0.1 is 1). Its type is that of the widest
 * number; int32 becomes int64 when it does not fit, and int64 a double.
 */
export class Sum {
  private small = 0;
  private integers = 0n;
  /** The sum of the doubles, unrounded, is `high + low`; undefined as long as there was none. */
  private high: number | undefined;
  private low = 0;
  /** What plain addition gives: right for NaN and infinities. */
  private plain = 0;
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
      this.addDouble(buf.readDoubleLE(pos));
    }
  }

  private flush(): void {
    this.integers += BigInt(this.small);
    this.small = 0;
  }

  private addDouble(x: number): void {
    this.plain += x;
    const [sum, rest] = twoSum(this.high ?? 0, x);
    [this.high, this.low] = twoSum(sum, this.low + rest);
  }

  /** The sum. Call it once, after the last `add`. */
  value(): Value {
    if (this.high === undefined && !this.wide && this.integers === 0n && (this.small | 0) === this.small) {
      return int32(this.small);
    }
    this.flush();
    if (this.high === undefined) {
      const narrow = !this.wide && BigInt.asIntN(32, this.integers) === this.integers;
      if (narrow) return int32(Number(this.integers));
      return fitsInt64(this.integers) ? int64(this.integers) : double(Number(this.integers));
    }
    const whole = Number(this.integers);
    this.addDouble(whole);
    this.addDouble(Number(this.integers - BigInt(whole)));
    return double(Number.isNaN(this.high) ? this.plain : this.high);
  }
}

/** The rounded sum, and exactly what the rounding took away. */
function twoSum(a: number, b: number): [sum: number, rest: number] {
  const sum = a + b;
  const ofB = sum - a;
  return [sum, a - (sum - ofB) + (b - ofB)];
}
