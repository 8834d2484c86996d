import type { Document } from 'mongodb';

/**
 * The store's time in expressions, as milliseconds since 1970: `$$NOW`, constant within a command (through a `mongos`:
 * its clock). Compare this number, and add with `msAfter`: not every server of MongoDB's protocol compares `$$NOW` with
 * dates or adds to a date (decision 30), and all convert it. MongoDB's manual: reference/operator/aggregation/toLong/,
 * .../toDate/.
 */
export const NOW_MS: Document = { $toLong: '$$NOW' };

/** Milliseconds of a date expression: null when it is missing, which is before every number. */
export function msOf(date: Document | string): Document {
  return { $toLong: date };
}

/** `date`: `$$NOW`, or a path. */
export function msAfter(date: string, ms: number): Document {
  return { $toDate: { $add: [msOf(date), ms] } };
}
