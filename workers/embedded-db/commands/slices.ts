import type { Store } from './store.ts';

/** What a write command did in one group of the log: all of its work (then this is its reply), or a part of it (`Rest`). */
export type Progress = Buffer | Rest;

/**
 * The rest of a long write. It runs in a later group, with other commands in between, as in mongod, where a write of many documents
 * yields and is not atomic as a whole. A group may be undone and `next` called once more. So `next` must
 * not change what it starts from.
 */
export class Rest {
  readonly next: () => Progress;

  constructor(next: () => Progress) {
    this.next = next;
  }
}

/** Units of work in a slice: about 30 ms. */
const UNITS = 2_000;
/** Units for a document that is changed. One that is only looked at is one unit. */
const CHANGE_UNITS = 4;
/** Bytes of changes, for large documents. */
const BYTES = 4 * 1024 * 1024;

/** How much one command may still do in the current group. The number of documents decides, not the time: tests can rely on it. */
export class Slice {
  private readonly store: Store;
  private readonly bytesBefore: number;
  private units = UNITS;

  constructor(store: Store) {
    this.store = store;
    this.bytesBefore = store.database.pending;
  }

  looked(documents: number): void {
    this.units -= documents;
  }

  /** A scan has looked at so much that it gives way, in documents or in bytes. */
  paused(): void {
    this.units -= UNITS / 2;
  }

  changed(): void {
    this.units -= CHANGE_UNITS;
  }

  get over(): boolean {
    return this.units <= 0 || this.store.database.pending - this.bytesBefore > BYTES;
  }
}

/** A part of a statement: what is left of it, or undefined. Like `Rest`, it may be called once more with the same tally. */
export type Step<Tally> = (tally: Tally, slice: Slice) => Step<Tally> | undefined;
