import { createHash } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { appendFile, open, truncate } from 'node:fs/promises';

/** A backup that was begun, and what has become of it. */
export interface Backup {
  readonly path: string;
  state: 'copying' | 'done' | 'failed';
  why?: string;
}

/** Behind the tables of a backup: this, then the SHA-256 of all that is before. A backup that was cut or damaged shows it. */
const MARK = Buffer.from('harkara backup 1\n');
const TRAILER_BYTES = MARK.length + 32;

/** Makes a backup of a copy of the tables. */
export async function sealBackup(path: string): Promise<void> {
  const digest = await digestOf(path, statSync(path).size);
  await appendFile(path, Buffer.concat([MARK, digest]));
}

/** Makes tables of a copy of a backup again; false, and nothing changed, when it is none, or not whole. */
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
