import { isObject, type JsonObject } from '../../http/context.ts';

/** Reads JSON of others without trusting its types: a value of the wrong type counts as empty. Copies nothing. */

const NO_MEMBERS: JsonObject = {};
const NO_ENTRIES: readonly unknown[] = [];

export function object(value: unknown): JsonObject {
  return isObject(value) ? value : NO_MEMBERS;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_ENTRIES;
}

export function string(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
