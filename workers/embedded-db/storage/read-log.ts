import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { DamageFound } from '../../../shared/platform/runtime/lifecycle.ts';
import {
  type Change,
  changesIn,
  HEADER_BYTES,
  headerStart,
  LOG_STEP_BYTES,
  type LogPosition,
  readHeader,
  wasHeader,
} from './log.ts';

/** A group in the file: `[at, changesAt)` is its header. */
interface FoundGroup {
  readonly number: number;
  readonly whole: boolean;
  readonly at: number;
  readonly changesAt: number;
  readonly end: number;
}

/** What a start must apply again, and what it drops. */
export interface Recovery {
  readonly groups: readonly FoundGroup[];
  /** An incomplete last group: the machine stopped while it was written, or it was damaged since. */
  readonly dropped: { readonly number: number; readonly at: number; readonly bytes: number } | undefined;
}

/**
 * The log as a file of bytes, and what a start must do with it.
 *
 * A power failure may keep any part of the last unsynced write, and only one group is ever unsynced. So the groups
 * after `stored` (the last that the tables contain) are needed and must follow one another without a gap, and at most
 * one more, the next, may be incomplete. Everything else, groups up to `stored` and remains of them, is from earlier
 * rounds and may be in any state. A group with a higher number, complete or not, proves that the one before it was
 * stored: if that one is not complete, the file is damaged.
 */
export class LogBytes {
  private readonly fd: number;
  readonly size: number;
  private readonly path: string;

  constructor(path: string) {
    this.fd = openSync(path, 'r');
    this.size = fstatSync(this.fd).size;
    this.path = path;
  }

  /** The groups to apply after group `stored`. Throws `DamageFound` when one is damaged or from another store. */
  recovery({ store, stored, made }: LogPosition): Recovery {
    const first = readHeader(this.read(0, HEADER_BYTES));
    if (first !== undefined && !first.store.equals(store)) throw notTheirs(this.path, 'another store wrote it');
    if (made && (this.size === 0 || this.size % LOG_STEP_BYTES !== 0)) throw cut(this.path, this.size);
    const found = this.groupsOf(store);
    const groups = needed(this.path, found, stored);
    const last = groups.at(-1)?.number ?? stored;
    const end = groups.at(-1)?.end ?? 0;
    const torn = found.find(({ at, number, whole }) => at === end && number === last + 1 && !whole);
    if (torn === undefined && !wasHeader(this.read(end, HEADER_BYTES), store, last + 1)) {
      return { groups, dropped: undefined };
    }
    return { groups, dropped: { number: last + 1, at: end, bytes: Math.min(torn?.end ?? this.size, this.size) - end } };
  }

  changes(group: FoundGroup): Iterable<Change> {
    return changesIn(this.read(group.changesAt, group.end - group.changesAt));
  }

  /** Up to `bytes` bytes from `at` on: fewer at the end of the file. */
  read(at: number, bytes: number): Buffer {
    const out = Buffer.allocUnsafe(Math.max(0, Math.min(bytes, this.size - at)));
    for (let read = 0; read < out.length; ) {
      const more = readSync(this.fd, out, read, out.length - read, at + read);
      if (more === 0) return out.subarray(0, read);
      read += more;
    }
    return out;
  }

  close(): void {
    closeSync(this.fd);
  }

  /** All groups in the file with a header of this store, in order. Bytes inside a complete group are not searched. */
  private groupsOf(store: Buffer): FoundGroup[] {
    const found: FoundGroup[] = [];
    const start = headerStart(store);
    for (let at: number | undefined = 0; at !== undefined; ) {
      const group = this.groupAt(at, store);
      if (group !== undefined) found.push(group);
      at = group?.whole === true ? group.end : this.find(start, at + 1);
    }
    return found;
  }

  private groupAt(at: number, store: Buffer): FoundGroup | undefined {
    const header = readHeader(this.read(at, HEADER_BYTES));
    if (header === undefined || !header.store.equals(store)) return undefined;
    const { number, size, checksum } = header;
    const changesAt = at + HEADER_BYTES;
    const end = changesAt + size;
    const whole = end <= this.size && crc32(this.read(changesAt, size)) === checksum;
    return { number, whole, at, changesAt, end };
  }

  /** Where these bytes come next with room for a header. */
  private find(bytes: Buffer, from: number): number | undefined {
    for (let at = from; at + HEADER_BYTES <= this.size; at += WINDOW_BYTES) {
      const found = this.read(at, WINDOW_BYTES + HEADER_BYTES - 1).indexOf(bytes);
      if (found >= 0) return at + found + HEADER_BYTES <= this.size ? at + found : undefined;
    }
    return undefined;
  }
}

const WINDOW_BYTES = 1024 * 1024;

/** The groups after `stored`, which must be whole and without a gap. */
function needed(path: string, found: readonly FoundGroup[], stored: number): FoundGroup[] {
  const groups: FoundGroup[] = [];
  for (const group of found) {
    const next = stored + groups.length + 1;
    if (group.whole && group.number === next) groups.push(group);
    else if (group.number <= next)
      continue; // Of an earlier round; or the last, not whole.
    else if (group.at === 0) {
      throw notTheirs(path, `it begins with group ${group.number}, that ends with ${stored}`);
    } else throw damaged(path, next, groups.at(-1)?.end ?? 0, found.filter(({ number }) => number > next).length);
  }
  return groups;
}

function notTheirs(path: string, why: string): DamageFound {
  return new DamageFound(
    `${path} does not belong to the data.mdb beside it: ${why}. Bring both back from one backup; to go on with what data.mdb alone has, keep a copy and empty it: ${emptied(path)}`,
  );
}

function cut(path: string, size: number): DamageFound {
  return new DamageFound(
    `${path} was cut off: it has ${size} bytes, and its length is a multiple of ${LOG_STEP_BYTES}. What was written last may be missing. Bring data.mdb and data.log back from one backup; to go on with what is in both, keep copies and fill it up: ${filled(path, Math.max(size, 1))}`,
  );
}

function damaged(path: string, number: number, at: number, following: number): DamageFound {
  return new DamageFound(
    `${path} is damaged: group ${number} is not as it was written, and ${following} more follow it. Bring data.mdb and data.log back from one backup; to go on with what was written before it, and without these, keep a copy and cut the file: truncate -s ${at} ${path} && ${filled(path, Math.max(at, 1))}`,
  );
}

function filled(path: string, bytes: number): string {
  return `truncate -s ${Math.ceil(bytes / LOG_STEP_BYTES) * LOG_STEP_BYTES} ${path}`;
}

export function emptied(path: string): string {
  return `truncate -s 0 ${path} && ${filled(path, 1)}`;
}
