import { beginEffort } from '../bson/effort.ts';
import { StoreError } from '../bson/errors.ts';
import { int32At } from '../bson/read.ts';
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

export function filtered(inner: Results, matches: (doc: Buffer) => boolean): Results {
  return {
    next() {
      for (;;) {
        const doc = inner.next();
        if (doc === undefined || doc === PAUSE || matches(doc)) return doc;
      }
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

export function memoryLimit(bytes: number, what: string): void {
  if (bytes <= MAX_MEMORY_BYTES) return;
  throw new StoreError(
    292,
    `${what} exceeded memory limit of ${MAX_MEMORY_BYTES} bytes, and the embedded store does not use the disk for it. An index would help.`,
  );
}

/** Reads `inner` to its end, then gives what `finish` makes of it. */
export function collecting(inner: Results, take: (doc: Buffer) => void, finish: () => readonly Buffer[]): Results {
  let made: Results | undefined;
  return {
    next() {
      while (made === undefined) {
        const doc = inner.next();
        if (doc === PAUSE) return PAUSE;
        if (doc === undefined) made = fromList(finish());
        else take(doc);
      }
      return made.next();
    },
  };
}

/** Sorts in memory; with `keep` it holds only the first `keep` documents. */
export function sorted(inner: Results, fields: readonly SortField[], keep: number): Results {
  if (fields.length === 0) return inner;
  interface Row {
    doc: Buffer;
    key: SortKey;
    place: number;
  }
  let rows: Row[] = [];
  let bytes = 0;
  let place = 0;
  const order = (a: Row, b: Row): number => compareSortKeys(fields, a.doc, a.key, b.doc, b.key) || a.place - b.place;
  const trim = (): void => {
    rows.sort(order);
    if (keep > 0 && rows.length > keep) {
      rows = rows.slice(0, keep);
      bytes = rows.reduce((sum, row) => sum + row.doc.length, 0);
    }
  };
  return collecting(
    inner,
    (doc) => {
      rows.push({ doc, key: sortKey(fields, doc), place: place++ });
      bytes += int32At(doc, 0);
      if (keep > 0 && rows.length > keep * 2 + 1000) trim();
      memoryLimit(bytes, 'Sort');
    },
    () => {
      trim();
      return rows.map((row) => row.doc);
    },
  );
}
