import { malformed, notSupported, StoreError } from '../bson/errors.ts';
import { MAX_DEPTH, parsePath } from '../bson/path.ts';
import { fieldOf, isContainer, MISSING, TYPE, type Value, valueEnd } from '../bson/read.ts';
import { TOO_DEEP, validDocumentEnd } from '../bson/validate.ts';
import { show } from '../bson/value.ts';
import type { Scope } from '../query/expression.ts';

/**
 * An update as a tree over field names, as mongod builds it: `{ $set: { 'a.b': 1 }, $inc: { 'a.c': 1 } }` is the node `a`
 * with the children `b` and `c`. Applying it walks a document once and copies what no node names.
 */
export interface UpdateNode {
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
  /** False for what never makes a field that is not there (`$unset`, `$pull`). */
  readonly creates: boolean;
  /** `$setOnInsert`. */
  readonly onInsertOnly: boolean;
}

/** The document that is being updated, as it was before. */
export interface DocumentScope extends Scope {
  /** True while an upsert makes a new document. */
  readonly inserting: boolean;
}

const ID = Buffer.from('_id');

/** The document's `_id` as error messages show it. */
export function idOf({ buf, pos }: DocumentScope): string {
  const id = fieldOf(buf, pos, ID);
  return id.type === TYPE.missing ? 'null' : show(id);
}

function newNode(name: string): UpdateNode {
  // As a path of its own the name is cached with its bytes and its number.
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

/** An update's root node and the dotted paths of its changes. */
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

/** Above this number children are looked up by name. */
const LINEAR_LIMIT = 32;

/** Searches from the end: an update that sets several fields each of hundreds of siblings names them one after the other. */
function childOf(node: UpdateNode, name: string): UpdateNode | undefined {
  if (node.byName !== undefined) return node.byName.get(name);
  if (node.children.length > LINEAR_LIMIT) node.byName = new Map(node.children.map((child) => [child.name, child]));
  return node.children.findLast((child) => child.name === name);
}

/** Whether applying the node makes something when nothing is there. */
export function creates(node: UpdateNode, inserting: boolean): boolean {
  if (node.change !== undefined) return node.change.creates && (inserting || !node.change.onInsertOnly);
  return node.children.some((child) => creates(child, inserting));
}
