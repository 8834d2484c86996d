import { spend } from '../bson/effort.ts';
import { notSupported, StoreError } from '../bson/errors.ts';
import { byteAt, MISSING, TYPE, type Value, valueEnd } from '../bson/read.ts';
import { show } from '../bson/value.ts';
import type { BsonWriter } from '../bson/write.ts';
import { creates, type DocumentScope, type UpdateNode } from './node.ts';

/**
 * Writes the document of `scope` with the tree's changes into `out`, in one pass. Everything that no node names is copied as
 * bytes. Existing fields keep their place; new ones come last, in the tree's order.
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
 * Writes a node where there is no field yet. When its changes create nothing, an update operator leaves no empty object behind;
 * a pipeline's `$set` of `a.b` to `$$REMOVE` does, as in mongod.
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
