import { int32At } from '../bson/read.ts';
import { compareSortKeys, type SortField, type SortKey, sortKey } from '../query/sort.ts';
import { memoryLimit, type Results } from './results.ts';
import { PAUSE } from './scan.ts';

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
/** What a row takes beside its document. */
const ROW_BYTES = 200;

/**
 * Sorts in memory, in parts with pauses in between: runs of a thousand documents are sorted one by one, then merged by twos. With
 * `keep` it holds little more than the first `keep` documents.
 */
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

/** The first `keep` rows of all runs, in order. */
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
