/**
 * The catalogue: every answer that is not a success, in one table (RFC 9457, application/problem+json). The documentation's
 * error pages are made from it. Spec gap: the body of errors is not shown; decisions.md, Errors.
 */
export interface ProblemRule {
  /** `status_code`, the family of the send result's "1000": 4xxx the caller can mend, 5xxx we must. Never given twice. */
  readonly number: string;
  /** HTTP status ("Errors"; 405, 408, 409, 413, 415, 422, 431 and 503 are additions). */
  readonly status: number;
  readonly title: string;
  /** What to do about it; the `detail` where the place that answers has nothing better to say. */
  readonly mend: string;
  /** Whether the same request may succeed when it is simply sent again. */
  readonly retryable: boolean;
}

function fault(number: string, status: number, title: string, mend: string, retryable = false): ProblemRule {
  return { number, status, title, mend, retryable };
}

export const PROBLEMS = {
  invalid_request: fault('4000', 400, 'Invalid request', 'Mend the fields that `errors` names, then send it again.'),
  malformed_body: fault('4001', 400, 'Malformed body', 'Send one JSON object in UTF-8.'),
  malformed_request: fault('4002', 400, 'Malformed HTTP request', 'Send well-formed HTTP/1.1.'),
  template_mismatch: fault(
    '4003',
    400,
    'Template mismatch',
    'Send a text that is an instance of an approved template of this sender, character by character.',
  ),
  url_not_allowed: fault(
    '4004',
    400,
    'Address not allowed',
    'Give an https address whose host name leads to public addresses only.',
  ),
  template_not_supported: fault(
    '4005',
    400,
    'Template not supported',
    'Use a template whose variables are all in its body: `params` fill those, nothing fills others.',
  ),
  key_missing: fault('4010', 401, 'API key missing', 'Send the header `Authorization: Bearer <API_KEY>`.'),
  key_invalid: fault('4011', 401, 'API key invalid', 'Check that the whole key was copied, `hk_live_` included.'),
  key_revoked: fault('4012', 401, 'API key revoked', 'Use another key of the account.'),
  key_expired: fault('4013', 401, 'API key expired', 'Make a new key.'),
  signature_invalid: fault(
    '4014',
    401,
    'Signature invalid',
    'Sign the bytes of the body with the app secret of this address, in the header `X-Hub-Signature-256`.',
  ),
  insufficient_credits: fault('4030', 403, 'Insufficient credits', 'Top up the account.'),
  account_suspended: fault('4031', 403, 'Account suspended', 'Ask whoever runs this service why.'),
  credits_expired: fault(
    '4032',
    403,
    'Credits expired',
    'Have whoever runs this service move the expiry date of the credits.',
  ),
  sender_not_allowed: fault(
    '4033',
    403,
    'Sender not allowed',
    'Use a sender that is registered to the account and approved for this route.',
  ),
  scope_missing: fault('4034', 403, 'Scope missing', 'Use a key that has the scope which `detail` names.'),
  ip_not_allowed: fault(
    '4062',
    403,
    'Address not allowed',
    'Use the key from an address that it is limited to, or have whoever runs this service change them.',
  ),
  chatapp_not_configured: fault(
    '4035',
    403,
    'Chat-app channel not configured',
    'Have whoever runs this service give the account a number on the chat-app channel.',
  ),
  template_not_approved: fault(
    '4036',
    403,
    'Template not approved',
    'Wait for its approval, or use a template that `GET /v2/chatapp/templates` shows as approved.',
  ),
  recipient_not_opted_in: fault(
    '4037',
    403,
    'Recipient not opted in',
    'Send templates only to customers who agreed to get them and were put on the list of the account.',
  ),
  session_closed: fault(
    '4038',
    403,
    'Session closed',
    'Send a template, or wait until the customer writes: for 24 hours from then on anything may be sent.',
  ),
  too_many_webhooks: fault(
    '4039',
    403,
    'Too many webhooks',
    'Register an address that the account has already, or have whoever runs this service remove one.',
  ),
  entity_id_missing: fault(
    '4061',
    403,
    'PE id missing',
    'Have whoever runs this service enter the PE id (principal entity id) under which the business is registered on the DLT platform: `account update <account> --entity-id <PE-ID>`.',
  ),
  verify_token_invalid: fault(
    '4060',
    403,
    'Verify token invalid',
    'Enter the verify token that was shown when the provider was set, and `hub.mode=subscribe`.',
  ),
  not_found: fault(
    '4040',
    404,
    'Not found',
    'There is nothing at this path. Paths are case-sensitive, without a slash at the end.',
  ),
  message_not_found: fault('4041', 404, 'Message not found', 'Check the message_id: the account has no such message.'),
  schedule_not_found: fault(
    '4044',
    404,
    'Schedule not found',
    'Check the schedule_id: the account has no such schedule.',
  ),
  batch_not_found: fault('4042', 404, 'Batch not found', 'Check the batch_id: the account has no such batch.'),
  template_not_found: fault(
    '4043',
    404,
    'Template not found',
    'Check the template_id: the sender has no such approved template for this route.',
  ),
  method_not_allowed: fault('4050', 405, 'Method not allowed', 'Use a method that the header `Allow` names.'),
  request_timeout: fault(
    '4080',
    408,
    'Request timeout',
    'The request did not arrive whole in time. Send it again.',
    true,
  ),
  idempotency_in_flight: fault(
    '4090',
    409,
    'Request in flight',
    'An earlier request with this Idempotency-Key is not answered yet. Send it again after the seconds in `Retry-After`.',
    true,
  ),
  schedule_released: fault(
    '4092',
    409,
    'Schedule released',
    'Its time has come and it is sent, or being sent: it cannot be cancelled any more.',
  ),
  batch_finished: fault('4091', 409, 'Batch finished', 'Every message of the batch has left: nothing can be stopped.'),
  body_too_large: fault('4130', 413, 'Body too large', 'Send less in one request.'),
  unsupported_media_type: fault(
    '4150',
    415,
    'Unsupported media type',
    'Send the body as JSON, uncompressed, with the header `Content-Type: application/json`.',
  ),
  idempotency_key_reused: fault(
    '4220',
    422,
    'Idempotency-Key reused',
    'The key stands for another request. Use a new key for each request.',
  ),
  rate_limited: fault(
    '4290',
    429,
    'Too many requests',
    'The request was not processed. Send it again after the seconds in the header `Retry-After`.',
    true,
  ),
  auth_failures_limited: fault(
    '4291',
    429,
    'Too many requests without a good key',
    'Mend the API key; requests with a good one are answered all the same.',
    true,
  ),
  too_much_unpaid: fault(
    '4292',
    429,
    'Too many large requests at once',
    'Other bulk requests of the account wait to be paid and fill the room for them (64 MB together): nothing was done. Send it again after the seconds in the header `Retry-After`.',
    true,
  ),
  headers_too_large: fault('4310', 431, 'Request headers too large', 'Send fewer or shorter headers.'),
  internal_error: fault('5000', 500, 'Internal error', 'Report the request_id to whoever runs this service.'),
  store_unavailable: fault(
    '5030',
    503,
    'Temporarily unavailable',
    'Nothing was done. Send it again after the seconds in the header `Retry-After`.',
    true,
  ),
  outcome_unknown: fault(
    '5031',
    503,
    'Outcome unknown',
    'The message may have been accepted. Send it again with the same Idempotency-Key, or look first what became of the id that the answer has.',
    true,
  ),
  chatapp_stopped: fault(
    '5032',
    503,
    'Chat-app channel stopped',
    'Nothing was done: the provider does not take messages of this account until whoever runs this service has mended that.',
    true,
  ),
} as const satisfies Record<string, ProblemRule>;

export type ProblemSlug = keyof typeof PROBLEMS;

/** What can be wrong with one field; `code` of the entries in `errors`. */
export const FIELD_CODES = {
  missing_field: 'A required field is not there.',
  unknown_field: 'The endpoint has no such field.',
  wrong_type: 'The value is of another JSON type.',
  invalid_phone: 'Not 8 to 15 digits with the country code first.',
  country_code_missing: "A number of the account's own country, without its country code.",
  unknown_number: "No number of its country's numbering plan; only for accounts that have their recipients checked.",
  not_mobile: 'No number of a mobile phone; only for accounts that send to those alone.',
  invalid_sender: 'Neither 1 to 11 characters with a letter nor 3 to 15 digits.',
  invalid_value: 'Not one of the allowed values.',
  invalid_text: 'The text cannot be encoded.',
  invalid_time: 'Not an ISO 8601 date-time with a UTC offset.',
  template_mismatch: 'The text is no instance of an approved template; the member `mismatch` says where it differs.',
  duplicate: 'The same as an earlier entry of the list, where each must be its own.',
  url_not_allowed: 'Not an https address, or one that leads to a private address or to nothing.',
  unsupported_media_type: 'The address ends like a file that is none of the formats of `type`.',
  conflict: 'It does not go together with another field of the request.',
  wrong_count: 'A list with fewer or more entries than it may have.',
  out_of_range: 'Before the earliest or after the latest allowed value.',
  too_short: 'The text is empty.',
  too_long: 'The text has more characters, or needs more segments, than it may.',
} as const;

export interface FieldProblem {
  /** As the caller named it; entries of lists as `to[3]`, members as `buttons[0].title`. */
  readonly field: string;
  readonly code: keyof typeof FIELD_CODES;
  readonly detail: string;
}

export interface ProblemDetails {
  readonly detail?: string;
  readonly errors?: readonly FieldProblem[];
  /** Members beyond those that every problem has. */
  readonly extra?: Readonly<Record<string, string | number | object | null>>;
}

/** The body: the members of RFC 9457 first, then ours. `type` is a path below the address of the documentation. */
export function problemBody(slug: ProblemSlug, requestId: string, more: ProblemDetails = {}): object {
  const rule = PROBLEMS[slug];
  return {
    type: `/errors/${slug}`,
    title: rule.title,
    status: rule.status,
    detail: more.detail ?? rule.mend,
    code: slug,
    status_code: rule.number,
    errors: more.errors ?? [],
    request_id: requestId,
    retryable: rule.retryable,
    ...more.extra,
  };
}
