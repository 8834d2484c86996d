import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

export const DUPLICATE_KEY = 11_000;
/**
 * Answers of a server that cannot write just now: stepping down, shutting down, not primary, out of disk, read-only; or of a
 * router that lost its server (6, 7, 89, 133, 9001).
 */
const TROUBLE_CODES = new Set([
  91, 189, 10_107, 10_058, 11_600, 11_602, 13_435, 13_436, 14_031, 50, 20, 64, 100, 262, 6, 7, 89, 133, 9_001,
]);

/** The driver's own words for "there is no connection to ask on". */
const AWAY_NAMES = new Set([
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoPoolClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
]);

/** What a socket says when the server is killed; the driver wraps most of it, but not a write that breaks (`EPIPE`). */
const SOCKET_CODES = new Set(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'ETIMEDOUT', 'ENOENT']);

/** Whether an insert failed only because what it writes is there already (ids are derived: the same write again). */
export function isDuplicateKey(error: unknown): boolean {
  if (error instanceof MongoBulkWriteError) {
    // What was new may not be on a majority yet: that is not "there already".
    if (error.result.getWriteConcernError() !== undefined) return false;
    const errors = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
    return errors.length > 0 && errors.every((one) => one.code === DUPLICATE_KEY);
  }
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Whether what was to be dropped is not there: the index, or its whole collection. */
export function isIndexNotFound(error: unknown): boolean {
  return error instanceof MongoServerError && (error.code === 27 || error.code === 26);
}

/**
 * Whether the store could not be asked (away, starting, cut off): the operation may or may not have happened.
 * A server's answer about the operation itself (a bad command, a duplicate key) is not trouble.
 */
export function isStoreTrouble(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && SOCKET_CODES.has(String(error.code))) return true;
  // Around a lost connection the driver puts an error of bulk writes, which then has no code: a server's answer has one.
  if (error instanceof MongoBulkWriteError && error.code === undefined) return true;
  // It is done, but perhaps not for ever: whatever the reason, that is no "nothing happened".
  if (error instanceof MongoWriteConcernError) return true;
  if (error instanceof MongoBulkWriteError && error.result?.getWriteConcernError() !== undefined) return true;
  if (error instanceof MongoServerError) return TROUBLE_CODES.has(Number(error.code));
  if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) return true;
  return error instanceof Error && AWAY_NAMES.has(error.name);
}
