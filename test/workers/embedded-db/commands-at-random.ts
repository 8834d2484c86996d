import { Binary, Decimal128, type Document, Double, Long, ObjectId } from 'bson';
import type { Prng } from '../../support/prng.ts';

/** From 0 (included) to 1 (excluded). */
type Random = () => number;

/** The database of all these commands, with few collections and fields, so that commands meet each other's data. */
export const DB = 'fuzz';
const COLLECTIONS = ['a', 'b', 'c.d'];
const FIELDS = ['_id', 'a', 'b', 'a.b', 'a.c', 'a.0', 'a.b.c', 'n', 'tags', 'tags.0', 'x'];
const ODD_NAMES = ['', '.', 'a.', '.a', 'a..b', '$x', '$', 'a.$', 'a.$[]', '$**', '0', '__proto__', 'constructor'];

/** Any kind of command, well formed as a whole, but often with one wrong value. */
export function commandAtRandom(prng: Prng): Document {
  const random: Random = () => prng.fraction();
  const make = pick(random, COMMANDS)(random);
  const bent = random() < 0.4 ? bend(random, make) : make;
  return { ...bent, $db: random() < 0.97 ? DB : oddText(random) };
}

function pick<T>(random: Random, choices: readonly T[]): T {
  const chosen = choices[Math.floor(random() * choices.length)];
  if (chosen === undefined) throw new Error('nothing to choose from');
  return chosen;
}

const COMMANDS: readonly ((random: Random) => Document)[] = [
  (r) => ({ insert: name(r), documents: list(r, document), ordered: flag(r) }),
  (r) => ({ insert: name(r), documents: list(r, document), ordered: flag(r) }),
  (r) => ({ update: name(r), updates: list(r, updateStatement), ordered: flag(r) }),
  (r) => ({ update: name(r), updates: list(r, updateStatement), ordered: flag(r) }),
  (r) => ({ delete: name(r), deletes: list(r, (x) => ({ q: filter(x), limit: pick(x, [0, 1]) })) }),
  (r) => ({ findAndModify: name(r), query: filter(r), sort: sort(r), fields: projection(r), ...modification(r) }),
  (r) => ({ find: name(r), filter: filter(r), sort: sort(r), projection: projection(r), limit: pick(r, [0, 1, 5]) }),
  (r) => ({ find: name(r), filter: filter(r), hint: hint(r), skip: pick(r, [0, 3]), batchSize: pick(r, [0, 2, 100]) }),
  (r) => ({ getMore: Long.fromNumber(Math.floor(r() * 1e6)), collection: name(r) }),
  (r) => ({ killCursors: name(r), cursors: [Long.fromNumber(5)] }),
  (r) => ({ count: name(r), query: filter(r), limit: pick(r, [0, 2]) }),
  (r) => ({ distinct: name(r), key: field(r), query: filter(r) }),
  (r) => ({ aggregate: name(r), pipeline: list(r, stage), cursor: {} }),
  (r) => ({ createIndexes: name(r), indexes: list(r, indexSpec) }),
  (r) => ({ dropIndexes: name(r), index: hint(r) }),
  (r) => ({ listIndexes: name(r) }),
  (r) => ({ collMod: name(r), index: { name: 'a_1', expireAfterSeconds: pick(r, [5, 1e9, -1, Number.NaN]) } }),
  (r) => (r() < 0.2 ? { drop: name(r) } : { listCollections: 1, filter: filter(r) }),
  (r) => ({ renameCollection: `${DB}.${name(r)}`, to: `${DB}.${name(r)}`, dropTarget: flag(r) }),
  (r) => ({ listDatabases: 1, filter: filter(r) }),
  () => ({ hello: 1 }),
  () => ({ serverStatus: 1 }),
];

function name(random: Random): string {
  return random() < 0.97 ? pick(random, COLLECTIONS) : oddText(random);
}

function field(random: Random): string {
  return random() < 0.95 ? pick(random, FIELDS) : pick(random, ODD_NAMES);
}

function flag(random: Random): boolean {
  return random() < 0.5;
}

function list<T>(random: Random, make: (random: Random) => T): T[] {
  return Array.from({ length: 1 + Math.floor(random() * 3) }, () => make(random));
}

function fieldsOf(random: Random, make: (random: Random) => unknown): Document {
  return Object.fromEntries(list(random, (r) => [field(r), make(r)]));
}

function document(random: Random): Document {
  const doc: Document = { _id: random() < 0.8 ? Math.floor(random() * 40) : value(random) };
  for (const key of ['a', 'b', 'n', 'tags', 'x']) if (random() < 0.6) doc[key] = value(random);
  return doc;
}

function oddText(random: Random): string {
  return pick(random, [
    '',
    'a\0b',
    '\0',
    '$',
    '$$',
    '$$ROOT',
    '$a\0',
    '.',
    'é'.repeat(200),
    'x'.repeat(8000),
    '\ud800',
    '$$NOW.a',
  ]);
}

function value(random: Random, depth = 0): unknown {
  const kinds = depth < 3 ? VALUES.length : VALUES.length - 2;
  return VALUES[Math.floor(random() * kinds)]?.(random, depth);
}

/** Makers of values; those of arrays and objects come last. */
const VALUES: readonly ((random: Random, depth: number) => unknown)[] = [
  (r) => Math.floor(r() * 10),
  (r) => pick(r, [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -1e308, 2 ** 53, -1]),
  (r) => new Double(pick(r, [0, Number.NaN, 1e-320])),
  (r) => pick(r, [Long.MIN_VALUE, Long.MAX_VALUE, Long.fromNumber(7)]),
  (r) => pick(r, ['', 'text', 'a', '$a', '$$REMOVE', '5']),
  oddText,
  () => null,
  flag,
  (r) => new Date(pick(r, [0, 1e12, -1, 8.64e15])),
  () => new ObjectId('0123456789abcdef01234567'),
  () => new Binary(Buffer.from('bin'), 0),
  // Refused in every command.
  (r) => (r() < 0.1 ? Decimal128.fromString('1.50') : pick(r, ['^t', '(a+)+$', '[', '\\'])),
  (r) => 'x'.repeat(Math.floor(r() * 2000)),
  (r, depth) => Array.from({ length: Math.floor(r() * 4) }, () => value(r, depth + 1)),
  (r, depth) => Object.fromEntries(list(r, (x) => [pick(x, ['a', 'b', 'c', '0', '$gt']), value(x, depth + 1)])),
];

const TESTS = '$eq $ne $gt $gte $lt $lte $in $nin $exists $type $regex $not $size $all $elemMatch $mod'.split(' ');

function filter(random: Random, depth = 0): Document {
  const roll = random();
  if (roll < 0.2) return {};
  if (roll < 0.5) return fieldsOf(random, (r) => value(r));
  if (roll < 0.85) return fieldsOf(random, (r) => ({ [pick(r, TESTS)]: operand(r) }));
  if (depth > 2) return { $expr: expression(random) };
  return { [pick(random, ['$and', '$or', '$nor'])]: list(random, (r) => filter(r, depth + 1)) };
}

function operand(random: Random): unknown {
  return random() < 0.4 ? list(random, (r) => value(r)) : random() < 0.3 ? filter(random, 2) : value(random);
}

const EXPRESSIONS =
  '$add $multiply $subtract $cond $ifNull $eq $ne $lt $gt $and $or $not $in $max $min $concat $mergeObjects $getField $literal'.split(
    ' ',
  );

function expression(random: Random, depth = 0): unknown {
  const roll = random();
  if (roll < 0.3) return `$${field(random)}`;
  if (roll < 0.6 || depth > 2) return value(random);
  return { [pick(random, EXPRESSIONS)]: list(random, (r) => expression(r, depth + 1)) };
}

const UPDATES =
  '$set $setOnInsert $unset $inc $mul $min $max $push $addToSet $pull $pullAll $pop $rename $currentDate $bit'.split(
    ' ',
  );

function change(random: Random): unknown {
  const roll = random();
  if (roll < 0.1) return document(random);
  if (roll < 0.3) {
    return list(random, (r) =>
      r() < 0.7 ? { $set: fieldsOf(r, expression) } : { $unset: r() < 0.5 ? field(r) : list(r, field) },
    );
  }
  return Object.fromEntries(list(random, (r) => [pick(r, UPDATES), fieldsOf(r, argument)]));
}

function argument(random: Random): unknown {
  const roll = random();
  if (roll < 0.15) return field(random);
  if (roll < 0.25) return { $each: list(random, (r) => value(r)), $slice: pick(random, [-1, 0, 2]), $position: 1 };
  return roll < 0.35 ? { [pick(random, TESTS)]: operand(random) } : value(random);
}

function updateStatement(random: Random): Document {
  return { q: filter(random), u: change(random), multi: flag(random), upsert: random() < 0.3 };
}

function modification(random: Random): Document {
  return random() < 0.2 ? { remove: true } : { update: change(random), new: flag(random), upsert: random() < 0.3 };
}

function sort(random: Random): Document {
  return random() < 0.5 ? {} : fieldsOf(random, (r) => pick(r, [1, -1, 1, -1, 0, 2, 'x', { $meta: 'x' }]));
}

function projection(random: Random): Document {
  return random() < 0.5 ? {} : fieldsOf(random, (r) => pick(r, [1, 0, true, 'x', { $slice: 1 }]));
}

function hint(random: Random): unknown {
  return pick(random, ['a_1', '_id_', { a: 1 }, { _id: 1 }, '*', 'none', ['a_1', 'b_1'], 5, null]);
}

function indexSpec(random: Random): Document {
  const key = Object.fromEntries(list(random, (r) => [field(r), pick(r, [1, -1, 1, 1, 0, 'text', Number.NaN])]));
  const spec: Document = { key, name: `${Object.keys(key)[0]}_1` };
  if (random() < 0.2) spec.unique = true;
  if (random() < 0.2) spec.sparse = true;
  if (random() < 0.2) spec.partialFilterExpression = filter(random);
  if (random() < 0.1) spec.expireAfterSeconds = pick(random, [1e9, -1, Number.NaN, 'x']);
  return spec;
}

function stage(random: Random): Document {
  const make = pick(random, [
    (): Document => ({ $match: filter(random) }),
    (): Document => ({ $sort: sort(random) }),
    (): Document => ({ $skip: pick(random, [0, 2, -1]) }),
    (): Document => ({ $limit: pick(random, [1, 5, 0]) }),
    (): Document => ({ $count: random() < 0.7 ? 'n' : oddText(random) }),
    (): Document => ({ $project: projection(random) }),
    (): Document => ({
      $group: { _id: expression(random), n: { [pick(random, ['$sum', '$push', '$max', '$x'])]: expression(random) } },
    }),
    (): Document => ({ $set: fieldsOf(random, expression) }),
    (): Document => ({ $unset: field(random) }),
  ]);
  return make();
}

/** Replaces one value somewhere inside. */
function bend(random: Random, command: Document): Document {
  const [first = '', ...others] = Object.keys(command);
  const key = random() < 0.2 ? first : pick(random, others.length > 0 ? others : [first]);
  return Object.fromEntries(Object.entries(command).map(([k, v]) => [k, k === key ? bent(random, v) : v]));
}

function bent(random: Random, inside: unknown): unknown {
  if (random() < 0.4) return value(random);
  if (Array.isArray(inside) && inside.length > 0) {
    const at = Math.floor(random() * inside.length);
    return inside.map((one, i) => (i === at ? bent(random, one) : one));
  }
  if (typeof inside !== 'object' || inside === null || Object.getPrototypeOf(inside) !== Object.prototype)
    return value(random);
  const keys = Object.keys(inside);
  return keys.length === 0 ? value(random) : bend(random, inside);
}
