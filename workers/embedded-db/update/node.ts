import { arrayIndex } from '../bson/path.ts';
import { fieldOf, MISSING, TYPE, type Value } from '../bson/read.ts';
import { show } from '../bson/value.ts';
import { notSupported, StoreError } from '../errors.ts';
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

export function newNode(name: string): UpdateNode {
  return { name, bytes: Buffer.from(name), index: arrayIndex(name), children: [], change: undefined };
}

export const REMOVE: Change = { next: () => MISSING, creates: false, onInsertOnly: false };

/** Places a change at a path. Two changes at one path, or one inside the other, are the conflict 40. */
export function addChange(root: UpdateNode, path: string, change: Change): void {
  if (path === '') throw new StoreError(56, 'An empty update path is not valid.');
  let node = root;
  const names = path.includes('.') ? path.split('.') : [path];
  for (const [level, name] of names.entries()) {
    checkName(name, path);
    let child = childOf(node, name);
    if (child === undefined) {
      child = newNode(name);
      insertSorted(node.children, child);
    } else if (child.change !== undefined || level === names.length - 1) {
      throw conflict(path, names.slice(0, level + 1).join('.'));
    }
    node = child;
  }
  node.change = change;
}

function conflict(path: string, at: string): StoreError {
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

function childOf(node: UpdateNode, name: string): UpdateNode | undefined {
  for (const child of node.children) if (child.name === name) return child;
  return undefined;
}

/** mongod adds new fields in this order: by name, numbers by value. */
function insertSorted(children: UpdateNode[], child: UpdateNode): void {
  let at = children.length;
  while (at > 0) {
    const before = children[at - 1];
    if (before === undefined || !comesBefore(child, before)) break;
    at--;
  }
  children.splice(at, 0, child);
}

function comesBefore(a: UpdateNode, b: UpdateNode): boolean {
  return a.index >= 0 && b.index >= 0 ? a.index < b.index : a.name < b.name;
}

/** The dotted paths of all changes. */
export function changedPaths(node: UpdateNode, prefix = ''): string[] {
  return node.children.flatMap((child) => {
    const path = prefix + child.name;
    return child.change === undefined ? changedPaths(child, `${path}.`) : [path];
  });
}

/** Whether applying the node makes something when nothing is there. */
export function creates(node: UpdateNode, inserting: boolean): boolean {
  if (node.change !== undefined) return node.change.creates && (inserting || !node.change.onInsertOnly);
  return node.children.some((child) => creates(child, inserting));
}
