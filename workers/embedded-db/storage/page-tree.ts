import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { crc32 } from 'node:zlib';

/**
 * LMDB's file as it is on the disk, read without LMDB: a page that is not as it was written would make LMDB read anywhere in
 * memory. The layout is that of LMDB 0.9.90 (`mdb.c` in the package `lmdb`: MDB_page_header, MDB_node, MDB_db, MDB_meta), data
 * version 2, without duplicates.
 *
 *     page      [number u64][txn u64][pad u16][flags u16][lower u16][upper u16] or [pages of an overflow u32], offsets of nodes u16
 *               (`lower` is the end of the offsets; it and they count from the end of the header)
 *     node      [low u16][high u16][flags u16][key bytes u16][key][data]; branch: low, high and flags are the child's number
 *     large     in place of a node's data [first page u64][txn u64][pages u64]
 *     tree      [pad u32][flags u16][depth u16][branch, leaf, overflow pages, entries u64][root u64]
 *     meta page [header 24][magic u32][version u32][address u64][map u64][tree of free pages 48][main tree 48][last page u64][txn u64]
 */
export const PAGE_BYTES = 8192;
const HEADER_BYTES = 24;
const NODE_BYTES = 8;
const TREE_BYTES = 48;
const LARGE_BYTES = 24;

const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;
const META = 8;
const BIG_DATA = 1;
const SUB_TREE = 2;

const MAGIC = 0xbeefc0de;
const VERSION = 2;
const FREE_TREE_AT = HEADER_BYTES + 24;
const MAIN_TREE_AT = FREE_TREE_AT + TREE_BYTES;
const TXN_AT = MAIN_TREE_AT + TREE_BYTES + 8;
const NO_PAGE = 0xffffffffffffffffn;

/** The newest state of the file. */
export interface Meta {
  /** Number of the transaction that wrote it. */
  readonly txn: number;
  /** Pages in the file. */
  readonly pages: number;
}

/** A tree of pages as a meta page or another tree has it. */
export interface Tree {
  readonly table: string;
  readonly root: number;
  /** From its root to a leaf; the same everywhere in it. */
  readonly depth: number;
}

/** The trees of one state of the file: LMDB's free pages, and the main tree, in whose leaves all tables are. */
export interface State {
  readonly txn: number;
  /** Checksum of its meta page. */
  readonly sum: number;
  readonly free: Tree | undefined;
  readonly main: Tree | undefined;
}

/** A page, or a row of pages with one header that holds a large value. */
export interface TreePage {
  readonly number: number;
  /** The transaction that wrote it, as it says itself. */
  readonly txn: number;
  /** All of its bytes; valid until the next page. */
  readonly bytes: Buffer;
  /** Undefined: the page cannot be what the page above it says. */
  readonly kind: 'branch' | 'leaf' | 'overflow' | undefined;
  /** The table it belongs to; empty for LMDB's own trees. */
  readonly table: string;
  /** A key near the first in it; empty where there is none. */
  readonly near: Buffer;
}

export interface Reference {
  readonly number: number;
  readonly table: string;
  readonly near: Buffer;
  /** Pages of a large value; 0 for a page of the tree. */
  readonly overflow: number;
  /** Of a large value: the transaction that wrote it. */
  readonly txn?: number;
  /** Of the tree whose root it is. */
  readonly depth?: number;
}

export class PageTree {
  private readonly fd: number;
  /** Undefined when one of the two meta pages is none. */
  readonly meta: Meta | undefined;
  /**
   * The newest state, and the one before. Nothing of both is written over before the next transaction. Where a transaction failed at
   * its meta page, the one before has its trees under the old number (mdb_env_write_meta).
   */
  readonly states: readonly [newest: State, before: State] | undefined;
  private buffer = Buffer.allocUnsafeSlow(PAGE_BYTES);
  private readonly head = Buffer.alloc(16);

  constructor(path: string) {
    this.fd = openSync(path, 'r');
    try {
      const pages = Math.floor(fstatSync(this.fd).size / PAGE_BYTES);
      const [first, second] = [this.readMeta(0), this.readMeta(1)];
      if (first === undefined || second === undefined) return; // LMDB reads both
      const [newest, before] = first.txn > second.txn ? [first, second] : [second, first];
      this.meta = { txn: newest.txn, pages };
      this.states = [stateOf(newest), stateOf(before)];
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    closeSync(this.fd);
  }

  /**
   * All pages in use, each after the one that refers to it, without those that `isOlder` leaves out and without what is below them.
   * A page is copied when it is changed, and all above it with it, so below an older page there is no newer one.
   */
  *walk(isOlder: (page: Reference) => boolean = () => false): Generator<TreePage> {
    const { meta, states } = this;
    if (meta === undefined || states === undefined) return;
    const [{ free, main }] = states;
    const open = [free, main].flatMap((tree) => (tree === undefined ? [] : [rootOf(tree)]));
    let seen = 0;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (isOlder(next)) continue;
      const page = this.read(next);
      if (++seen > meta.pages) return; // A damaged page refers back to one above it. It was yielded, so its damage is found.
      yield page;
      for (const reference of referencesOf(page)) open.push(reference);
    }
  }

  /**
   * Whether a page was written by transaction `since` or an earlier one. For a large value the reference says which transaction wrote
   * it. For every other page its own header does: if the disk lost a write, that is still the transaction before.
   */
  isOlder({ number, txn }: Reference, since: number): boolean {
    if (txn !== undefined) return txn <= since;
    const read = readSync(this.fd, this.head, 0, this.head.length, number * PAGE_BYTES);
    return read === this.head.length && readU64(this.head, 0) === number && readU64(this.head, 8) <= since;
  }

  read({ number, overflow, table, near }: Reference): TreePage {
    const pages = this.meta?.pages ?? 0;
    const wanted = Math.max(overflow, 1);
    const broken = { number, txn: 0, bytes: Buffer.alloc(0), kind: undefined, table, near };
    if (number < 2 || number + wanted > pages) return broken;
    const bytes = this.bytesOf(number, wanted);
    if (readU64(bytes, 0) !== number) return broken;
    const kind = kindOf(bytes, overflow);
    return kind === undefined ? broken : { number, txn: readU64(bytes, 8), bytes, kind, table, near };
  }

  private bytesOf(number: number, pages: number): Buffer {
    const bytes = pages * PAGE_BYTES;
    if (this.buffer.length < bytes) this.buffer = Buffer.allocUnsafeSlow(bytes);
    const read = readSync(this.fd, this.buffer, 0, bytes, number * PAGE_BYTES);
    return this.buffer.subarray(0, read);
  }

  private readMeta(page: number): { txn: number; bytes: Buffer } | undefined {
    const bytes = Buffer.alloc(TXN_AT + 8);
    if (readSync(this.fd, bytes, 0, bytes.length, page * PAGE_BYTES) < bytes.length) return undefined;
    if (bytes.readUInt16LE(18) !== META || bytes.readUInt32LE(HEADER_BYTES) !== MAGIC) return undefined;
    if (bytes.readUInt32LE(HEADER_BYTES + 4) !== VERSION) return undefined;
    if (bytes.readUInt32LE(FREE_TREE_AT) !== PAGE_BYTES) return undefined;
    const txn = readU64(bytes, TXN_AT);
    return txn === 0 || txn % 2 === page ? { txn, bytes } : undefined; // transactions take turns, so the two never have the same
  }
}

/** What a page of a tree refers to: the pages below it, large values, and the roots of the tables. */
export function* referencesOf({ bytes, kind, table, near }: TreePage): Generator<Reference> {
  if (kind !== 'branch' && kind !== 'leaf') return;
  for (const at of nodesOf(bytes)) {
    const flags = bytes.readUInt16LE(at + 4);
    if (kind === 'branch') {
      const key = keyAt(bytes, at);
      yield { number: childAt(bytes, at), table, near: key.length === 0 ? near : key, overflow: 0 };
    } else if ((flags & (BIG_DATA | SUB_TREE)) !== 0) {
      const key = keyAt(bytes, at);
      const dataAt = at + NODE_BYTES + key.length;
      if ((flags & SUB_TREE) !== 0) {
        const tree = treeAt(bytes, dataAt, key.toString('latin1').replace(/\0$/, ''));
        if (tree !== undefined) yield rootOf(tree);
      } else {
        const large = { number: readU64(bytes, dataAt), txn: readU64(bytes, dataAt + 8) };
        // Not by the value's size: one that became smaller in the same transaction keeps all its pages.
        yield { ...large, table, near: key, overflow: readU64(bytes, dataAt + 16) };
      }
    }
  }
}

/** The numbers of the pages below a branch. */
export function* childrenOf({ bytes, kind }: TreePage): Generator<number> {
  if (kind !== 'branch') return;
  for (const at of nodesOf(bytes)) yield childAt(bytes, at);
}

function childAt(branch: Buffer, node: number): number {
  return branch.readUInt32LE(node) + branch.readUInt16LE(node + 4) * 2 ** 32;
}

export function rootOf({ table, root, depth }: Tree): Reference {
  return { number: root, table, near: Buffer.alloc(0), overflow: 0, depth };
}

function stateOf({ txn, bytes }: { readonly txn: number; readonly bytes: Buffer }): State {
  return { txn, sum: crc32(bytes), free: treeAt(bytes, FREE_TREE_AT, ''), main: treeAt(bytes, MAIN_TREE_AT, '') };
}

/** Undefined when the tree is empty. */
function treeAt(bytes: Buffer, at: number, table: string): Tree | undefined {
  const rootAt = at + TREE_BYTES - 8;
  if (bytes.readBigUInt64LE(rootAt) === NO_PAGE) return undefined;
  return { table, root: readU64(bytes, rootAt), depth: bytes.readUInt16LE(at + 6) };
}

/** The entries of a leaf whose values are in it. */
export function* entriesOf(leaf: Buffer): Generator<{ readonly key: Buffer; readonly value: Buffer }> {
  for (const at of nodesOf(leaf)) {
    if (leaf.readUInt16LE(at + 4) !== 0) continue;
    const key = keyAt(leaf, at);
    const valueAt = at + NODE_BYTES + key.length;
    yield { key, value: Buffer.from(leaf.subarray(valueAt, valueAt + leaf.readUInt32LE(at))) };
  }
}

/** Undefined unless the page is what is expected, with all its nodes inside it. */
function kindOf(bytes: Buffer, overflow: number): 'branch' | 'leaf' | 'overflow' | undefined {
  const flags = bytes.readUInt16LE(18);
  if (overflow > 0) return flags === OVERFLOW && bytes.readUInt32LE(20) === overflow ? 'overflow' : undefined;
  if (flags !== BRANCH && flags !== LEAF) return undefined;
  const offsetsEnd = HEADER_BYTES + bytes.readUInt16LE(20);
  if (offsetsEnd > bytes.length || bytes.length < PAGE_BYTES) return undefined;
  for (const node of nodesOf(bytes)) {
    if (node < offsetsEnd || node + NODE_BYTES > PAGE_BYTES) return undefined;
    const end = node + NODE_BYTES + bytes.readUInt16LE(node + 6);
    const special = flags === LEAF ? bytes.readUInt16LE(node + 4) : 0;
    const data =
      flags === BRANCH ? 0 : special === 0 ? bytes.readUInt32LE(node) : special === BIG_DATA ? LARGE_BYTES : TREE_BYTES;
    if (end + data > PAGE_BYTES) return undefined;
  }
  return flags === BRANCH ? 'branch' : 'leaf';
}

/** Where the nodes of a page begin. */
function* nodesOf(bytes: Buffer): Generator<number> {
  const end = HEADER_BYTES + bytes.readUInt16LE(20);
  for (let at = HEADER_BYTES; at + 2 <= end; at += 2) yield HEADER_BYTES + bytes.readUInt16LE(at);
}

function keyAt(bytes: Buffer, node: number): Buffer {
  const from = node + NODE_BYTES;
  return Buffer.from(bytes.subarray(from, from + bytes.readUInt16LE(node + 6)));
}

/** Page and transaction numbers, exact up to 2^53. */
function readU64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}
