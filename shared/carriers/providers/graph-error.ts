/** An error of the Graph API, in answers and in statuses. */
export interface GraphError {
  readonly code: number;
  readonly text: string;
  readonly isTransient: boolean;
  /**
   * Nothing of the request's content was looked at: the address has no such phone number, the token may not use it, or the
   * app demands an `appsecret_proof`.
   */
  readonly accessDenied: boolean;
  /** Of the requests that are denied, those for an object that is not there, or not for this token. */
  readonly noSuchObject: boolean;
}

/** "Invalid parameter": one of the message if the error's type is `OAuthException`. */
const PARAMETER = 100;
/** Subcode of "Unsupported post request. Object with ID … does not exist, cannot be loaded due to missing permissions". */
const NO_SUCH_OBJECT = 33;

/** The `error` of an answer in the Graph API's shape. Undefined for anything else, such as a proxy's page. */
export function graphErrorOf(body: Readonly<Record<string, unknown>> | undefined): GraphError | undefined {
  const error = objectOf(body?.error);
  if (typeof error?.code !== 'number') return undefined;
  const noSuchObject = error.code === PARAMETER && error.error_subcode === NO_SUCH_OBJECT;
  const details = objectOf(error.error_data)?.details;
  const text = typeof details === 'string' && details !== '' ? details : error.message;
  return {
    code: error.code,
    text: typeof text === 'string' ? text : '',
    isTransient: error.is_transient === true,
    accessDenied: noSuchObject || (error.code === PARAMETER && error.type === 'GraphMethodException'),
    noSuchObject,
  };
}

/** Parsed in one go: up to 2 ms for this size, but 1.2 s for 2 MB. */
const PARSED_BYTES_MAX = 16_384;

/** A JSON object of at most 16 KB; otherwise undefined. No answer or error of the Graph API is longer. */
export function parseObject(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (body.length > PARSED_BYTES_MAX) return undefined;
  try {
    return objectOf(JSON.parse(body.toString('utf8')));
  } catch {
    return undefined; // Not JSON: the caller decides by the status alone.
  }
}

/** Returns the value if it is an object, not an array or null. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>) // every object has this type
    : undefined;
}
