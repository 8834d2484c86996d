import { randomBytes } from 'node:crypto';
import { StoreError } from '../bson/errors.ts';
import type { Results } from '../plan/results.ts';
import { PAUSE } from '../plan/scan.ts';

/** Open cursors are forgotten after mongod's ten minutes without a getMore. */
const IDLE_MS = 10 * 60 * 1000;
/** A client that never closes cursors must not fill the memory. */
const MAX_CURSORS = 10_000;
/** The bytes of documents in one reply, as mongod: a reply must stay below the message limit. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024;
/** A document that a pipeline made may be 16 KiB longer than a stored one, as in mongod. */
const MAX_RESULT_BYTES = MAX_BATCH_BYTES + 16 * 1024;

interface Cursor {
  readonly ns: string;
  readonly results: Results;
  /** Read but not sent yet: it did not fit, or was read to see whether there is more. */
  ahead: Buffer | undefined;
  usedAtMs: number;
}

export interface Batch {
  readonly docs: readonly Buffer[];
  /** 0n when there is nothing more. */
  readonly cursorId: bigint;
  readonly ns: string;
}

export class Cursors {
  private readonly open = new Map<bigint, Cursor>();
  /** Starts at a random number, so that a cursor from before a restart finds nothing instead of another cursor. */
  private lastId = BigInt(randomBytes(6).readUIntBE(0, 6)) << 12n;

  get count(): number {
    return this.open.size;
  }

  /** The first batch of `size` documents; what remains gets a cursor unless `single`. */
  first(ns: string, results: Results, size: number, single: boolean, nowMs: number): Batch | Promise<Batch> {
    const cursor: Cursor = { ns, results, ahead: undefined, usedAtMs: nowMs };
    const finish = ({ docs, ended }: Filled): Batch => {
      if (ended || single) return { docs, cursorId: 0n, ns };
      this.forgetIdle(nowMs);
      if (this.open.size >= MAX_CURSORS) throw new StoreError(2, `more than ${MAX_CURSORS} open cursors`);
      const cursorId = ++this.lastId;
      this.open.set(cursorId, cursor);
      return { docs, cursorId, ns };
    };
    const filled = fill(cursor, size);
    return filled instanceof Promise ? filled.then(finish) : finish(filled);
  }

  more(id: bigint, ns: string, size: number, nowMs: number): Batch | Promise<Batch> {
    const cursor = this.open.get(id);
    if (cursor === undefined) throw new StoreError(43, `cursor id ${id} not found`);
    if (cursor.ns !== ns) {
      throw new StoreError(
        13,
        `Requested getMore on namespace '${ns}', but cursor belongs to a different namespace ${cursor.ns}`,
      );
    }
    cursor.usedAtMs = nowMs;
    const finish = ({ docs, ended }: Filled): Batch => {
      if (ended) this.open.delete(id);
      return { docs, cursorId: ended ? 0n : id, ns };
    };
    const filled = fill(cursor, size);
    return filled instanceof Promise ? filled.then(finish) : finish(filled);
  }

  kill(id: bigint): boolean {
    return this.open.delete(id);
  }

  private forgetIdle(nowMs: number): void {
    // Checks all: the map has the order of opening, not of the last use.
    for (const [id, cursor] of this.open) if (nowMs - cursor.usedAtMs > IDLE_MS) this.open.delete(id);
  }
}

interface Filled {
  docs: Buffer[];
  ended: boolean;
}

/** Fills a batch at once when it can, and over several turns of the event loop when the work is long. */
function fill(cursor: Cursor, size: number): Filled | Promise<Filled> {
  const filled: Filled = { docs: [], ended: false };
  let bytes = 0;
  const work = (): boolean => {
    for (;;) {
      const doc = cursor.ahead ?? cursor.results.next();
      cursor.ahead = undefined;
      if (doc === PAUSE) return false;
      if (doc === undefined) {
        filled.ended = true;
        return true;
      }
      if (filled.docs.length >= size || (bytes > 0 && bytes + doc.length > MAX_BATCH_BYTES)) {
        cursor.ahead = doc;
        return true;
      }
      if (doc.length > MAX_RESULT_BYTES) throw new StoreError(10334, `BSONObj size: ${doc.length} is invalid`);
      bytes += doc.length;
      filled.docs.push(doc);
    }
  };
  if (work()) return filled;
  return overTurns(work).then(() => filled);
}

/** Calls `work` until it returns true, once in each turn of the event loop. */
async function overTurns(work: () => boolean): Promise<void> {
  do {
    await new Promise((resolve) => setImmediate(resolve));
  } while (!work());
}
