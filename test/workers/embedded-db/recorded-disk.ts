import fs, { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** The bytes that a disk writes as a whole or not at all. */
const SECTOR = 512;

/** An unsynced write; `truncate` has no bytes. */
type Pending = { readonly at: number; readonly bytes: Buffer } | { readonly truncate: number };

/** Which of the unsynced writes' sectors have reached the disk. */
export type Chosen = (sector: number) => boolean;

export const NONE: Chosen = () => false;
export const ALL: Chosen = () => true;

/**
 * A file's synced and unsynced content on disk while a program writes it through `node:fs`. The program's own calls are
 * recorded and done, so that a missing sync before an acknowledgement shows.
 */
export class RecordedFile {
  readonly #path: string;
  readonly #fds = new Set<number>();
  #synced: Buffer;
  #pending: Pending[] = [];
  /** Called after each write, a moment at which power may fail: unsynced writes may be on disk or not. */
  onMoment: () => void = () => {};

  constructor(path: string) {
    this.#path = path;
    this.#synced = fs.existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  }

  get unsynced(): number {
    return this.#pending.length;
  }

  /** The file after a power failure that let only the chosen unsynced sectors through. */
  image(chosen: Chosen): Buffer {
    let content: Buffer = Buffer.from(this.#synced);
    for (const write of this.#pending) {
      if ('truncate' in write) content = chosen(0) ? resized(content, write.truncate) : content;
      else content = written(content, write.at, write.bytes, chosen);
    }
    return content;
  }

  opened(path: unknown, fd: number): void {
    if (path === this.#path) this.#fds.add(fd);
  }

  closed(fd: number): void {
    this.#fds.delete(fd);
  }

  wrote(fd: number, bytes: Buffer, at: number): void {
    if (this.#fds.has(fd)) this.#note({ at, bytes: Buffer.from(bytes) });
  }

  truncated(fd: number, length: number): void {
    if (this.#fds.has(fd)) this.#note({ truncate: length });
  }

  synced(fd: number): void {
    if (!this.#fds.has(fd)) return;
    this.#synced = this.image(ALL);
    this.#pending = [];
  }

  #note(write: Pending): void {
    this.#pending.push(write);
    this.onMoment();
  }
}

function resized(content: Buffer, length: number): Buffer {
  return length <= content.length
    ? content.subarray(0, length)
    : Buffer.concat([content, Buffer.alloc(length - content.length)]);
}

/** `content` with the chosen sectors of a write. Where the file grew, the other sectors are zero. */
function written(content: Buffer, at: number, bytes: Buffer, chosen: Chosen): Buffer {
  let next = content;
  for (let from = at; from < at + bytes.length; ) {
    const to = Math.min(at + bytes.length, (Math.floor(from / SECTOR) + 1) * SECTOR);
    if (chosen(Math.floor(from / SECTOR))) {
      if (next.length < to) next = Buffer.concat([next, Buffer.alloc(to - next.length)]);
      next.set(bytes.subarray(from - at, to - at), from);
    }
    from = to;
  }
  return next;
}

export function differingSectors(before: Buffer, after: Buffer): number[] {
  const sectors: number[] = [];
  for (let at = 0; at < Math.max(before.length, after.length); at += SECTOR) {
    if (!before.subarray(at, at + SECTOR).equals(after.subarray(at, at + SECTOR))) sectors.push(at / SECTOR);
  }
  return sectors;
}

export function withSectors(before: Buffer, after: Buffer, sectors: readonly number[]): Buffer {
  let next = before;
  for (const sector of sectors) {
    const at = sector * SECTOR;
    next = written(next, at, after.subarray(at, at + SECTOR), ALL);
  }
  return next === before ? Buffer.from(before) : next;
}

/** Reports this process's calls on `file`, until the returned function is called. */
export function record(file: RecordedFile): () => void {
  const { openSync, closeSync, writeSync, ftruncateSync, fdatasyncSync } = fs;
  const real = { openSync, closeSync, writeSync, ftruncateSync, fdatasyncSync };
  Object.assign(fs, {
    openSync: (...args: Parameters<typeof fs.openSync>) => {
      const fd = real.openSync(...args);
      file.opened(args[0], fd);
      return fd;
    },
    closeSync: (fd: number) => {
      file.closed(fd);
      real.closeSync(fd);
    },
    writeSync: (fd: number, buffer: Buffer, offset: number, length: number, position: number) => {
      const count = real.writeSync(fd, buffer, offset, length, position);
      file.wrote(fd, buffer.subarray(offset, offset + count), position);
      return count;
    },
    ftruncateSync: (fd: number, length: number) => {
      real.ftruncateSync(fd, length);
      file.truncated(fd, length);
    },
    fdatasyncSync: (fd: number) => {
      real.fdatasyncSync(fd);
      file.synced(fd);
    },
  });
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  };
}
