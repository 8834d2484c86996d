export interface ProblemRule {
  /**
   * `status_code`, in the same series as "1000" of the send result. 4xxx: the caller can correct it; 5xxx: we must.
   * Numbers are never reused.
   */
  readonly number: string;
  /** HTTP status ("Errors"). 405, 408, 409, 410, 413, 415, 422, 431, 502 and 503 are our additions. */
  readonly status: number;
  readonly title: string;
  /** What to do. The answer's `detail` if there is nothing more precise to say. */
  readonly advice: string;
  /** Whether the unchanged request can succeed later. */
  readonly retryable: boolean;
}

/**
 * All answers that are not a success (RFC 9457, application/problem+json). The documentation's error pages are made
 * from this. The spec does not define error bodies; see docs/specification/decisions.md, Errors.
 */
export const PROBLEMS = withTitles({
  invalid_request: fault('4000', 400, 'Correct the fields listed in `errors`, then send the request again.'),
  malformed_body: fault('4001', 400, 'Send one JSON object in UTF-8.'),
  malformed_request: fault('4002', 400, 'Send well-formed HTTP/1.1.', 'Malformed HTTP request'),
  template_mismatch: fault(
    '4003',
    400,
    'Send a text that matches an approved template of this sender, character by character. `mismatch` says where it differs.',
  ),
  url_not_allowed: fault(
    '4004',
    400,
    'Use an https address. Its host name must resolve to public IP addresses only.',
    'Address not allowed',
  ),
  template_not_supported: fault(
    '4005',
    400,
    'Use a template without the part that `detail` names, such as a carousel. It cannot be sent.',
  ),
  no_route: fault(
    '4006',
    400,
    'No carrier delivers to this recipient. Check the number, or ask your service provider for a route.',
  ),
  cta_not_registered: fault(
    '4007',
    400,
    'Register the link or number that `detail` names (`POST /v2/account/ctas`), or remove it from the text. Operators refuse it too.',
    'Link or number not registered',
  ),
  key_missing: fault('4010', 401, 'Send the header `Authorization: Bearer <API_KEY>`.', 'API key missing'),
  key_invalid: fault(
    '4011',
    401,
    'Check that you copied the whole key, including `hk_live_` or `hk_test_`.',
    'API key invalid',
  ),
  key_revoked: fault('4012', 401, 'It works no more. Use another key of the account.', 'API key revoked'),
  key_expired: fault(
    '4013',
    401,
    'Use another key of the account, or make a new one on the dashboard.',
    'API key expired',
  ),
  signature_invalid: fault(
    '4014',
    401,
    'Sign what this address expects: a provider of the chat app signs the body with the app secret, in the header `X-Hub-Signature-256`; a carrier signs as its settings say (`--callback-signature`, `--callback-header`).',
  ),

  // Sign-in, sessions and profiles of people.
  session_missing: fault('4015', 401, 'Sign in: `POST /v2/session`. An API key cannot do this.', 'Not signed in'),
  session_ended: fault('4016', 401, 'Sign in again. Nothing was done.'),
  other_user: fault(
    '4078',
    401,
    'Nothing was done: the session is not of the user whom the request names. Reload the page, or sign in again.',
    'Somebody else has signed in',
  ),
  sign_in_failed: fault(
    '4017',
    401,
    'Check both, and the account, if you gave one. Nobody is told which one is wrong.',
    'Name or password is wrong',
  ),
  second_factor_missing: fault(
    '4018',
    401,
    'Name and password are right. Send them again with `code` from your authenticator app, or with a `recovery_code`.',
  ),
  second_factor_wrong: fault(
    '4019',
    401,
    'Wait for the next code of your authenticator app, because each works once. Check the time of your phone.',
    'Code is wrong',
  ),
  password_wrong: fault('4066', 403, 'Enter the password that you sign in with now.', 'Password is wrong'),
  password_needed: fault('4067', 403, 'Send your password again as `current_password`.'),
  confirmation_required: fault(
    '4650',
    403,
    'Nothing was done. Show your password, and the code if you have an authenticator app, by `POST /v2/session/confirm`, then send the request again. That holds for 10 minutes in this session.',
    'Password needed again',
  ),
  link_invalid: fault(
    '4068',
    403,
    'It was used, replaced by a newer one, or is too old. Ask an owner of the account, or your service provider, for a new one.',
    'Link is no longer valid',
  ),
  setup_invalid: fault('4069', 403, 'Begin again: `POST /v2/profile/second-factor`.', 'Set-up is over'),
  user_not_found: fault('4046', 404, 'Check the user_id: the account has no such user.'),
  session_not_found: fault('4047', 404, 'Check the session_id: you have no such session.'),
  user_disabled: fault('4096', 409, 'Let the user in again first: `status: active`.', 'User is disabled'),
  own_user: fault(
    '4097',
    409,
    'Change your own password and app in your profile, which asks for the password: `POST /v2/profile/password`.',
    'That is you',
  ),
  last_owner: fault('4093', 409, 'Make somebody else an owner first. An account needs one who can sign in.'),
  second_factor_required: fault(
    '4094',
    409,
    'Your role or the account needs a second factor. To use another app, set up the new one: it replaces the old one.',
  ),
  username_taken: fault(
    '4095',
    409,
    'The account has a user of that name already. Choose another, or make a new link for that user.',
    'Sign-in name taken',
  ),
  account_needed: fault(
    '4651',
    409,
    'Name and password are right in several accounts: `accounts` lists them. Send them again with the `account` of one.',
    'Which account?',
  ),
  too_many_users: fault(
    '4652',
    403,
    'An account may have 200 users, those who are invited or disabled too. Remove one who is not needed: `DELETE /v2/account/users/{user_id}`.',
  ),
  sign_in_limited: passing(
    '4293',
    429,
    'Nothing was looked at: too many came for this name, this account or from this network, or too many were wrong. Try again after the seconds in the header `Retry-After`.',
    'Too many attempts',
  ),
  origin_refused: fault(
    '4064',
    403,
    'Sign-ins, and requests with a session cookie, must come from our own pages. Send `X-Dashboard: 1` from the same origin. Behind a proxy, HARKARA_PUBLIC_URL must be the address that browsers use.',
    'Not from the dashboard',
  ),
  second_factor_needed: fault(
    '4065',
    403,
    'Set up an authenticator app first. Until then your session may do nothing else.',
  ),
  second_factor_unreadable: passing(
    '5036',
    503,
    'The code was not checked: the service cannot read what it stored of your authenticator app. Sign in with a recovery code, or ask who runs the service to put its secret key back or to reset your second factor.',
  ),
  sign_in_busy: passing(
    '5033',
    503,
    'Nothing was done. Try again after the seconds in the header `Retry-After`.',
    'Too many sign-ins at once',
  ),

  // An account's keys, webhooks and senders.
  too_many_keys: fault(
    '4610',
    403,
    'The account has 50 keys that work. Revoke one that is not used: `GET /v2/account/keys` shows when each was used last.',
  ),
  key_not_found: fault('4611', 404, 'Check the `key_id`: `GET /v2/account/keys` lists them.'),
  webhook_not_found: fault('4612', 404, 'Check the `webhook_id`: `GET /v2/account/webhooks` lists them.'),
  delivery_not_found: fault(
    '4613',
    404,
    'Check the `event_id`: the webhook has no delivery of that event, or it is older than deliveries are kept.',
  ),
  replay_not_found: fault('4614', 404, 'Check the `replay_id`: the webhook has no such replay, or it ended long ago.'),
  export_not_found: fault(
    '4661',
    404,
    'Check the `export_id`: the account has no such export, or it was made more than a day ago.',
  ),
  export_not_ready: fault(
    '4662',
    409,
    'Wait until its `state` is `done`: `GET /v2/account/exports/{export_id}` says how far it is.',
  ),
  key_not_active: fault(
    '4615',
    409,
    'The key is revoked, expired or replaced. Create a new key, or change the one that replaces it.',
  ),
  webhook_disabled: fault(
    '4616',
    409,
    'Enable the webhook first: `PATCH /v2/account/webhooks/{webhook_id}` with `{"state": "active"}`.',
  ),
  delivery_pending: fault(
    '4617',
    409,
    'The delivery is on its way or waits for its next try. Nothing needs to be done.',
  ),
  replay_running: fault(
    '4618',
    409,
    'A replay of this webhook is still running. Wait until it has ended: `GET /v2/account/webhooks/{webhook_id}/replays`.',
  ),
  key_beyond_caller: fault(
    '4619',
    403,
    'The key reaches farther than yours, which could not make it. Ask who made it, or sign in to the dashboard.',
    'Key reaches farther',
  ),
  key_changed: fault(
    '4620',
    409,
    'Somebody changed the key, or the one that asks, at the same moment. Nothing was done. Read it again, then decide.',
  ),
  user_has_keys: fault('4621', 409, 'Say what becomes of the keys that the user made: `keys` is `keep` or `revoke`.'),
  quota_reached: fault(
    '4660',
    403,
    'The account has as many things of this kind as it may have made. Remove what you do not need, or ask your service provider. `quota` names the kind, `limit` how many.',
  ),
  sender_not_found: fault('4073', 404, 'Check the sender: the account has none of this name. Case matters.'),
  sender_exists: fault(
    '4102',
    409,
    'The account has this sender already. To ask for other routes, remove it first; it then waits for an approval again.',
  ),
  cta_not_found: fault(
    '4052',
    404,
    'Check the cta_id: the account has none of this id. `GET /v2/account/ctas` lists them.',
    'Link or number not found',
  ),
  cta_exists: fault(
    '4123',
    409,
    'The account has it already: `GET /v2/account/ctas` has its state.',
    'Link or number exists',
  ),
  secret_unreadable: passing(
    '5035',
    503,
    'Nothing was done. The secret key of the service is not the one that a stored secret was encrypted with. Ask your service provider to put it back; if it is lost, give the webhook a new secret with `POST /v2/account/webhooks/{webhook_id}/rotate`.',
    'Stored secret unreadable',
  ),

  // What operators do: `/v2/admin/…`.
  account_not_found: fault('4070', 404, 'Check the account_id: `GET /v2/admin/accounts` lists them.'),
  account_not_named: fault(
    '4115',
    400,
    'You are an operator: name the account that you look at in the header `Harkara-Account`.',
  ),
  account_only: fault('4116', 403, 'Operators are not shown this. Ask the account for it.', 'For the account only'),
  carrier_not_found: fault('4071', 404, 'Check the carrier_id: `GET /v2/admin/carriers` lists them.'),
  route_not_found: fault('4072', 404, 'Check the route_id: `GET /v2/admin/routes` lists them.'),
  provider_not_found: fault(
    '4074',
    404,
    'Check the account_id: the account has no number on the chat-app channel.',
    'Chat-app number not found',
  ),
  number_not_found: fault('4075', 404, 'Check number and keyword: `GET /v2/admin/numbers` lists them.'),
  operator_by_ops: fault(
    '4077',
    403,
    'This user is an operator. On the machine, `npm run ops -- user reset NAME` makes a new link; with `--second-factor` it also removes the app.',
    'Only on the machine',
  ),
  template_changed: fault(
    '4098',
    409,
    'The account has changed the template since you read it. Read it again, then decide.',
  ),
  sender_changed: fault(
    '4103',
    409,
    'The account has asked for it anew since you read it. Read it again, then decide.',
  ),
  account_closed: fault('4104', 409, 'The account is closed for good. Create a new one to go on with this customer.'),
  carrier_exists: fault('4106', 409, 'There is a carrier with this carrier_id. Change it, or choose another id.'),
  carrier_in_use: fault('4105', 409, 'See `detail`: what it has must end first.'),
  opt_in_not_found: fault('4079', 404, 'Check the customer: the list of opt-ins has who is on it.', 'Not on the list'),
  chain_not_found: fault('4081', 404, 'Check the carrier_id: the account has no telemarketers of its own there.'),

  // The chat-app channel's provider, and customers' files.
  marketing_opted_out: fault(
    '4120',
    403,
    'Send no marketing templates to this customer until the customer resumes them in the chat app; other templates and answers are not concerned. `GET /v2/account/marketing-stops` lists such customers.',
    'Customer stopped marketing',
  ),
  message_without_file: fault(
    '4048',
    404,
    'Only messages from customers of the types image, video, audio, voice, document and sticker have a file.',
    'Message without a file',
  ),
  file_gone: fault(
    '4110',
    410,
    'The provider keeps files for some days and has this one no more. Ask the customer to send it again.',
  ),
  file_unusable: fault(
    '5020',
    502,
    'The provider has the file, but it cannot be handed on; `detail` says why. Report the `request_id` to your service provider.',
    'File not usable',
  ),
  test_key_needed: fault('4122', 403, 'Use a test key, `hk_test_…`: real customers write to your number.'),
  not_marked_read: fault(
    '5021',
    502,
    'The chat-app provider refused it; `detail` has its words. It takes messages of customers of the last 30 days.',
    'Not marked as read',
  ),
  chatapp_stopped: passing(
    '5032',
    503,
    'Nothing was done. The chat-app provider refuses messages of this account. Ask your service provider to correct its settings.',
    'Chat-app channel stopped',
  ),
  provider_unavailable: passing(
    '5038',
    503,
    'The chat-app provider did not answer in time, or has an error. Send it again after the seconds in the header `Retry-After`.',
  ),

  // Sends beyond a limit of the account or the key. Nothing is charged. The member `limit` names it.
  spend_limit_reached: fault(
    '4111',
    403,
    'Wait until the day or month ends (UTC), or ask for a higher cap: your service provider for the account, an owner of the account for a key.',
    'Spending cap reached',
  ),
  country_not_allowed: fault(
    '4112',
    403,
    'The account may send to certain countries only: `GET /v2/account/limits` lists them. Leave these recipients out, or ask your service provider to allow the country.',
  ),
  recipient_limit_reached: fault(
    '4113',
    403,
    'This recipient has got as many messages in this clock hour as the account allows. Send again in the next hour.',
  ),
  conversation_limit_reached: fault(
    '4119',
    403,
    'Write again when this conversation has ended, 24 hours after its first message: then another begins, and is paid for. `GET /v2/account/limits` has the limit; your service provider sets it.',
  ),
  verification_limit_reached: fault(
    '4163',
    403,
    'This number, or this client, was sent as many codes in this clock hour as may be. Ask for the next one in the next hour, and look who asks.',
    'Too many codes',
  ),
  hold_not_found: fault(
    '4118',
    404,
    'Check the prefix: nothing with it is held. `GET /v2/account/limits` lists what is. What is only watched is sent, so there is nothing to release.',
  ),
  traffic_held: fault(
    '4114',
    403,
    'Messages to numbers that begin like this one are held, because they look like fraud: see `GET /v2/account/limits`. If they are right, release them there.',
  ),

  // Money, and problems of every request.
  insufficient_credits: fault('4030', 403, 'Buy credits, then send the request again.'),
  account_suspended: fault('4031', 403, 'Ask your service provider for the reason.'),
  credits_expired: fault('4032', 403, 'Ask your service provider to extend the expiry date.'),
  sender_not_allowed: fault(
    '4033',
    403,
    'Use a sender that is registered for the account and approved for this route. To ask for one: `POST /v2/account/senders`.',
  ),
  scope_missing: fault(
    '4034',
    403,
    'Use a key that has the scope named in `detail`, or ask an owner of the account for the role.',
  ),
  live_key_needed: fault(
    '4121',
    403,
    'Test keys send, and read what they have sent. Use a live key with the scope, or the dashboard.',
    'Not with a test key',
  ),
  ip_not_allowed: fault(
    '4062',
    403,
    'Use the key from one of its allowed addresses. To allow others, change the key on the dashboard, or ask your service provider.',
    'Address not allowed',
  ),
  chatapp_not_configured: fault(
    '4035',
    403,
    'Ask your service provider to set up a chat-app number for the account.',
    'Chat-app channel not configured',
  ),
  template_not_approved: fault(
    '4036',
    403,
    'Wait until it is approved, or use a template that `GET /v2/chatapp/templates` shows as approved.',
  ),
  recipient_not_opted_in: fault(
    '4037',
    403,
    'Send templates only to customers who agreed to receive them. If this one did, ask your service provider to add the number to the opt-in list of the account.',
  ),
  session_closed: fault(
    '4038',
    403,
    'Send a template, or wait until the customer writes. After that you can send any message for 24 hours.',
  ),
  too_many_webhooks: fault(
    '4039',
    403,
    'The account has ten. Use an address that is registered already, or remove one: `DELETE /v2/account/webhooks/{webhook_id}`.',
  ),
  entity_id_missing: fault(
    '4061',
    403,
    'Ask your service provider to enter the PE id (principal entity id) of your business on the DLT platform: `npm run ops -- account update ACCOUNT --entity-id PE-ID`.',
    'PE id missing',
  ),
  recipient_opted_out: fault(
    '4063',
    403,
    'Do not send to this customer until the customer writes START to your number, or asks you to. Then remove the opt-out: `DELETE /v2/account/opt-outs/{opt_out_id}`.',
  ),
  verify_token_invalid: fault(
    '4060',
    403,
    'Use the verify token that was shown when the provider was set up, and `hub.mode=subscribe`.',
  ),
  not_found: fault(
    '4040',
    404,
    'Check the path: it does not exist. Paths are case-sensitive and have no slash at the end.',
  ),
  message_not_found: fault('4041', 404, 'Check the message_id: the account has no such message.'),
  not_resendable: fault(
    '4117',
    409,
    'Only an SMS of yours can, when it has left or ended, and while its text is kept. Send its text as a new message; a code by `POST /v2/verify`.',
    'Cannot be sent again',
  ),
  verification_not_found: fault(
    '4160',
    404,
    'Check the id or the number. A verification is kept for 14 days; a test key finds its own only.',
  ),
  verification_ended: fault(
    '4161',
    409,
    'Its code can be used no more: it was used (`approved`), there were too many wrong ones (`failed`), or its time is over (`expired`); `state` says which. Begin another one by `POST /v2/verify`.',
    'Verification has ended',
  ),
  schedule_not_found: fault('4044', 404, 'Check the schedule_id: the account has no such schedule.'),
  batch_not_found: fault('4042', 404, 'Check the batch_id: the account has no such batch.'),
  opt_out_not_found: fault(
    '4045',
    404,
    'Check the `opt_out_id`: `GET /v2/account/opt-outs` lists them.',
    'Opt-out not found',
  ),
  customer_not_found: fault(
    '4049',
    404,
    'Check the number: the account has no exchange with this customer on the chat-app channel.',
  ),
  template_not_found: fault(
    '4043',
    404,
    'Check the template_id: the sender has no such approved template for this route.',
  ),
  method_not_allowed: fault('4050', 405, 'Use one of the methods listed in the header `Allow`.'),
  request_timeout: passing('4080', 408, 'The request did not arrive completely in time. Send it again.'),
  idempotency_in_flight: passing(
    '4090',
    409,
    'An earlier request with this Idempotency-Key is still being processed. Send it again after the seconds in the header `Retry-After`.',
    'Request in flight',
  ),
  schedule_released: fault(
    '4092',
    409,
    'The messages of this schedule are being sent or were sent. It can no longer be cancelled.',
  ),
  batch_finished: fault('4091', 409, 'All messages of this batch were sent. Nothing is left to stop.'),
  template_exists: fault(
    '4100',
    409,
    'The account has this template already. Change that one, or use another name or id.',
  ),
  template_not_editable: fault(
    '4101',
    409,
    'Only a rejected template can be changed, and only one that your account asked for and nobody has approved yet. Ask for a new one.',
  ),
  body_too_large: fault('4130', 413, 'Send less in one request.'),
  unsupported_media_type: fault(
    '4150',
    415,
    'Send the body as JSON, uncompressed, with the header `Content-Type: application/json`.',
  ),
  idempotency_key_reused: fault(
    '4220',
    422,
    'This key was used for a different request. Use a new key for each request.',
    'Idempotency-Key reused',
  ),
  rate_limited: passing(
    '4290',
    429,
    'The request was not processed. Send it again after the seconds in the header `Retry-After`.',
    'Too many requests',
  ),
  auth_failures_limited: passing(
    '4291',
    429,
    'Correct the API key. Requests with a valid key are still answered.',
    'Too many requests without a good key',
  ),
  too_much_unpaid: passing(
    '4292',
    429,
    'Nothing was done. Other bulk requests of the account are still being charged, and together they may have 64 MB. Send it again after the seconds in the header `Retry-After`.',
    'Too many large requests at once',
  ),
  too_many_streams: passing(
    '4294',
    429,
    'Close streams that nobody reads. Open another one after the seconds in the header `Retry-After`.',
  ),
  too_many_files: passing(
    '4295',
    429,
    'Fetch fewer files of the account at the same time. Send it again after the seconds in the header `Retry-After`.',
    'Too many files at once',
  ),
  headers_too_large: fault('4310', 431, 'Send fewer or shorter headers.', 'Request headers too large'),
  internal_error: fault('5000', 500, 'Report the `request_id` to your service provider.'),
  store_unavailable: passing(
    '5030',
    503,
    'Nothing was done. Send it again after the seconds in the header `Retry-After`.',
    'Temporarily unavailable',
  ),
  outcome_unknown: passing(
    '5031',
    503,
    'The message may have been accepted. Send it again with the same Idempotency-Key, or first look up the id in this answer.',
  ),
  files_busy: passing(
    '5037',
    503,
    'This gateway is fetching as many files as it may. Send it again after the seconds in the header `Retry-After`.',
    'Busy with files',
  ),
});

type Untitled = Omit<ProblemRule, 'title'> & Partial<Pick<ProblemRule, 'title'>>;

function fault(number: string, status: number, advice: string, title?: string): Untitled {
  return { number, status, advice, retryable: false, ...(title !== undefined && { title }) };
}

/** A problem that a retry of the unchanged request can overcome. */
function passing(...told: Parameters<typeof fault>): Untitled {
  return { ...fault(...told), retryable: true };
}

function withTitles<Slug extends string>(untitled: Readonly<Record<Slug, Untitled>>) {
  const titled = Object.entries<Untitled>(untitled).map(([slug, rule]) => {
    const words = slug.replaceAll('_', ' ');
    return [slug, { title: words.charAt(0).toUpperCase() + words.slice(1), ...rule }];
  });
  return Object.fromEntries(titled) as Readonly<Record<Slug, ProblemRule>>; // one for each
}

export type ProblemSlug = keyof typeof PROBLEMS;

export interface ProblemDetails {
  readonly detail?: string;
  readonly errors?: readonly FieldProblem[];
  /** Members that not every problem has. */
  readonly extra?: Readonly<Record<string, string | number | object | null>>;
}

/** First the members of RFC 9457, then ours. `type` is a path below the documentation's address. */
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

/** What can be wrong with one field: the `code` of entries in `errors`. */
export const FIELD_CODES = {
  missing_field: 'A required field is missing.',
  unknown_field: 'The endpoint does not know this field.',
  wrong_type: 'The value has the wrong JSON type.',
  invalid_phone: 'The number is not 8 to 15 digits with the country code first.',
  country_code_missing: "The number lacks the country code of the account's own country.",
  no_route: 'No carrier delivers to this recipient.',
  unknown_number: "The number is not in its country's numbering plan. Only for accounts that check their recipients.",
  not_mobile: 'The number is not a mobile number. Only for accounts that send to mobile numbers only.',
  invalid_sender: 'The sender is neither 1 to 11 characters with at least one letter nor 3 to 15 digits.',
  sender_not_allowed: 'The sender is not registered and approved for this account and route.',
  invalid_value: 'The value is not one of the allowed values.',
  invalid_text: 'The text contains characters that cannot be sent.',
  invalid_time: 'The value is not an ISO 8601 date-time with a UTC offset.',
  template_mismatch: 'The text matches no approved template. The member `mismatch` says where it differs.',
  cta_not_registered: 'A link or a number of the text is not registered to the account.',
  template_not_found: 'The account has no such template, or not for this sender and route, or not in this language.',
  template_not_approved: 'The template is not approved yet, or no longer.',
  template_not_supported: 'The template has a part that cannot be sent.',
  duplicate: 'The value equals that of an earlier entry of the list. Each must be different.',
  url_not_allowed: 'The address is not https, is private, or cannot be resolved.',
  unsupported_media_type: 'The file name in the address does not have an extension of this type.',
  conflict: 'The field cannot be combined with another field of the request.',
  wrong_count: 'The list has too few or too many entries.',
  out_of_range: 'The value is below the lowest or above the highest allowed one.',
  too_short: 'The text is empty.',
  recipient_opted_out: 'The customer wants no messages of this sender.',
  country_not_allowed: "The recipient's country is none that the account may send to.",
  recipient_limit_reached: 'The recipient has got as many messages in this hour as the account allows.',
  traffic_held: 'Messages to numbers that begin like this one are held.',
  marketing_opted_out: 'The customer stopped marketing messages of the account.',
  number_needed: 'The template has a code, which goes to phone numbers only: give the number of the customer.',
  recipient_not_opted_in: 'The customer has not agreed to receive templates.',
  too_long: 'The text has too many characters, or needs too many segments.',
} as const;

export interface FieldProblem {
  /** The caller's name for it. Entries of lists are written `to[3]`, members `buttons[0].title`. */
  readonly field: string;
  readonly code: keyof typeof FIELD_CODES;
  readonly detail: string;
}
