import { spend } from '../bson/effort.ts';
import { notSupported, StoreError } from '../bson/errors.ts';
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
  /** In which order new fields are added: update operators by name, a pipeline's stage as it names them. */
  readonly newFields: 'by name' | 'as named';
  /** A computed value nested the last document deeper: an object or an array. */
  nested: boolean;
}

export function newTree(newFields: UpdateTree['newFields']): UpdateTree {
  return { root: newNode(''), paths: [], newFields, nested: false };
}

/** Places a change at a path. Two changes at one path, or one inside the other, are the conflict 40. */
export function addChange(tree: UpdateTree, path: string, change: Change): void {
  if (path === '') throw new StoreError(56, 'An empty update path is not valid.');
  tree.paths.push(path);
  if (!path.includes('.')) {
    placeChild(tree, tree.root, path, path, true, path).change = change;
    return;
  }
  let node = tree.root;
  const names = path.split('.');
  if (names.length > MAX_DEPTH) throw new StoreError(15, 'FieldPath is too long');
  for (let level = 0; level < names.length; level++) {
    const last = level === names.length - 1;
    node = placeChild(tree, node, names[level] ?? '', path, last, names.slice(0, level + 1).join('.'));
  }
  node.change = change;
}

function placeChild(
  tree: UpdateTree,
  node: UpdateNode,
  name: string,
  path: string,
  last: boolean,
  at: string,
): UpdateNode {
  checkName(name, path);
  const known = childOf(node, name);
  if (known !== undefined) {
    if (known.change !== undefined || last) throw conflict(tree, path, at);
    return known;
  }
  const child = newNode(name);
  if (tree.newFields === 'by name') insertSorted(node.children, child);
  else node.children.push(child);
  node.byName?.set(name, child);
  return child;
}

function conflict(tree: UpdateTree, path: string, at: string): StoreError {
  if (tree.newFields === 'as named')
    return new StoreError(40176, `specification contains two conflicting paths, '${path}'`);
  return new StoreError(40, `Updating the path '${path}' would create a conflict at '${at}'`);
}

function checkName(name: string, path: string): void {
  if (name === '') {
    throw new StoreError(56, `The update path '${path}' contains an empty field name, which is not allowed.`);
  }
  if (name.charCodeAt(0) !== 0x24) return;
  if (name === '$' || name.startsWith('$[')) throw notSupported(`The positional operator ${name} in '${path}'`);
  throw new StoreError(52, `The dollar ($) prefixed field '${name}' in '${path}' is not valid for storage.`);
}

/** Above this number children are looked up by name. */
const LINEAR_LIMIT = 32;

/** Searches from the end: an update that sets several fields each of hundreds of siblings names them one after the other. */
function childOf(node: UpdateNode, name: string): UpdateNode | undefined {
  if (node.byName !== undefined) return node.byName.get(name);
  if (node.children.length > LINEAR_LIMIT) node.byName = new Map(node.children.map((child) => [child.name, child]));
  return node.children.findLast((child) => child.name === name);
}

/** Effort (bson/effort.ts) of a step back in the order of names. */
const STEP_BYTES = 8;

/** mongod adds new fields in this order: by name, numbers by value. */
function insertSorted(children: UpdateNode[], child: UpdateNode): void {
  let at = children.length;
  while (at > 0) {
    const before = children[at - 1];
    if (before === undefined || !comesBefore(child, before)) break;
    at--;
  }
  spend((children.length - at) * STEP_BYTES);
  children.splice(at, 0, child);
}

function comesBefore(a: UpdateNode, b: UpdateNode): boolean {
  return a.index >= 0 && b.index >= 0 ? a.index < b.index : a.name < b.name;
}

/** Whether applying the node makes something when nothing is there. */
export function creates(node: UpdateNode, inserting: boolean): boolean {
  if (node.change !== undefined) return node.change.creates && (inserting || !node.change.onInsertOnly);
  return node.children.some((child) => creates(child, inserting));
}
