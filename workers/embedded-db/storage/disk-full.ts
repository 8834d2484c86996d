import { statfsSync } from 'node:fs';

/** Less than this is no room: LMDB reports a write that was cut short as an I/O error. */
const LITTLE_BYTES = 16 * 1024 * 1024;
/** The disk, the user's quota, or the limit of a file's size: as Node has them, and as LMDB has them (errno of Linux). */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 28, 122, 27]);
const EIO = 5;

/** Whether a write in `dir` failed for want of room. Nothing is lost then, and it may succeed later. */
export function isDiskFull(error: unknown, dir: string): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  if (CODES.has(error.code)) return true;
  return error.code === EIO && freeBytes(dir) < LITTLE_BYTES;
}

function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}
