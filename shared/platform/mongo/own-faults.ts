/**
 * Codes with which a server says that this document or this command is wrong, so that it would say the same again. Names are those
 * of MongoDB's manual, reference/error-codes/, and of mongodb/mongo, src/mongo/base/error_codes.yml (2026).
 *
 * Every other answer is trouble of the store (errors.ts), whether it has a code that we know, one that we do not, or none: a store
 * that stops, or a proxy before it, answers with whatever it has. So a code is here only when no state of a server or a cluster
 * brings it about. Missing for that reason, among others: InternalError (1), UnknownError (8), Unauthorized (13), ProtocolError
 * (17), IllegalOperation (20), InvalidBSON (22: a page that was read wrong), NamespaceNotFound (26), CursorNotFound (43),
 * OperationFailed (96), UnsatisfiableWriteConcern (100), CommandFailed (125).
 */
export const OWN_FAULTS: ReadonlyMap<number, string> = new Map([
  // What the document has in it.
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
  // What the command asks.
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
  // Of an index or a collection that is made or removed.
  [27, 'IndexNotFound'],
  [48, 'NamespaceExists'],
  [67, 'CannotCreateIndex'],
  [68, 'IndexAlreadyExists'],
  [85, 'IndexOptionsConflict'],
  [86, 'IndexKeySpecsConflict'],
  [197, 'InvalidIndexSpecificationOption'],
]);
