import { spend } from '../bson/effort.ts';
import { malformed, notSupported, StoreError } from '../bson/errors.ts';
import { parsePath } from '../bson/path.ts';
import {
  byteAt,
  fieldOf,
  isContainer,
  MAX_DEPTH,
  MISSING,
  TOO_DEEP,
  TYPE,
  type Value,
  validDocumentEnd,
  valueEnd,
} from '../bson/read.ts';
import { show } from '../bson/value.ts';
import type { BsonWriter } from '../bson/write.ts';
import type { Scope } from '../query/expression.ts';

/**
 * An update as a tree over field names, as mongod builds it: `{ $set: { 'a.b': 1 }, $inc: { 'a.c': 1 } }` is the node
 * `a` with the children `b` and `c`. Applying it walks a document once and copies what no node names.
 */
interface UpdateNode {
  readonly name: string;
  readonly bytes: Buffer;
  /** The name as an array index, or -1. */
  readonly index: number;
  readonly children: UpdateNode[];
  /** The children, once they are many. */
  byName: Map<string, UpdateNode> | undefined;
  change: Change | undefined;
}

export interface Change {
  /** The new value; `MISSING` removes the field, the current value itself leaves it. */
  readonly next: (current: Value, document: DocumentScope) => Value;
  /** False for a change that never makes a missing field (`$unset`, `$pull`). */
  readonly creates: boolean;
  /** `$setOnInsert`. */
  readonly onInsertOnly: boolean;
}

/** The document that is being updated, as it was before. */
export interface DocumentScope extends Scope {
  readonly inserting: boolean;
}

const ID = Buffer.from('_id');

export function idOf({ buf, pos }: DocumentScope): string {
  const id = fieldOf(buf, pos, ID);
  return id.type === TYPE.missing ? 'null' : show(id);
}

function newNode(name: string): UpdateNode {
  // Parsed as a path, the name is cached with its bytes and its number.
  const path = parsePath(name);
  return {
    name,
    bytes: path.parts[0] ?? Buffer.alloc(0),
    index: path.indexes[0] ?? -1,
    children: [],
    byName: undefined,
    change: undefined,
  };
}

/** Throws 15 when `value` at the end of `path` would be nested deeper than documents may be. */
export function checkDepth(path: string, value: Value): void {
  if (!isContainer(value.type)) return;
  let depth = 1;
  for (let at = path.indexOf('.'); at >= 0; at = path.indexOf('.', at + 1)) depth++;
  const end = valueEnd(value.type, value.buf, value.pos);
  if (validDocumentEnd(value.buf, value.pos, end, depth) === TOO_DEEP)
    throw new StoreError(15, `cannot nest a document deeper than ${MAX_DEPTH} levels`);
}

export const REMOVE: Change = { next: () => MISSING, creates: false, onInsertOnly: false };

export interface UpdateTree {
  readonly root: UpdateNode;
  readonly paths: string[];
  /** A computed value nested the last document deeper: an object or an array. */
  nested: boolean;
}

export function newTree(): UpdateTree {
  return { root: newNode(''), paths: [], nested: false };
}

/** Places a change at a path. Two changes at one path, or one inside the other, are refused. */
export function addChange(tree: UpdateTree, path: string, change: Change): void {
  tree.paths.push(path);
  const names = path.split('.');
  if (names.length > MAX_DEPTH) throw new StoreError(15, 'FieldPath is too long');
  let node = tree.root;
  for (const [level, name] of names.entries()) node = placeChild(node, name, path, level === names.length - 1);
  node.change = change;
}

function placeChild(node: UpdateNode, name: string, path: string, last: boolean): UpdateNode {
  checkName(name, path);
  const known = childOf(node, name);
  if (known !== undefined) {
    if (known.change !== undefined || last) throw malformed(`Updating the path '${path}' would create a conflict`);
    return known;
  }
  const child = newNode(name);
  node.children.push(child);
  node.byName?.set(name, child);
  return child;
}

function checkName(name: string, path: string): void {
  if (name === '') throw malformed(`The update path '${path}' contains an empty field name.`);
  if (name.charCodeAt(0) === 0x24) throw notSupported(`The name ${name} in the update path '${path}'`);
}

/** With more children, they are looked up by name. */
const LINEAR_LIMIT = 32;

/** From the end: an update that sets several fields of each of hundreds of siblings names them one after the other. */
function childOf(node: UpdateNode, name: string): UpdateNode | undefined {
  if (node.byName !== undefined) return node.byName.get(name);
  if (node.children.length > LINEAR_LIMIT) node.byName = new Map(node.children.map((child) => [child.name, child]));
  return node.children.findLast((child) => child.name === name);
}

/** Whether applying the node makes something when nothing is there. */
function creates(node: UpdateNode, inserting: boolean): boolean {
  if (node.change !== undefined) return node.change.creates && (inserting || !node.change.onInsertOnly);
  return node.children.some((child) => creates(child, inserting));
}

/**
 * Writes the document of `scope` with the tree's changes into `out`, in one pass. Everything that no node names is
 * copied as bytes. Existing fields keep their place; new ones come last, in the tree's order.
 *
 * `replaceScalars`: a pipeline's `$set` replaces a scalar in its way by an object; an update operator fails with 28.
 */
export function applyTree(root: UpdateNode, scope: DocumentScope, out: BsonWriter, replaceScalars: boolean): void {
  const handle = out.begin();
  applyToObject(root.children, scope.buf, scope.pos, scope, out, replaceScalars);
  out.close(handle);
}

function applyToObject(
  nodes: readonly UpdateNode[],
  buf: Buffer,
  doc: number,
  scope: DocumentScope,
  out: BsonWriter,
  replaceScalars: boolean,
): void {
  let seen = 0; // a bit per node; beyond 31 nodes `late` remembers
  let late: Set<UpdateNode> | undefined;
  let at = doc + 4;
  let runStart = at;
  for (;;) {
    const type = byteAt(buf, at);
    if (type === 0) break;
    let nameEnd = at + 1;
    while (buf[nameEnd] !== 0) nameEnd++;
    const pos = nameEnd + 1;
    const end = valueEnd(type, buf, pos);
    spend(nodes.length);
    const index = nodeAt(nodes, buf, at + 1, nameEnd);
    const node = index < 0 ? undefined : nodes[index]; // `nodes[-1]` would be a slow look-up by name
    if (node !== undefined) {
      if (index < 31) seen |= 1 << index;
      else late = (late ?? new Set()).add(node);
      out.raw(buf, runStart, at);
      applyToElement(node, { type, buf, pos }, scope, out, replaceScalars);
      runStart = end;
    }
    at = end;
  }
  out.raw(buf, runStart, at);
  for (const [index, node] of nodes.entries()) {
    const done = index < 31 ? (seen & (1 << index)) !== 0 : late?.has(node) === true;
    if (!done) create(node, node.bytes, scope, out, replaceScalars);
  }
}

function nodeAt(nodes: readonly UpdateNode[], buf: Buffer, start: number, end: number): number {
  const length = end - start;
  for (let n = 0; n < nodes.length; n++) {
    const name = nodes[n]?.bytes;
    if (name === undefined || name.length !== length) continue;
    let i = 0;
    while (i < length && name[i] === buf[start + i]) i++;
    if (i === length) return n;
  }
  return -1;
}

/** Writes the element of `current` as `node` makes it; the name is the node's own. */
function applyToElement(
  node: UpdateNode,
  current: Value,
  scope: DocumentScope,
  out: BsonWriter,
  replaceScalars: boolean,
): void {
  if (node.change !== undefined) {
    const active = scope.inserting || !node.change.onInsertOnly;
    const next = active ? node.change.next(current, scope) : current;
    if (next.type !== TYPE.missing) out.value(node.bytes, next);
  } else if (current.type === TYPE.object) {
    const handle = out.object(node.bytes);
    applyToObject(node.children, current.buf, current.pos, scope, out, replaceScalars);
    out.close(handle);
  } else if (current.type === TYPE.array) {
    if (replaceScalars) throw notSupported(`A pipeline that changes the elements of the array '${node.name}'`);
    const handle = out.array(node.bytes);
    applyToArray(node, current, scope, out);
    out.close(handle);
  } else if (!creates(node, scope.inserting)) {
    out.value(node.bytes, current);
  } else if (replaceScalars) {
    create(node, node.bytes, scope, out, true);
  } else {
    throw new StoreError(28, `Cannot create a field in element {${node.name}: ${show(current)}}`);
  }
}

/** Update operators name an array's elements by number. */
function applyToArray(node: UpdateNode, { buf, pos: doc }: Value, scope: DocumentScope, out: BsonWriter): void {
  let changed = 0;
  let at = doc + 4;
  for (let index = 0; ; index++) {
    const type = byteAt(buf, at);
    if (type === 0) break;
    let nameEnd = at + 1;
    while (buf[nameEnd] !== 0) nameEnd++;
    const end = valueEnd(type, buf, nameEnd + 1);
    spend(node.children.length);
    const child = node.children.find((one) => one.index === index);
    const before = out.length;
    if (child === undefined) out.raw(buf, at, end);
    else applyToElement(child, { type, buf, pos: nameEnd + 1 }, scope, out, false);
    if (child !== undefined) changed++;
    if (out.length === before) throw notSupported(`Removing an element of the array '${node.name}'`);
    at = end;
  }
  if (changed < node.children.length) throw new StoreError(28, `Cannot create a field in the array '${node.name}'`);
}

/**
 * Writes a node where there is no field yet. When its changes create nothing, an update operator leaves no empty object
 * behind; a pipeline's `$set` of `a.b` to `$$REMOVE` does, as in mongod.
 */
function create(node: UpdateNode, name: Buffer, scope: DocumentScope, out: BsonWriter, byPipeline: boolean): void {
  if (node.change !== undefined) {
    if (node.change.onInsertOnly && !scope.inserting) return;
    const next = node.change.next(MISSING, scope);
    if (next.type !== TYPE.missing) out.value(name, next);
    return;
  }
  const before = out.length;
  const handle = out.object(name);
  const empty = out.length;
  for (const child of node.children) create(child, child.bytes, scope, out, byPipeline);
  if (out.length === empty && !(byPipeline && creates(node, scope.inserting))) out.length = before;
  else out.close(handle);
}
