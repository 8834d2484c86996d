/**
 * Codes with which a server says "not now", so that the same command may be given again. Names and categories are from
 * mongodb/mongo, src/mongo/base/error_codes.yml (2026). What is not listed is an answer about the command itself. By code, because
 * the server labels them (`RetryableWriteError`) only in answers to retryable writes, which are off (connect.ts).
 *
 * Of the categories in parentheses, all codes that a client may get are here, with two exceptions. Codes of transactions are left
 * out, because we use none. So is OperationFailed (96): its category says that a cursor is gone, but the reason may be a query that
 * fails each time. Codes without
 * a category are here when the source shows that they pass.
 */
export const TROUBLE_CODES: ReadonlyMap<number, string> = new Map([
  // It is no primary now, or is about to stop. (NotPrimaryError, ShutdownError)
  [91, 'ShutdownInProgress'],
  [189, 'PrimarySteppedDown'],
  [10_058, 'LegacyNotPrimary'],
  [10_107, 'NotWritablePrimary'],
  [11_600, 'InterruptedAtShutdown'],
  [11_602, 'InterruptedDueToReplStateChange'],
  [13_435, 'NotPrimaryNoSecondaryOk'],
  [13_436, 'NotPrimaryOrSecondary'],
  // The router, or the server itself, did not get through to another server. (NetworkError, NetworkTimeoutError)
  [6, 'HostUnreachable'],
  [7, 'HostNotFound'],
  [89, 'NetworkTimeout'],
  [133, 'FailedToSatisfyReadPreference'],
  [145, 'PooledConnectionsDropped'], // for those who wait in the router for a connection to a server that it finds gone
  [202, 'NetworkInterfaceExceededTimeLimit'],
  [317, 'ConnectionPoolExpired'],
  [384, 'ConnectionError'],
  [407, 'PooledConnectionAcquisitionExceededTimeLimit'],
  [9_001, 'SocketException'],
  [91_331, 'RetriableRemoteCommandFailure'],
  // The router does not know where the documents are now. It has tried again itself before it says so. (StaleShardVersionError)
  [63, 'StaleShardVersion'],
  [82, 'NoProgressMade'], // five rounds in a row, while chunks moved
  [150, 'StaleEpoch'],
  [249, 'StaleDbVersion'],
  [13_388, 'StaleConfig'],
  // Something else is going on in the cluster that ends by itself: resharding, a backup, an upgrade. (RetriableError)
  [134, 'ReadConcernMajorityNotAvailableYet'],
  [319, 'MovePrimaryInProgress'], // any write to an unsharded collection, as long as `movePrimary` runs
  [358, 'InternalTransactionNotSupported'],
  [406, 'MigrationBlockingOperationCoordinatorCleaningUp'],
  [412, 'UpdatesStillPending'],
  [453, 'InterruptedDueToReshardingCriticalSection'],
  [50_915, 'BackupCursorOpenConflictWithCheckpoint'],
  [10_045_600, 'InterruptedDueToFCVChange'],
  // Somebody ended the command, or a time limit of the server did. (Interruption, ExceededTimeLimitError, CancellationError)
  [24, 'LockTimeout'],
  [50, 'MaxTimeMSExpired'],
  [90, 'CallbackCanceled'],
  [262, 'ExceededTimeLimit'],
  [279, 'ClientDisconnect'],
  [355, 'InterruptedDueToStorageChange'],
  [11_601, 'Interrupted'],
  [46_841, 'ClientMarkedKilled'],
  // No room, or too many at once; writes are blocked while a cluster is copied.
  [112, 'WriteConflict'],
  [365, 'TemporarilyUnavailable'],
  [371, 'UserWritesBlocked'],
  [402, 'ResourceExhausted'],
  [14_031, 'OutOfDiskSpace'],
  // Done here, and not on a majority in time. Only of an address with `wtimeoutMS`, which connect.ts overrides.
  [64, 'WriteConcernTimeout'],
  // The rest of a long read is lost, with its server or its index. (CursorInvalidatedError)
  [43, 'CursorNotFound'],
  [175, 'QueryPlanKilled'],
  [237, 'CursorKilled'],
  [314, 'ObjectIsBusy'],
  // Overload, from MongoDB 8. Whoever is told so waits longer each time. (SystemOverloadedError)
  [433, 'AdmissionQueueOverflow'],
  [449, 'RateLimitExceeded'],
  [450, 'PooledConnectionAcquisitionRejected'],
  [462, 'IngressRequestRateLimitExceeded'],
]);

export const OVERLOAD_CODES: ReadonlySet<number> = new Set([433, 449, 450, 462]);

/** The server counts requests before it reads them: nothing was done. */
export const INGRESS_LIMIT = 462;
