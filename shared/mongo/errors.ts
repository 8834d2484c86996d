import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

export const DUPLICATE_KEY = 11_000;
/**
 * Error codes of a server that cannot write just now: stepping down, shutting down, not primary, out of disk, read-only; or of a
 * router that lost its server (6, 7, 89, 133, 9001).
 */
const TROUBLE_CODES = new Set([
  91, 189, 10_107, 10_058, 11_600, 11_602, 13_435, 13_436, 14_031, 50, 20, 64, 100, 262, 6, 7, 89, 133, 9_001,
]);

/** Names of the driver's errors for "there is no connection". */
const AWAY_NAMES = new Set([
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoPoolClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
]);

/** Codes of a socket whose server was killed. The driver wraps most of them, but not a broken write (`EPIPE`). */
const SOCKET_CODES = new Set(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'ETIMEDOUT', 'ENOENT']);

/** Whether an insert failed only because its documents exist already (ids are derived, so it is the same write again). */
export function isDuplicateKey(error: unknown): boolean {
  if (error instanceof MongoBulkWriteError) {
    // New documents may not be on a majority yet: that is not "exists already".
    if (error.result.getWriteConcernError() !== undefined) return false;
    const errors = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
    return errors.length > 0 && errors.every((one) => one.code === DUPLICATE_KEY);
  }
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** Whether the index to be dropped, or its whole collection, does not exist. */
export function isIndexNotFound(error: unknown): boolean {
  return error instanceof MongoServerError && (error.code === 27 || error.code === 26);
}

/**
 * Whether the store could not be reached (away, starting, cut off), so that the operation may or may not have happened. A
 * server's answer about the operation itself (a bad command, a duplicate key) is not trouble.
 */
export function isStoreTrouble(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && SOCKET_CODES.has(String(error.code))) return true;
  // The driver wraps a lost connection in a bulk-write error without a code. A server's answer has a code.
  if (error instanceof MongoBulkWriteError && error.code === undefined) return true;
  // The write is done but may be rolled back. Whatever the reason, it is not "nothing happened".
  if (error instanceof MongoWriteConcernError) return true;
  if (error instanceof MongoBulkWriteError && error.result?.getWriteConcernError() !== undefined) return true;
  if (error instanceof MongoServerError) return TROUBLE_CODES.has(Number(error.code));
  if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) return true;
  return error instanceof Error && AWAY_NAMES.has(error.name);
}
