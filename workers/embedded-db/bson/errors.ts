/** From mongod's `error_codes.yml`. */
const CODE_NAMES: Readonly<Record<number, string>> = {
  1: 'InternalError',
  2: 'BadValue',
  15: 'Overflow',
  26: 'NamespaceNotFound',
  27: 'IndexNotFound',
  28: 'PathNotViable',
  43: 'CursorNotFound',
  50: 'MaxTimeMSExpired',
  59: 'CommandNotFound',
  67: 'CannotCreateIndex',
  73: 'InvalidNamespace',
  85: 'IndexOptionsConflict',
  86: 'IndexKeySpecsConflict',
  91: 'ShutdownInProgress',
  171: 'CannotIndexParallelArrays',
  175: 'QueryPlanKilled',
  201: 'CannotBuildIndexKeys',
  238: 'NotImplemented',
  276: 'IndexBuildAborted',
  292: 'QueryExceededMemoryLimitNoDiskUseAllowed',
  301: 'DataCorruptionDetected',
  10334: 'BSONObjectTooLarge',
  11000: 'DuplicateKey',
  11600: 'InterruptedAtShutdown',
  14031: 'OutOfDiskSpace',
};

export function codeName(code: number): string {
  return CODE_NAMES[code] ?? `Location${code}`;
}

/** The answer to a client's mistake, with mongod's code. Thrown only before a statement has written anything. */
export class StoreError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** 11000, with what drivers show of it: both are BSON documents, `{ email: 1 }` and `{ email: "a@b" }`. */
export class DuplicateKeyError extends StoreError {
  readonly keyPattern: Buffer;
  readonly keyValue: Buffer;

  constructor(message: string, keyPattern: Buffer, keyValue: Buffer) {
    super(11000, message);
    this.keyPattern = keyPattern;
    this.keyValue = keyValue;
  }
}

/** The error for requests that no driver sends. */
export function malformed(what: string): StoreError {
  return new StoreError(2, what);
}

/** The error for what only MongoDB supports: the store refuses it by name, and never does half of it. */
export function notSupported(what: string): StoreError {
  return new StoreError(238, `${what} is not supported by the embedded store; set HARKARA_MONGODB_URI to use MongoDB`);
}
