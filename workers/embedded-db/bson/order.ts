import { compareNumbers } from './number.ts';
import { byteAt, int32At, TYPE, type Value, valueEnd } from './read.ts';

/**
 * The order of all BSON values as in mongod's `woCompare`: by rank of type, then by value; numbers of all types are one
 * rank. A missing field counts as null; where the difference matters, callers look at the type first.
 */
const RANK = new Uint8Array(256);
for (const [type, rank] of [
  [TYPE.undefined, 3],
  [TYPE.missing, 5],
  [TYPE.null, 5],
  [TYPE.double, 10],
  [TYPE.int32, 10],
  [TYPE.int64, 10],
  [TYPE.string, 15],
  [TYPE.object, 20],
  [TYPE.array, 25],
  [TYPE.binary, 30],
  [TYPE.objectId, 35],
  [TYPE.bool, 40],
  [TYPE.date, 45],
] as const) {
  RANK[type] = rank;
}

/** 3 … 45: also the first byte of a value in an index key. */
export function rankOf(type: number): number {
  return byteAt(RANK as Buffer, type); // a 256-byte table indexed by a byte
}

export function compare(a: Value, b: Value): number {
  return compareAt(a.type, a.buf, a.pos, b.type, b.buf, b.pos);
}

export function compareAt(ta: number, a: Buffer, pa: number, tb: number, b: Buffer, pb: number): number {
  const rank = rankOf(ta);
  const other = rankOf(tb);
  if (rank !== other) return rank < other ? -1 : 1;
  switch (ta) {
    case TYPE.double:
    case TYPE.int32:
    case TYPE.int64:
      return compareNumbers(ta, a, pa, tb, b, pb);
    case TYPE.string:
      return compareBytes(a, pa + 4, pa + 3 + int32At(a, pa), b, pb + 4, pb + 3 + int32At(b, pb));
    case TYPE.object:
    case TYPE.array:
      return compareContainers(ta, a, pa, b, pb);
    case TYPE.binary: {
      const length = int32At(a, pa) - int32At(b, pb);
      if (length !== 0) return length;
      return compareBytes(a, pa + 4, valueEnd(ta, a, pa), b, pb + 4, valueEnd(tb, b, pb)); // subtype, then bytes
    }
    case TYPE.bool:
      return byteAt(a, pa) - byteAt(b, pb);
    case TYPE.date: {
      const difference = a.readBigInt64LE(pa) - b.readBigInt64LE(pb);
      return difference < 0n ? -1 : difference > 0n ? 1 : 0;
    }
    case TYPE.objectId:
      return compareBytes(a, pa, valueEnd(ta, a, pa), b, pb, valueEnd(tb, b, pb));
    default:
      return 0; // null, missing, undefined: one value each
  }
}

export function equals(a: Value, b: Value): boolean {
  return compareAt(a.type, a.buf, a.pos, b.type, b.buf, b.pos) === 0;
}

function compareBytes(a: Buffer, startA: number, endA: number, b: Buffer, startB: number, endB: number): number {
  const lengthA = endA - startA;
  const lengthB = endB - startB;
  const shared = Math.min(lengthA, lengthB);
  if (shared > 64) return a.compare(b, startB, endB, startA, endA);
  for (let i = 0; i < shared; i++) {
    const difference = byteAt(a, startA + i) - byteAt(b, startB + i);
    if (difference !== 0) return difference;
  }
  return lengthA - lengthB;
}

/** Element by element: rank of the value, then (objects) the name, then the value; the shorter one is smaller. */
function compareContainers(type: number, a: Buffer, docA: number, b: Buffer, docB: number): number {
  let atA = docA + 4;
  let atB = docB + 4;
  for (;;) {
    const ta = byteAt(a, atA);
    const tb = byteAt(b, atB);
    if (ta === 0 || tb === 0) return ta === tb ? 0 : ta === 0 ? -1 : 1;
    const rank = rankOf(ta) - rankOf(tb);
    if (rank !== 0) return rank;
    const nameA = atA + 1;
    const nameB = atB + 1;
    let endA = nameA;
    while (a[endA] !== 0) endA++;
    let endB = nameB;
    while (b[endB] !== 0) endB++;
    if (type === TYPE.object) {
      const name = compareBytes(a, nameA, endA, b, nameB, endB);
      if (name !== 0) return name;
    }
    const value = compareAt(ta, a, endA + 1, tb, b, endB + 1);
    if (value !== 0) return value;
    atA = valueEnd(ta, a, endA + 1);
    atB = valueEnd(tb, b, endB + 1);
  }
}
