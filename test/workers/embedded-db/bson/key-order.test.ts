import { Binary, Double, Int32, Long, ObjectId, serialize } from 'bson';
import fc from 'fast-check';
import { KeyBuffer } from '../../../../workers/embedded-db/bson/key.ts';
import { compare } from '../../../../workers/embedded-db/bson/order.ts';
import { fieldOf, type Value, validDocumentEnd } from '../../../../workers/embedded-db/bson/read.ts';

const nearNumbers = fc.constantFrom(
  new Int32(0),
  new Double(-0),
  new Double(0.1),
  new Double(2 ** 53),
  Long.fromString('9007199254740993'),
  new Double(Number.NaN),
  new Double(Infinity),
  Long.fromString('-9007199254740993'),
  Long.MAX_VALUE,
  Long.MIN_VALUE,
  new Double(2 ** 63),
);
const scalar: fc.Arbitrary<unknown> = fc.oneof(
  nearNumbers,
  fc.integer().map((n) => new Int32(n | 0)),
  fc.double().map((n) => new Double(n)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => Long.fromBigInt(n)),
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom('a', '\0', '\u0001', 'ÿ'), { maxLength: 4 }).map((parts) => parts.join('')),
  fc.constantFrom(null, true, false),
  fc.integer({ min: -5, max: 5 }).map((ms) => new Date(ms)),
  fc.uint8Array({ maxLength: 4 }).map((bytes) => new Binary(bytes)),
  fc.uint8Array({ minLength: 12, maxLength: 12 }).map((bytes) => new ObjectId(bytes)),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { weight: 6, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('a', 'b', 'ab', ''), tie('value'), { maxKeys: 3 }) },
  ),
}));

function encoded(content: unknown): Value {
  const bytes = Buffer.from(serialize({ v: content }));
  expect(validDocumentEnd(bytes, 0, bytes.length)).to.equal(bytes.length);
  return fieldOf(bytes, 0, Buffer.from('v'));
}

/** A key as the store makes it: a byte from 01 to FE always follows the last component. */
function key(values: readonly Value[], descending: boolean): Buffer {
  return Buffer.concat([components(values, descending), Buffer.from([1])]);
}

function components(values: readonly Value[], descending: boolean): Buffer {
  const buffer = new KeyBuffer().start(1);
  for (const one of values) buffer.append(one.type, one.buf, one.pos, descending);
  return buffer.copy();
}

describe('embedded-db keys', () => {
  it('order as their values do, upwards and downwards', () => {
    fc.assert(
      fc.property(value, value, (a, b) => {
        const [x, y] = [encoded(a), encoded(b)];
        const order = Math.sign(compare(x, y));

        expect(Math.sign(Buffer.compare(key([x], false), key([y], false)))).to.equal(order);
        expect(Math.sign(Buffer.compare(key([x], true), key([y], true)))).to.equal(order === 0 ? 0 : -order);
      }),
      { numRuns: 3000 },
    );
  });

  it('of several components order by the first that differs', () => {
    fc.assert(
      fc.property(scalar, scalar, scalar, scalar, (a, b, c, d) => {
        const [w, x, y, z] = [encoded(a), encoded(b), encoded(c), encoded(d)];
        const order = Math.sign(compare(w, y) || compare(x, z));

        expect(Math.sign(Buffer.compare(key([w, x], false), key([y, z], false)))).to.equal(order);
      }),
      { numRuns: 2000 },
    );
  });

  it('with a common beginning lie between it and it followed by FF', () => {
    fc.assert(
      fc.property(value, value, value, fc.boolean(), (a, b, c, descending) => {
        const [x, y, z] = [encoded(a), encoded(b), encoded(c)];
        const start = components([x], descending);
        const end = Buffer.concat([start, Buffer.from([0xff])]);
        const other = key([y, z], descending);
        const inside = Buffer.compare(other, start) >= 0 && Buffer.compare(other, end) < 0;

        // A descending string that goes on after a NUL lies inside too; queries check the document again.
        if (compare(x, y) === 0) expect(inside).to.equal(true);
        else if (!descending) expect(inside).to.equal(false);
      }),
      { numRuns: 2000 },
    );
  });

  it('are a total order', () => {
    fc.assert(
      fc.property(value, value, value, (a, b, c) => {
        const [x, y, z] = [encoded(a), encoded(b), encoded(c)];

        expect(compare(x, x)).to.equal(0);
        expect(Math.sign(compare(x, y))).to.equal(-Math.sign(compare(y, x)) || 0);
        if (compare(x, y) <= 0 && compare(y, z) <= 0) expect(compare(x, z)).to.be.at.most(0);
      }),
      { numRuns: 2000 },
    );
  });
});
