import { beginEffort } from '../bson/effort.ts';
import { StoreError } from '../bson/errors.ts';
import type { Projection } from '../query/projection.ts';
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

export function memoryLimit(bytes: number, what: string): void {
  if (bytes <= MAX_MEMORY_BYTES) return;
  throw new StoreError(
    292,
    `${what} exceeded memory limit of ${MAX_MEMORY_BYTES} bytes, and the embedded store does not use the disk for it. An index would help.`,
  );
}

/** Reads `inner` to its end, then gives what `finish` makes, document by document. */
export function collecting(inner: Results, take: (doc: Buffer) => void, finish: () => Iterator<Buffer>): Results {
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

/** Documents made between two pauses. */
const PAUSE_EVERY = 1_000;
