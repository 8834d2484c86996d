import {
  MongoBulkWriteError,
  MongoCompatibilityError,
  MongoError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoParseError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

export const DUPLICATE_KEY = 11_000;

/** Errors of a socket whose server was killed. The driver wraps most of them, but not a broken write (`EPIPE`). */
const SOCKET_CODES = new Set(['EPIPE', 'ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'ETIMEDOUT', 'ENOENT']);

/** An insert failed only because its documents exist already (ids are derived, so it is the same write again). */
export function isDuplicateKey(error: unknown): boolean {
  if (error instanceof MongoBulkWriteError) {
    // New documents may not be on a majority yet: that is not "exists already".
    if (error.result.getWriteConcernError() !== undefined) return false;
    const errors = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
    return errors.length > 0 && errors.every((one) => one.code === DUPLICATE_KEY);
  }
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY;
}

/** OutOfDiskSpace. The message says what to do. */
export function isDiskFull(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === 14_031;
}

/**
 * Whether the store could not do it now, or may not have: it was away, starts, has no primary, is overloaded, or its
 * answer is not surely about this document or command (`OWN_FAULTS`). The operation may have happened, so nobody may be
 * answered yes, and it is tried again. Errors of our own code are not the store's.
 */
export function isStoreTrouble(error: unknown): boolean {
  if (error instanceof MongoServerError) return !isOwnFault(error);
  if (error instanceof MongoError) return !MISUSES.some((misuse) => error instanceof misuse);
  return error instanceof Error && 'code' in error && SOCKET_CODES.has(String(error.code));
}

/** Errors of the driver about how it was called, before anything is sent. */
const MISUSES = [MongoInvalidArgumentError, MongoParseError, MongoCompatibilityError] as const;

/** From the drivers' specifications (retryable writes, client backpressure): may be asked again. */
const TROUBLE_LABELS = ['RetryableWriteError', 'RetryableError', 'SystemOverloadedError'];

function isOwnFault(error: MongoServerError): boolean {
  if (!isOwnCode(error.code) || TROUBLE_LABELS.some((label) => error.hasErrorLabel(label))) return false;
  // The write is done but may be rolled back: that is not "nothing happened".
  if (error instanceof MongoWriteConcernError) return false;
  if (!(error instanceof MongoBulkWriteError)) return true;
  return error.result?.getWriteConcernError() === undefined && !worstWriteError([error.writeErrors].flat()).trouble;
}

function isOwnCode(code: unknown): boolean {
  return typeof code === 'number' && OWN_FAULTS.has(code);
}

/** The store refused nothing but did nothing, because it is behind or others came between. Handled as trouble. */
export function storeTrouble(what: string): Error {
  return new MongoNetworkError(what);
}

/** The error that counts among those of one command: trouble before anything else, then the first. */
export function worstWriteError<T extends { readonly code?: unknown }>(
  errors: readonly T[],
): { readonly error: T | undefined; readonly trouble: boolean } {
  const trouble = errors.find(({ code }) => !isOwnCode(code));
  return { error: trouble ?? errors[0], trouble: trouble !== undefined };
}

/**
 * Overload, from MongoDB 8 (SystemOverloadedError): AdmissionQueueOverflow, RateLimitExceeded,
 * PooledConnectionAcquisitionRejected, IngressRequestRateLimitExceeded.
 */
const OVERLOAD_CODES: ReadonlySet<number> = new Set([433, 449, 450, 462]);
/** The server counts requests before it reads them: nothing was done. */
const INGRESS_LIMIT = 462;

/** The store has more to do than it can. Whoever asks again at once makes it worse. */
export function isOverload(error: unknown): boolean {
  if (!(error instanceof MongoServerError)) return false;
  return OVERLOAD_CODES.has(Number(error.code)) || error.hasErrorLabel('SystemOverloadedError');
}

/**
 * Of store trouble: whether the command certainly had no effect, because it was never sent, or refused as a whole
 * before it was begun. An error of one write among several (without `ok`) says nothing about the others.
 */
export function hadNoEffect(error: unknown): error is Error {
  if (error instanceof MongoServerSelectionError) return true;
  if (!(error instanceof MongoServerError) || error instanceof MongoWriteConcernError || error.ok !== 0) return false;
  return error.code === INGRESS_LIMIT || (isOverload(error) && error.hasErrorLabel('RetryableError'));
}

/**
 * Codes with which a server says that this document or command is wrong, so that it would say so again. Names:
 * MongoDB's manual, reference/error-codes/, and mongodb/mongo, src/mongo/base/error_codes.yml (2026).
 *
 * Every other answer, known or not, is trouble of the store: a store that stops, or a proxy before it, may answer
 * anything. So a code is here only when no state of a server or a cluster brings it about. Left out for that reason,
 * among others: InternalError (1), UnknownError (8), Unauthorized (13), ProtocolError (17), IllegalOperation (20),
 * InvalidBSON (22: a page that was read wrong), NamespaceNotFound (26), CursorNotFound (43), OperationFailed (96),
 * UnsatisfiableWriteConcern (100), CommandFailed (125).
 */
export const OWN_FAULTS: ReadonlyMap<number, string> = new Map([
  // About the document.
  [2, 'BadValue'],
  [14, 'TypeMismatch'],
  [15, 'Overflow'],
  [16, 'InvalidLength'],
  [28, 'PathNotViable'],
  [52, 'DollarPrefixedFieldName'],
  [53, 'InvalidIdField'],
  [54, 'NotSingleValueField'],
  [56, 'EmptyFieldName'],
  [57, 'DottedFieldName'],
  [66, 'ImmutableField'],
  [121, 'DocumentValidationFailure'], // somebody gave the collection a validator
  [171, 'CannotIndexParallelArrays'],
  [201, 'CannotBuildIndexKeys'],
  [241, 'ConversionFailure'],
  [301, 'DataCorruptionDetected'], // what is stored is damaged, until somebody brings it back from a backup
  [10_334, 'BSONObjectTooLarge'],
  [11_000, 'DuplicateKey'],
  [17_419, 'Location17419'], // an update would make it too large: exec/update_stage.cpp
  [17_420, 'Location17420'], // the same of an upsert
  // About the command.
  [9, 'FailedToParse'],
  [40, 'ConflictingUpdateOperators'],
  [59, 'CommandNotFound'],
  [72, 'InvalidOptions'],
  [73, 'InvalidNamespace'],
  [115, 'CommandNotSupported'],
  [168, 'InvalidPipelineOperator'],
  [224, 'QueryFeatureNotAllowed'],
  [238, 'NotImplemented'],
  [292, 'QueryExceededMemoryLimitNoDiskUseAllowed'],
  [40_414, 'IDLFailedToParse'],
  [40_415, 'IDLUnknownField'],
  // About an index or a collection that is made or removed.
  [27, 'IndexNotFound'],
  [48, 'NamespaceExists'],
  [67, 'CannotCreateIndex'],
  [68, 'IndexAlreadyExists'],
  [85, 'IndexOptionsConflict'],
  [86, 'IndexKeySpecsConflict'],
  [197, 'InvalidIndexSpecificationOption'],
]);
