import { isObject, type JsonObject } from '../http/context.ts';

/** Somebody else's JSON, of which nothing is believed: what is not of the type asked for is empty. Nothing is copied. */

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
