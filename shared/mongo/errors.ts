import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';
import { INGRESS_LIMIT, OVERLOAD_CODES, TROUBLE_CODES } from './trouble-codes.ts';

export const DUPLICATE_KEY = 11_000;

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

/**
 * Whether the server refuses the user of MONGODB_URI, whatever they ask: Unauthorized, AuthenticationFailed (a changed role or
 * password). It says nothing about what was to be stored.
 */
export function isAccessRefused(error: unknown): boolean {
  return error instanceof MongoServerError && (error.code === 13 || error.code === 18);
}

/** Whether the store's disk is full (OutOfDiskSpace). The message says what to do. */
export function isDiskFull(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === 14_031;
}

/**
 * Whether the store could not be reached or could not do it now (away, starting, no primary, overloaded), so that the operation
 * may or may not have happened. A server's answer about the operation itself (a bad command, a duplicate key) is not trouble.
 */
export function isStoreTrouble(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && SOCKET_CODES.has(String(error.code))) return true;
  // The driver wraps a lost connection in a bulk-write error without a code. A server's answer has a code.
  if (error instanceof MongoBulkWriteError && error.code === undefined) return true;
  // The write is done but may be rolled back. Whatever the reason, it is not "nothing happened".
  if (error instanceof MongoWriteConcernError) return true;
  if (error instanceof MongoBulkWriteError && error.result?.getWriteConcernError() !== undefined) return true;
  if (error instanceof MongoServerError) return isTroubleAnswer(error);
  if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) return true;
  return error instanceof Error && AWAY_NAMES.has(error.name);
}

/**
 * The error for a request that we do not even send to the store, because it is too far behind. Callers handle it like any trouble
 * of the store.
 */
export function storeBehind(what: string): Error {
  return new MongoNetworkError(what);
}

/** Labels of MongoDB's drivers specifications (retryable writes, client backpressure) for what may be asked again. */
const TROUBLE_LABELS = ['RetryableWriteError', 'RetryableError', 'SystemOverloadedError'];

function isTroubleAnswer(error: MongoServerError): boolean {
  if (TROUBLE_CODES.has(Number(error.code))) return true;
  if (error instanceof MongoBulkWriteError && worstWriteError([error.writeErrors].flat()).trouble) return true;
  return TROUBLE_LABELS.some((label) => error.hasErrorLabel(label));
}

/** Of the errors of several writes in one command, the one that counts: trouble before anything else, then the first. */
export function worstWriteError<T extends { readonly code?: unknown }>(
  errors: readonly T[],
): { readonly error: T | undefined; readonly trouble: boolean } {
  const trouble = errors.find(({ code }) => TROUBLE_CODES.has(Number(code)));
  return { error: trouble ?? errors[0], trouble: trouble !== undefined };
}

/** Whether the store has more to do than it can. Whoever asks again at once makes it worse. */
export function isOverload(error: unknown): boolean {
  if (!(error instanceof MongoServerError)) return false;
  return OVERLOAD_CODES.has(Number(error.code)) || error.hasErrorLabel('SystemOverloadedError');
}

/**
 * Of store trouble: whether the command certainly had no effect, because it was never sent, or was refused as a whole before it
 * was begun. An error of one write among several (without `ok`) says nothing about the others.
 */
export function hadNoEffect(error: unknown): error is Error {
  if (error instanceof MongoServerSelectionError) return true;
  if (!(error instanceof MongoServerError) || error instanceof MongoWriteConcernError || error.ok !== 0) return false;
  return error.code === INGRESS_LIMIT || (isOverload(error) && error.hasErrorLabel('RetryableError'));
}
