import { closeSync, existsSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { DamageFound } from '../../../shared/runtime/lifecycle.ts';
import { changedPages } from './changed-pages.ts';
import { isDiskFull } from './disk-full.ts';
import { catalogueNames } from './page-names.ts';
import { entriesOf, PAGE_BYTES, PageTree, type Reference, type TreePage } from './page-tree.ts';
import type { StoreFiles } from './store-files.ts';

/**
 * Checksums of the pages of data.mdb, in a file beside it (docs/decisions/0077):
 *
 *     [magic "HKPS1"][id of the store 8][last transaction f64][crc32 of both meta pages u32][crc32 of what is before u32], zeros to 4096
 *     per page [low half of the transaction that wrote it u32][crc32 of its bytes u32]
 *
 * They are written after a checkpoint and synced before the header says so. Pages of later transactions count as not covered.
 */
const MAGIC = Buffer.from('HKPS1');
const STORE_AT = MAGIC.length;
const TXN_AT = STORE_AT + 8;
const META_AT = TXN_AT + 8;
const CHECKSUM_AT = META_AT + 4;
const HEADER_BYTES = CHECKSUM_AT + 4;
const SUMS_AT = 4096;
const SUM_BYTES = 8;
/** Takes less than a millisecond. */
const PAGES_AT_ONCE = 32;
/** Larger tables are not read whole at a start: it would take minutes. */
const WHOLE_BYTES = 2 * 1024 ** 3;
/**
 * Of those the start reads what so many transactions, the last ones, have written. Each stores 8 MB of log and some 16 to 32 MB of
 * pages, so this is more than a disk has in its cache, and read within seconds.
 */
const RECENT_TRANSACTIONS = 20;

/** What a start found: `covered` pages are as they were written. */
export interface PagesChecked {
  readonly pages: number;
  readonly covered: number;
}

/**
 * Reads every page in use, of tables above `wholeBytes` only those written last, and compares it with its checksum. Throws `DamageFound`
 * when one differs: LMDB must not read it. Pages without a checksum (a copy without data.sums, an older version) must at least be
 * pages.
 */
export function checkPages(files: StoreFiles, wholeBytes = WHOLE_BYTES): PagesChecked {
  if (!existsSync(files.tables)) return { pages: 0, covered: 0 };
  const tree = new PageTree(files.tables);
  try {
    const { meta } = tree;
    if (meta === undefined) throw notTheSame(files, 'its first pages are none of LMDB');
    let known = readSums(files.sums, true);
    const damaged: TreePage[] = [];
    const names = catalogueNames();
    let [pages, covered, id]: [number, number, Buffer | undefined] = [0, 0, undefined];
    const isLarge = meta.pages * PAGE_BYTES > wholeBytes;
    for (const page of isLarge ? tree.walk(olderThan(tree, known, meta.txn - RECENT_TRANSACTIONS)) : tree.walk()) {
      pages++;
      const state = stateOf(page, known, meta.txn);
      if (state === 'covered') covered++;
      if (state === 'damaged') damaged.push({ ...page, bytes: Buffer.alloc(0) });
      else if (page.table === META_TABLE && page.kind === 'leaf') {
        names.add(page.bytes);
        for (const { key, value } of entriesOf(page.bytes)) if (key.equals(STORE_KEY)) id = value;
      }
    }
    // Of another store: data.mdb was brought here from elsewhere, and its checksums were not.
    if (known !== undefined && id !== undefined && !id.equals(known.store)) {
      known = undefined;
      const broken = damaged.filter(({ kind }) => kind === undefined);
      damaged.splice(0, damaged.length, ...broken);
      covered = 0;
    }
    if (known !== undefined && known.txn > meta.txn) throw notTheSame(files, 'it is older than data.sums');
    if (known?.txn === meta.txn && known.meta !== meta.sum) throw notTheSame(files, 'its first pages have changed');
    const [first] = damaged;
    if (first !== undefined) throw isDamaged(files, first, damaged.length, names.of(first));
    return { pages, covered };
  } finally {
    tree.close();
  }
}

/**
 * Notes the checksums of all pages that were written since the last time. On a full disk they are left out: the next ones include
 * them.
 */
export function notePages(files: StoreFiles, store: Buffer, sync: boolean): void {
  try {
    for (const _ of noting(files, store, sync));
  } catch (error) {
    if (!isDiskFull(error, files.tables)) throw error;
  }
}

/**
 * The same between other work. It must have ended before the next commit, which may write over pages that this state has. Never
 * rejects: when the disk fails, the pages count as not covered until the next time.
 */
export async function notePagesBetween(files: StoreFiles, store: Buffer, sync: boolean): Promise<void> {
  try {
    for (const _ of noting(files, store, sync)) await new Promise((resolve) => setImmediate(resolve));
  } catch {
    // As above.
  }
}

/** Yields after each `PAGES_AT_ONCE`. */
function* noting(files: StoreFiles, store: Buffer, sync: boolean): Generator<void> {
  const known = readSums(files.sums, false);
  const since = known?.store.equals(store) === true ? known.txn : -1;
  const tree = new PageTree(files.tables);
  const fd = openSync(files.sums, existsSync(files.sums) ? 'r+' : 'w+', 0o600);
  try {
    if (tree.meta === undefined || tree.meta.txn === since) return;
    const sum = Buffer.alloc(SUM_BYTES);
    let noted = 0;
    const older = (page: Reference): boolean => since >= 0 && tree.isOlder(page, since);
    for (const page of since === tree.states?.[1].txn ? changedPages(tree) : tree.walk(older)) {
      if (++noted % PAGES_AT_ONCE === 0) yield;
      if (page?.kind === undefined) continue; // a damaged one: the next start will say so
      sum.writeUInt32LE(page.txn % 2 ** 32, 0);
      sum.writeUInt32LE(crc32(page.bytes), 4);
      writeSync(fd, sum, 0, SUM_BYTES, SUMS_AT + page.number * SUM_BYTES);
    }
    if (sync) fdatasyncSync(fd);
    const header = Buffer.alloc(HEADER_BYTES);
    header.set(MAGIC, 0);
    header.set(store, STORE_AT);
    header.writeDoubleLE(tree.meta.txn, TXN_AT);
    header.writeUInt32LE(tree.meta.sum, META_AT);
    header.writeUInt32LE(crc32(header.subarray(0, CHECKSUM_AT)), CHECKSUM_AT);
    writeSync(fd, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(fd);
    tree.close();
  }
}

/**
 * Whether a page was written by `since` or before. The checksums say what wrote a page, and not the page itself, which may be what
 * it was before a write that the disk lost. Pages of a transaction that was not noted have none: those are found by comparing
 * trees. When more than one was not noted, or there are no checksums, the pages are asked.
 */
function olderThan(tree: PageTree, known: Sums | undefined, since: number): (page: Reference) => boolean {
  const [newest, before] = tree.states ?? [];
  if (known === undefined || (known.txn !== newest?.txn && known.txn !== before?.txn)) {
    return (page) => tree.isOlder(page, since);
  }
  const unnoted = new Set<number>();
  if (known.txn !== newest?.txn)
    for (const page of changedPages(tree)) if (page !== undefined) unnoted.add(page.number);
  return ({ number, table }) => {
    if (table === '' || table === META_TABLE) return false; // few pages, which tell whether the checksums are of this store
    const at = SUMS_AT + number * SUM_BYTES;
    const isNoted = at + SUM_BYTES <= known.bytes.length;
    return !unnoted.has(number) && isNoted && known.bytes.readUInt32LE(at) <= since % 2 ** 32;
  };
}

/** As `Database` has them. */
const META_TABLE = 'meta';
const STORE_KEY = Buffer.from('store');

interface Sums {
  readonly store: Buffer;
  /** All pages of transactions up to this one have a checksum. */
  readonly txn: number;
  /** Of both meta pages then. */
  readonly meta: number;
  /** The file, or only its header. */
  readonly bytes: Buffer;
}

function stateOf(page: TreePage, known: Sums | undefined, newest: number): 'covered' | 'not covered' | 'damaged' {
  if (page.kind === undefined) return 'damaged';
  if (known === undefined || (page.txn > known.txn && page.txn <= newest)) return 'not covered';
  const at = SUMS_AT + page.number * SUM_BYTES;
  if (at + SUM_BYTES > known.bytes.length) return 'damaged';
  const same =
    known.bytes.readUInt32LE(at) === page.txn % 2 ** 32 && known.bytes.readUInt32LE(at + 4) === crc32(page.bytes);
  return same ? 'covered' : 'damaged';
}

/** Undefined when there are none, or none that can be believed. */
function readSums(path: string, all: boolean): Sums | undefined {
  if (!existsSync(path)) return undefined;
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(all ? fstatSync(fd).size : HEADER_BYTES);
    for (let at = 0, more = 1; more > 0 && at < bytes.length; at += more) {
      more = readSync(fd, bytes, at, bytes.length - at, at);
    }
    if (bytes.length < HEADER_BYTES || !bytes.subarray(0, STORE_AT).equals(MAGIC)) return undefined;
    if (crc32(bytes.subarray(0, CHECKSUM_AT)) !== bytes.readUInt32LE(CHECKSUM_AT)) return undefined;
    const store = bytes.subarray(STORE_AT, TXN_AT);
    return { store, txn: bytes.readDoubleLE(TXN_AT), meta: bytes.readUInt32LE(META_AT), bytes };
  } finally {
    closeSync(fd);
  }
}

function isDamaged({ tables, sums }: StoreFiles, first: TreePage, count: number, where: string): DamageFound {
  return new DamageFound(
    `${tables} is damaged: page ${first.number} (${where}) is not as it was written${count === 1 ? '' : `, and ${count - 1} more`}. The disk changed or lost it. Bring data.mdb and data.log back from one backup.${existsSync(sums) ? ` To see what can still be read, keep copies, remove ${sums}, and run: npm run ops -- store check` : ''}`,
  );
}

function notTheSame({ tables, sums }: StoreFiles, why: string): DamageFound {
  return new DamageFound(
    `${tables} is not as it was written: ${why}. If you brought data.mdb and data.log back from one backup, remove ${sums}; if not, do so, or keep copies, remove ${sums}, and run: npm run ops -- store check`,
  );
}
