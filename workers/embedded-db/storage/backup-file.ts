import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { appendFile, open, truncate } from 'node:fs/promises';

/** A backup that was begun, and what has become of it. */
export interface Backup {
  readonly path: string;
  state: 'copying' | 'done' | 'failed';
  why?: string;
}

/** Follows the tables in a backup, before the SHA-256 of everything so far. It reveals a backup that was cut or damaged. */
const MARK = Buffer.from('harkara backup 1\n');
const TRAILER_BYTES = MARK.length + 32;

/** Turns a copy of the tables into a backup. */
export async function sealBackup(path: string): Promise<void> {
  const digest = await digestOf(path, statSync(path).size);
  await appendFile(path, Buffer.concat([MARK, digest]));
}

/** Turns a copy of a backup into tables again. False, with nothing changed, when it is not a complete backup. */
export async function unsealBackup(path: string): Promise<boolean> {
  const bytes = statSync(path).size - TRAILER_BYTES;
  if (bytes <= 0) return false;
  const trailer = await readAt(path, bytes);
  if (!trailer.subarray(0, MARK.length).equals(MARK)) return false;
  if (!trailer.subarray(MARK.length).equals(await digestOf(path, bytes))) return false;
  await truncate(path, bytes);
  return true;
}

async function digestOf(path: string, bytes: number): Promise<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { end: bytes - 1 })) hash.update(chunk);
  return hash.digest();
}

async function readAt(path: string, at: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(TRAILER_BYTES), 0, TRAILER_BYTES, at);
    return buffer;
  } finally {
    await file.close();
  }
}
