import { CHAT_PROBLEMS } from './chat-problems.ts';
import type { FieldProblem } from './field-codes.ts';
import { LIMIT_PROBLEMS } from './limit-problems.ts';
import { OPERATOR_PROBLEMS } from './operator-problems.ts';
import { fault, type ProblemRule } from './problem-rule.ts';
import { SETTINGS_PROBLEMS } from './settings-problems.ts';
import { SIGN_IN_PROBLEMS } from './sign-in-problems.ts';

/**
 * The catalogue of all answers that are not a success (RFC 9457, application/problem+json). The documentation's error
 * pages are made from it. Spec gap: the body of errors is not specified; see docs/specification/decisions.md, Errors.
 */
export const PROBLEMS = {
  invalid_request: fault(
    '4000',
    400,
    'Invalid request',
    'Correct the fields listed in `errors`, then send the request again.',
  ),
  malformed_body: fault('4001', 400, 'Malformed body', 'Send one JSON object in UTF-8.'),
  malformed_request: fault('4002', 400, 'Malformed HTTP request', 'Send well-formed HTTP/1.1.'),
  template_mismatch: fault(
    '4003',
    400,
    'Template mismatch',
    'Send a text that matches an approved template of this sender, character by character. `mismatch` says where it differs.',
  ),
  url_not_allowed: fault(
    '4004',
    400,
    'Address not allowed',
    'Use an https address. Its host name must resolve to public IP addresses only.',
  ),
  template_not_supported: fault(
    '4005',
    400,
    'Template not supported',
    'Use a template without the part that `detail` names, such as a carousel. It cannot be sent.',
  ),
  no_route: fault(
    '4006',
    400,
    'No route',
    'No carrier delivers to this recipient. Check the number, or ask your service provider for a route.',
  ),
  cta_not_registered: fault(
    '4007',
    400,
    'Link or number not registered',
    'Register the link or number that `detail` names (`POST /v2/account/ctas`), or remove it from the text. Operators refuse it too.',
  ),
  key_missing: fault('4010', 401, 'API key missing', 'Send the header `Authorization: Bearer <API_KEY>`.'),
  key_invalid: fault(
    '4011',
    401,
    'API key invalid',
    'Check that you copied the whole key, including `hk_live_` or `hk_test_`.',
  ),
  key_revoked: fault('4012', 401, 'API key revoked', 'It works no more. Use another key of the account.'),
  key_expired: fault(
    '4013',
    401,
    'API key expired',
    'Use another key of the account, or make a new one on the dashboard.',
  ),
  signature_invalid: fault(
    '4014',
    401,
    'Signature invalid',
    'Sign what this address expects: a provider of the chat app signs the body with the app secret, in the header `X-Hub-Signature-256`; a carrier signs as its settings say (`--callback-signature`, `--callback-header`).',
  ),
  ...SIGN_IN_PROBLEMS,
  ...SETTINGS_PROBLEMS,
  ...OPERATOR_PROBLEMS,
  ...CHAT_PROBLEMS,
  ...LIMIT_PROBLEMS,
  insufficient_credits: fault('4030', 403, 'Insufficient credits', 'Buy credits, then send the request again.'),
  account_suspended: fault('4031', 403, 'Account suspended', 'Ask your service provider for the reason.'),
  credits_expired: fault('4032', 403, 'Credits expired', 'Ask your service provider to extend the expiry date.'),
  sender_not_allowed: fault(
    '4033',
    403,
    'Sender not allowed',
    'Use a sender that is registered for the account and approved for this route. To ask for one: `POST /v2/account/senders`.',
  ),
  scope_missing: fault(
    '4034',
    403,
    'Scope missing',
    'Use a key that has the scope named in `detail`, or ask an owner of the account for the role.',
  ),
  live_key_needed: fault(
    '4121',
    403,
    'Not with a test key',
    'Test keys send, and read what they have sent. Use a live key with the scope, or the dashboard.',
  ),
  ip_not_allowed: fault(
    '4062',
    403,
    'Address not allowed',
    'Use the key from one of its allowed addresses. To allow others, change the key on the dashboard, or ask your service provider.',
  ),
  chatapp_not_configured: fault(
    '4035',
    403,
    'Chat-app channel not configured',
    'Ask your service provider to set up a chat-app number for the account.',
  ),
  template_not_approved: fault(
    '4036',
    403,
    'Template not approved',
    'Wait until it is approved, or use a template that `GET /v2/chatapp/templates` shows as approved.',
  ),
  recipient_not_opted_in: fault(
    '4037',
    403,
    'Recipient not opted in',
    'Send templates only to customers who agreed to receive them. If this one did, ask your service provider to add the number to the opt-in list of the account.',
  ),
  session_closed: fault(
    '4038',
    403,
    'Session closed',
    'Send a template, or wait until the customer writes. After that you can send any message for 24 hours.',
  ),
  too_many_webhooks: fault(
    '4039',
    403,
    'Too many webhooks',
    'The account has ten. Use an address that is registered already, or remove one: `DELETE /v2/account/webhooks/{webhook_id}`.',
  ),
  entity_id_missing: fault(
    '4061',
    403,
    'PE id missing',
    'Ask your service provider to enter the PE id (principal entity id) of your business on the DLT platform: `npm run ops -- account update ACCOUNT --entity-id PE-ID`.',
  ),
  recipient_opted_out: fault(
    '4063',
    403,
    'Recipient opted out',
    'Do not send to this customer until the customer writes START to your number, or asks you to. Then remove the opt-out: `DELETE /v2/account/opt-outs/{opt_out_id}`.',
  ),
  verify_token_invalid: fault(
    '4060',
    403,
    'Verify token invalid',
    'Use the verify token that was shown when the provider was set up, and `hub.mode=subscribe`.',
  ),
  not_found: fault(
    '4040',
    404,
    'Not found',
    'Check the path: it does not exist. Paths are case-sensitive and have no slash at the end.',
  ),
  message_not_found: fault('4041', 404, 'Message not found', 'Check the message_id: the account has no such message.'),
  not_resendable: fault(
    '4117',
    409,
    'Cannot be sent again',
    'Only an SMS of yours can, when it has left or ended, and while its text is kept. Send its text as a new message; a code by `POST /v2/verify`.',
  ),
  verification_not_found: fault(
    '4160',
    404,
    'Verification not found',
    'Check the id or the number. A verification is kept for 14 days; a test key finds its own only.',
  ),
  verification_ended: fault(
    '4161',
    409,
    'Verification has ended',
    'Its code can be used no more: it was used (`approved`), there were too many wrong ones (`failed`), or its time is over (`expired`); `state` says which. Begin another one by `POST /v2/verify`.',
  ),
  schedule_not_found: fault(
    '4044',
    404,
    'Schedule not found',
    'Check the schedule_id: the account has no such schedule.',
  ),
  batch_not_found: fault('4042', 404, 'Batch not found', 'Check the batch_id: the account has no such batch.'),
  opt_out_not_found: fault(
    '4045',
    404,
    'Opt-out not found',
    'Check the `opt_out_id`: `GET /v2/account/opt-outs` lists them.',
  ),
  customer_not_found: fault(
    '4049',
    404,
    'Customer not found',
    'Check the number: the account has no exchange with this customer on the chat-app channel.',
  ),
  template_not_found: fault(
    '4043',
    404,
    'Template not found',
    'Check the template_id: the sender has no such approved template for this route.',
  ),
  method_not_allowed: fault('4050', 405, 'Method not allowed', 'Use one of the methods listed in the header `Allow`.'),
  request_timeout: fault(
    '4080',
    408,
    'Request timeout',
    'The request did not arrive completely in time. Send it again.',
    true,
  ),
  idempotency_in_flight: fault(
    '4090',
    409,
    'Request in flight',
    'An earlier request with this Idempotency-Key is still being processed. Send it again after the seconds in the header `Retry-After`.',
    true,
  ),
  schedule_released: fault(
    '4092',
    409,
    'Schedule released',
    'The messages of this schedule are being sent or were sent. It can no longer be cancelled.',
  ),
  batch_finished: fault(
    '4091',
    409,
    'Batch finished',
    'All messages of this batch were sent. Nothing is left to stop.',
  ),
  template_exists: fault(
    '4100',
    409,
    'Template exists',
    'The account has this template already. Change that one, or use another name or id.',
  ),
  template_not_editable: fault(
    '4101',
    409,
    'Template not editable',
    'Only a rejected template can be changed, and only one that your account asked for and nobody has approved yet. Ask for a new one.',
  ),
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
    'This key was used for a different request. Use a new key for each request.',
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
    'Correct the API key. Requests with a valid key are still answered.',
    true,
  ),
  too_much_unpaid: fault(
    '4292',
    429,
    'Too many large requests at once',
    'Nothing was done. Other bulk requests of the account are still being charged, and together they may have 64 MB. Send it again after the seconds in the header `Retry-After`.',
    true,
  ),
  too_many_streams: fault(
    '4294',
    429,
    'Too many streams',
    'Close streams that nobody reads. Open another one after the seconds in the header `Retry-After`.',
    true,
  ),
  too_many_files: fault(
    '4295',
    429,
    'Too many files at once',
    'Fetch fewer files of the account at the same time. Send it again after the seconds in the header `Retry-After`.',
    true,
  ),
  headers_too_large: fault('4310', 431, 'Request headers too large', 'Send fewer or shorter headers.'),
  internal_error: fault('5000', 500, 'Internal error', 'Report the `request_id` to your service provider.'),
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
    'The message may have been accepted. Send it again with the same Idempotency-Key, or first look up the id in this answer.',
    true,
  ),
  files_busy: fault(
    '5037',
    503,
    'Busy with files',
    'This gateway is fetching as many files as it may. Send it again after the seconds in the header `Retry-After`.',
    true,
  ),
} as const satisfies Record<string, ProblemRule>;

export type ProblemSlug = keyof typeof PROBLEMS;

export interface ProblemDetails {
  readonly detail?: string;
  readonly errors?: readonly FieldProblem[];
  /** Members beyond those that every problem has. */
  readonly extra?: Readonly<Record<string, string | number | object | null>>;
}

/** The body: first the members of RFC 9457, then ours. `type` is a path below the address of the documentation. */
export function problemBody(slug: ProblemSlug, requestId: string, more: ProblemDetails = {}): object {
  const rule = PROBLEMS[slug];
  return {
    type: `/errors/${slug}`,
    title: rule.title,
    status: rule.status,
    detail: more.detail ?? rule.advice,
    code: slug,
    status_code: rule.number,
    errors: more.errors ?? [],
    request_id: requestId,
    retryable: rule.retryable,
    ...more.extra,
  };
}
