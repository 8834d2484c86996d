import { beginEffort } from '../bson/effort.ts';
import { StoreError } from '../bson/errors.ts';
import { TYPE } from '../bson/read.ts';
import type { Predicate } from '../query/filter.ts';
import type { Collection } from '../storage/catalog.ts';
import type { Database, Entry, KeyRange } from '../storage/database.ts';
import { wholeDocument } from '../storage/documents.ts';
import type { Index } from '../storage/index-definition.ts';
import { startOfLong, wholeKey } from './bounds.ts';
import type { IndexPlan, Plan } from './plan.ts';

export interface Hit {
  readonly key: Buffer;
  readonly doc: Buffer;
}

/** Returned instead of a document during long work, so that one connection's scan does not block the others. */
export const PAUSE = Symbol('pause');
/** Documents examined between two pauses, and bytes looked at for them: a few milliseconds. */
const PAUSE_EVERY = 1000;
const PAUSE_BYTES = 4 * 1024 * 1024;

const FIRST_CHUNK = 16;
const LARGEST_CHUNK = 256;

/**
 * Walks a plan document by document. It holds no read transaction: it fetches a chunk of entries, and seeks again from
 * the last key for the next one, so a cursor may live for minutes and sees what has been committed meanwhile.
 */
export class Scan {
  /** Documents since the last `PAUSE`, including those that matched, because the caller may spend long on each. */
  private looked = 0;
  private bytes = 0;
  private readonly database: Database;
  private readonly sources: readonly { readonly dropped: boolean }[];
  private readonly ns: string;
  private readonly matches: Predicate;
  private readonly steps: Step[];
  private readonly seen: Set<string> | undefined;

  private toSkip = 0;

  /** `expected`: how many documents the caller is likely to take. */
  constructor(database: Database, collection: Collection, plan: Plan, matches: Predicate, expected = FIRST_CHUNK) {
    this.database = database;
    this.sources = [collection, ...indexesOf(plan)];
    this.ns = collection.ns;
    this.matches = matches;
    this.steps = stepsOf(plan, collection, Math.min(Math.max(expected, 1), LARGEST_CHUNK)).reverse();
    const repeats =
      plan.kind === 'union' || (plan.kind === 'index' && (plan.index?.multikey.some((flag) => flag) ?? false));
    this.seen = repeats ? new Set() : undefined;
  }

  /** Skips the next matches without reading them; only for an `exact` plan. */
  skip(count: number): void {
    this.toSkip += count;
  }

  /**
   * The next document that matches; undefined at the end; `PAUSE` when others should have a turn before it goes on.
   * Throws 175 when the collection or an index was dropped meanwhile.
   */
  next(): Hit | undefined | typeof PAUSE {
    for (const { dropped } of this.sources) {
      if (dropped) throw new StoreError(175, 'the collection or an index of the cursor was dropped');
    }
    while (this.looked++ < PAUSE_EVERY && this.bytes < PAUSE_BYTES) {
      const step = this.steps.at(-1);
      if (step === undefined) return undefined;
      const candidate = step.next(this.database);
      if (candidate === undefined) {
        this.steps.pop();
        continue;
      }
      this.database.looked.keys++;
      if (this.toSkip > 0) {
        this.toSkip--;
        continue;
      }
      const hit = this.look(candidate);
      if (hit !== undefined) return hit;
    }
    this.looked = 0;
    this.bytes = 0;
    return PAUSE;
  }

  private look({ key, doc }: Candidate): Hit | undefined {
    if (this.seen !== undefined) {
      const text = key.toString('latin1');
      if (this.seen.has(text)) return undefined;
      this.seen.add(text);
    }
    const bytes = doc ?? this.database.get(this.database.documents, key);
    if (bytes === undefined) return undefined; // removed since the chunk was read, or an `_id` that is not there
    this.database.looked.documents++;
    this.bytes += beginEffort();
    wholeDocument(bytes, () => this.ns);
    return this.matches(TYPE.object, bytes, 0) ? { key, doc: bytes } : undefined;
  }
}

interface Candidate {
  readonly key: Buffer;
  /** The document, if the entry is the document itself. */
  readonly doc: Buffer | undefined;
}

interface Step {
  next(database: Database): Candidate | undefined;
}

function indexesOf(plan: Plan): Index[] {
  if (plan.kind === 'union') return plan.branches.flatMap(indexesOf);
  return plan.kind === 'index' && plan.index !== undefined ? [plan.index] : [];
}

function stepsOf(plan: Plan, collection: Collection, chunk: number): Step[] {
  switch (plan.kind) {
    case 'ids': {
      let at = 0;
      return [
        {
          next() {
            const key = plan.keys[at++];
            return key === undefined ? undefined : { key, doc: undefined };
          },
        },
      ];
    }
    case 'union':
      return plan.branches.flatMap((branch) => stepsOf(branch, collection, chunk));
    case 'index': {
      const ranges = plan.reverse ? [...plan.ranges].reverse() : plan.ranges;
      return ranges.map((range) => new RangeStep(plan, collection, range, chunk));
    }
  }
}

class RangeStep implements Step {
  private readonly plan: IndexPlan;
  private readonly prefix: Buffer;
  private range: KeyRange | undefined;
  private chunk: number;
  private entries: readonly Entry[] = [];
  private at = 0;
  /** Candidates with long keys, the next at the end. */
  private sorted: Candidate[] = [];

  constructor(plan: IndexPlan, collection: Collection, range: KeyRange, chunk: number) {
    this.plan = plan;
    this.prefix = Buffer.allocUnsafe(4);
    this.prefix.writeUInt32BE(collection.id, 0);
    this.range = range;
    this.chunk = chunk;
  }

  next(database: Database): Candidate | undefined {
    const sorted = this.sorted.pop();
    if (sorted !== undefined) return sorted;
    const entry = this.peek(database);
    if (entry === undefined) return undefined;
    this.at++;
    const long = startOfLong(entry, this.plan.index);
    if (long === undefined) return this.candidate(entry);
    this.sortRun(database, entry, long);
    return this.next(database);
  }

  /** Leaves `at` at the next entry, which it returns. */
  private peek(database: Database): Entry | undefined {
    if (this.entries[this.at] === undefined) this.fetch(database);
    return this.entries[this.at];
  }

  /** Takes all entries that begin alike, and puts them in the order of their documents. */
  private sortRun(database: Database, first: Entry, start: Buffer): void {
    const { index, reverse } = this.plan;
    const found: { readonly candidate: Candidate; readonly key: Buffer }[] = [];
    for (let entry: Entry | undefined = first; entry !== undefined; entry = this.peek(database)) {
      if (startOfLong(entry, index)?.equals(start) !== true) break;
      if (entry !== first) this.at++;
      const candidate = this.candidate(entry);
      const doc = candidate.doc ?? database.get(database.documents, candidate.key);
      if (doc === undefined) continue;
      found.push({ candidate, key: wholeKey(index, entry, candidate.key.subarray(4), doc) });
    }
    found.sort((a, b) => Buffer.compare(b.key, a.key) || Buffer.compare(b.candidate.key, a.candidate.key));
    this.sorted = found.map(({ candidate }) => candidate);
    if (reverse) this.sorted.reverse();
  }

  private candidate(entry: Entry): Candidate {
    const { index } = this.plan;
    if (index === undefined) return { key: entry.key, doc: entry.value };
    const idKey = index.unique ? entry.value : entry.key.subarray(entry.value.readUInt16BE(0));
    return { key: Buffer.concat([this.prefix, idKey]), doc: undefined };
  }

  private fetch(database: Database): void {
    this.at = 0;
    this.entries = [];
    if (this.range === undefined) return;
    const table = this.plan.index === undefined ? database.documents : database.entries;
    this.entries = database.range(table, this.range, this.plan.reverse, this.chunk);
    const last = this.entries.at(-1);
    if (last === undefined || this.entries.length < this.chunk) this.range = undefined;
    else if (this.plan.reverse) this.range = { start: this.range.start, end: last.key };
    else this.range = { start: Buffer.concat([last.key, ZERO]), end: this.range.end };
    this.chunk = Math.min(this.chunk * 4, LARGEST_CHUNK);
  }
}

const ZERO = Buffer.from([0]);
