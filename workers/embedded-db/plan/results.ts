import { beginEffort } from '../bson/effort.ts';
import { malformed, notSupported, StoreError } from '../bson/errors.ts';
import { KeyBuffer } from '../bson/key.ts';
import { Sum } from '../bson/number.ts';
import { Elements, int32At, TYPE, type Value } from '../bson/read.ts';
import { isNumber, NULL } from '../bson/value.ts';
import { BsonWriter } from '../bson/write.ts';
import { type Expression, type ExpressionContext, parseExpression } from '../query/expression.ts';
import type { Projection } from '../query/projection.ts';
import { compareSortKeys, type SortField, type SortKey, sortKey } from '../query/sort.ts';
import { PAUSE, type Scan } from './scan.ts';

/** Documents one by one, created on demand; undefined at the end, `PAUSE` in the middle of long work. */
export interface Results {
  next(): Buffer | undefined | typeof PAUSE;
}

export function fromScan(scan: Scan): Results {
  return {
    next() {
      const hit = scan.next();
      return hit === undefined || hit === PAUSE ? hit : hit.doc;
    },
  };
}

export function fromList(docs: readonly Buffer[]): Results {
  let at = 0;
  return {
    next() {
      beginEffort();
      return docs[at++];
    },
  };
}

export function projected(inner: Results, projection: Projection | undefined): Results {
  if (projection === undefined) return inner;
  return {
    next() {
      const doc = inner.next();
      return doc === undefined || doc === PAUSE ? doc : projection(doc);
    },
  };
}

/** `limit` 0 is none. */
export function window(inner: Results, skip: number, limit: number): Results {
  if (skip === 0 && limit === 0) return inner;
  let skipped = 0;
  let given = 0;
  return {
    next() {
      while (limit === 0 || given < limit) {
        const doc = inner.next();
        if (doc === undefined || doc === PAUSE) return doc;
        if (skipped < skip) {
          skipped++;
          continue;
        }
        given++;
        return doc;
      }
      return undefined;
    },
  };
}

/** Most memory of a sort or a group, as in mongod (which would then use its disk). */
const MAX_MEMORY_BYTES = 100 * 1024 * 1024;

function memoryLimit(bytes: number, what: string): void {
  if (bytes <= MAX_MEMORY_BYTES) return;
  throw new StoreError(
    292,
    `${what} exceeded memory limit of ${MAX_MEMORY_BYTES} bytes, and the embedded store does not use the disk for it. An index would help.`,
  );
}

/** Reads `inner` to its end, then gives the documents of `finish`. */
function collecting(inner: Results, take: (doc: Buffer) => void, finish: () => Iterator<Buffer>): Results {
  let made: Iterator<Buffer> | undefined;
  let given = 0;
  return {
    next() {
      while (made === undefined) {
        const doc = inner.next();
        if (doc === PAUSE) return PAUSE;
        if (doc === undefined) made = finish();
        else take(doc);
      }
      if (++given % PAUSE_EVERY === 0) return PAUSE;
      const { value, done } = made.next();
      return done === true ? undefined : value;
    },
  };
}

const PAUSE_EVERY = 1_000;

interface Row {
  readonly doc: Buffer;
  readonly key: SortKey;
  readonly place: number;
}

type Order = (a: Row, b: Row) => number;
type Run = readonly Row[];

/** Rows that are sorted or merged between two pauses: a few milliseconds. */
const RUN_ROWS = 1_000;
/** A run ends earlier when its documents are large. */
const RUN_BYTES = 8 * 1024 * 1024;
/** When documents that are not among the first `keep` are forgotten, however few they are. */
const TRIM_BYTES = 32 * 1024 * 1024;
/** The memory that a row takes beside its document. */
const ROW_BYTES = 200;

/** Sorts in memory, with pauses: runs of a thousand, merged in pairs. With `keep`, holds little more than those. */
export function sorted(inner: Results, fields: readonly SortField[], keep: number): Results {
  if (fields.length === 0) return inner;
  const rows = sortedRows(inner, fields, keep);
  return {
    next() {
      const { value, done } = rows.next();
      if (done === true || value === undefined) return undefined;
      return value === PAUSE ? PAUSE : value.doc;
    },
  };
}

function* sortedRows(inner: Results, fields: readonly SortField[], keep: number): Generator<Row | typeof PAUSE, void> {
  const order: Order = (a, b) => compareSortKeys(fields, a.doc, a.key, b.doc, b.key) || a.place - b.place;
  const kept = keep > 0 ? keep : Number.MAX_SAFE_INTEGER;
  let runs: Run[] = [];
  let run: Row[] = [];
  let runBytes = 0;
  let held = 0;
  let bytes = 0;
  let trimAt = TRIM_BYTES;
  for (let place = 0; ; ) {
    const doc = inner.next();
    if (doc === undefined) break;
    if (doc === PAUSE) {
      yield PAUSE;
      continue;
    }
    run.push({ doc, key: sortKey(fields, doc), place: place++ });
    held++;
    runBytes += bytesOf(doc);
    bytes += bytesOf(doc);
    if (run.length < RUN_ROWS && runBytes < RUN_BYTES) continue;
    runs.push(run.sort(order));
    run = [];
    runBytes = 0;
    if (held > kept * 2 + RUN_ROWS || (held > kept && bytes > trimAt)) {
      const all = yield* merged(runs, order, kept);
      runs = [all];
      held = all.length;
      bytes = all.reduce((sum, row) => sum + bytesOf(row.doc), 0);
      trimAt = Math.max(TRIM_BYTES, bytes * 1.5);
    }
    memoryLimit(bytes, 'Sort');
  }
  memoryLimit(bytes, 'Sort');
  runs.push(run.sort(order));
  yield* yield* merged(runs, order, kept);
}

function bytesOf(doc: Buffer): number {
  return int32At(doc, 0) + ROW_BYTES;
}

function* merged(all: readonly Run[], order: Order, keep: number): Generator<typeof PAUSE, Run> {
  let runs = all;
  while (runs.length > 1) {
    const fewer: Run[] = [];
    for (let i = 0; i < runs.length; i += 2)
      fewer.push(yield* mergedTwo(runs[i] ?? [], runs[i + 1] ?? [], order, keep));
    runs = fewer;
  }
  return (runs[0] ?? []).slice(0, keep);
}

function* mergedTwo(a: Run, b: Run, order: Order, keep: number): Generator<typeof PAUSE, Run> {
  if (b.length === 0) return a;
  const out: Row[] = [];
  for (let i = 0, k = 0; out.length < keep; ) {
    const [left, right] = [a[i], b[k]];
    const takeLeft = left !== undefined && (right === undefined || order(left, right) <= 0);
    const next = takeLeft ? left : right;
    if (next === undefined) break;
    if (takeLeft) i++;
    else k++;
    out.push(next);
    if (out.length % RUN_ROWS === 0) yield PAUSE;
  }
  return out;
}

interface Field {
  readonly name: string;
  readonly expression: Expression;
}

export function parseGroup(spec: Value, context: ExpressionContext): (inner: Results) => Results {
  let id: Expression | undefined;
  const fields: Field[] = [];
  const elements = new Elements(spec.buf, spec.pos);
  while (elements.next()) {
    const name = elements.name();
    if (name !== '_id') fields.push(parseField(name, elements.value()));
    else id = parseExpression(elements.value());
  }
  if (id === undefined) throw malformed('a group specification must include an _id');
  const by = id;
  return (inner) => grouped(inner, by, fields, context);
}

function parseField(name: string, value: Value): Field {
  if (value.type !== TYPE.object || name.includes('.') || name.startsWith('$'))
    throw malformed(`no accumulator: ${name}`);
  const elements = new Elements(value.buf, value.pos);
  const operator = elements.next() ? elements.name() : '';
  const operand = elements.value();
  if (operator !== '$sum' || operand.type === TYPE.array || elements.next())
    throw notSupported(`The accumulator ${operator}`);
  return { name, expression: parseExpression(operand) };
}

interface Group {
  readonly id: Value;
  readonly sums: readonly Sum[];
}

/** Bytes that a group costs beside its values; a guess on the safe side. */
const GROUP_BYTES = 200;

function grouped(inner: Results, by: Expression, fields: readonly Field[], context: ExpressionContext): Results {
  const groups = new Map<string, Group>();
  const key = new KeyBuffer();
  let bytes = 0;
  return collecting(
    inner,
    (doc) => {
      const scope = { buf: doc, pos: 0, context };
      const found = by(scope);
      const id = found.type === TYPE.missing ? NULL : found;
      key.start(0).append(id.type, id.buf, id.pos);
      const text = key.view().toString('latin1');
      let group = groups.get(text);
      if (group === undefined) {
        group = { id, sums: fields.map(() => new Sum()) };
        groups.set(text, group);
        bytes += GROUP_BYTES + doc.length;
        memoryLimit(bytes, 'Group');
      }
      for (const [i, field] of fields.entries()) {
        const value = field.expression(scope);
        if (isNumber(value.type)) group.sums[i]?.add(value); // as in mongod, what is no number adds nothing
      }
    },
    () => groupDocuments(groups.values(), fields),
  );
}

function* groupDocuments(groups: Iterable<Group>, fields: readonly Field[]): Generator<Buffer, void> {
  for (const group of groups) yield groupDocument(group, fields);
}

function groupDocument(group: Group, fields: readonly Field[]): Buffer {
  const out = new BsonWriter(256);
  const handle = out.begin();
  out.value('_id', group.id);
  for (const [i, field] of fields.entries()) out.value(field.name, group.sums[i]?.value() ?? NULL);
  return out.finish(handle);
}
