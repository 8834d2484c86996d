export interface GraphError {
  readonly code: number;
  readonly text: string;
  readonly isTransient: boolean;
  /** The content was not looked at: wrong phone number, token without access, or `appsecret_proof` missing. */
  readonly accessDenied: boolean;
  /** Denied because the object is not there, or not for this token. */
  readonly noSuchObject: boolean;
}

/** "Invalid parameter": one of the message if the error's type is `OAuthException`. */
const PARAMETER = 100;
/** "Unsupported post request. Object with ID … does not exist, cannot be loaded due to missing permissions". */
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

/** No answer or error of the Graph API is longer. Parsing 2 MB would hold the event loop for a second. */
const PARSED_BYTES_MAX = 16_384;

/** Undefined for a longer body, and for anything but a JSON object. */
export function parseObject(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  if (body.length > PARSED_BYTES_MAX) return undefined;
  try {
    return objectOf(JSON.parse(body.toString('utf8')));
  } catch {
    return undefined; // the caller decides by the status alone
  }
}

export function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>) // every object has this type
    : undefined;
}

/**
 * What the provider's error codes mean for a send (WhatsApp Cloud API, "Error codes"). Decided by `code` alone, never
 * by the text, because texts change. Only code 100 has two kinds (`accessDenied`).
 *
 * `stop`: nothing can be sent until a person solves the problem; the message waits · `back_off`: the account is too
 * fast; the message keeps its place · `customer_delay`: too fast for this customer · `retry`: may succeed later ·
 * `retry_once`: one more try, then refused · `retry_later`: not before ten minutes, then again · `refuse`: will never
 * succeed.
 *
 * `do` is for answers. A later `failed` status is final and takes only `code` from the rule (131053 of a link comes
 * so, because the provider fetches the link after its answer). But a status with an `accountWide` reason slows the
 * account down (send-health.ts), and one whose reason `ends` stops the channel as an answer does (send-loop.ts).
 */
export type ErrorDo = 'stop' | 'back_off' | 'customer_delay' | 'retry' | 'retry_once' | 'retry_later' | 'refuse';

export interface ErrorRule {
  readonly do: ErrorDo;
  /** `error_code` of the message, or the reason why the channel was stopped. */
  readonly code: string;
  /** The state that the template gets, because other messages with it would be refused too. */
  readonly template?: string;
  /** The request fits our copy of the template, but not the provider's, which has probably changed. */
  readonly copyIsOld?: true;
  /** A `stop` that ends by itself, when somebody pays the provider: sending is tried again. */
  readonly ends?: true;
  /** The reason is the account or its number, so other messages would fail too. `stop` implies it. */
  readonly accountWide?: true;
}

const TABLE: readonly (readonly [codes: readonly number[], rule: ErrorRule])[] = [
  [[0, 190], { do: 'stop', code: 'provider_token_refused' }],
  [[3, 10, ...range(200, 299)], { do: 'stop', code: 'provider_permission_missing' }],
  [[131_005], { do: 'stop', code: 'provider_access_denied' }],
  [[131_031], { do: 'stop', code: 'provider_account_locked' }],
  [[131_042], { do: 'stop', code: 'provider_payment_problem', ends: true }],
  [[131_045], { do: 'stop', code: 'provider_certificate_problem' }],
  [[133_010, 133_016], { do: 'stop', code: 'provider_number_not_registered' }],
  [[33], { do: 'stop', code: 'provider_number_deleted' }],
  [[131_037], { do: 'stop', code: 'provider_name_not_approved' }],
  [[368], { do: 'stop', code: 'provider_policy_block' }],
  [[4, 80_007, 130_429], { do: 'back_off', code: 'provider_throttled' }],
  [[131_056], { do: 'customer_delay', code: 'customer_rate_limited' }],
  [[131_000, 131_016], { do: 'retry', code: 'provider_unavailable' }],
  [[131_053], { do: 'retry_once', code: 'media_unavailable' }],
  [[131_048], { do: 'refuse', code: 'spam_rate_limited', accountWide: true }],
  // Concerns templates only and is lifted by itself. Answers in a session go on, so it stops nothing.
  [[131_064], { do: 'refuse', code: 'category_limit_reached' }],
  [[131_049], { do: 'refuse', code: 'marketing_limit_reached' }],
  [[130_472], { do: 'refuse', code: 'customer_in_experiment' }],
  [[100, 131_009], { do: 'refuse', code: 'invalid_parameter' }],
  [[131_008], { do: 'refuse', code: 'invalid_parameter', copyIsOld: true }],
  [[131_050], { do: 'refuse', code: 'marketing_opted_out' }],
  [[131_055, 131_063, 134_100, 134_102], { do: 'refuse', code: 'marketing_not_enabled' }],
  // "Wait 10 minutes": a new template is not yet known where marketing messages are sent.
  [[134_101], { do: 'retry_later', code: 'template_not_ready' }],
  [[130_403], { do: 'refuse', code: 'customer_blocked' }],
  [[130_497], { do: 'refuse', code: 'country_not_allowed' }],
  [[131_021], { do: 'refuse', code: 'recipient_is_sender' }],
  [[131_062], { do: 'refuse', code: 'number_needed' }],
  [[131_026], { do: 'refuse', code: 'undeliverable' }],
  [[131_047], { do: 'refuse', code: 'session_closed' }],
  [[131_051], { do: 'refuse', code: 'unsupported_message_type' }],
  [[132_000], { do: 'refuse', code: 'template_param_count_mismatch', copyIsOld: true }],
  [[132_001], { do: 'refuse', code: 'template_not_found', copyIsOld: true }],
  [[132_005], { do: 'refuse', code: 'template_text_too_long' }],
  [[132_007], { do: 'refuse', code: 'template_policy_violated' }],
  [[132_008, 132_012, 132_018], { do: 'refuse', code: 'template_param_mismatch', copyIsOld: true }],
  [[132_015], { do: 'refuse', code: 'template_paused', template: 'paused' }],
  [[132_016], { do: 'refuse', code: 'template_disabled', template: 'disabled' }],
  [[132_068, 132_069], { do: 'refuse', code: 'template_flow_unavailable' }],
];

const RULES: ReadonlyMap<number, ErrorRule> = new Map(
  TABLE.flatMap(([codes, rule]) => codes.map((code) => [code, rule] as const)),
);

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** Whether the cause for which a channel was stopped, by our code, may end without anybody here. */
export function endsByItself(code: string): boolean {
  return TABLE.some(([, rule]) => rule.code === code && rule.ends === true);
}

export function errorRule(code: number): ErrorRule | undefined {
  return RULES.get(code);
}

export function isAccountWide(rule: ErrorRule | undefined): rule is ErrorRule {
  return rule?.do === 'stop' || rule?.accountWide === true;
}
