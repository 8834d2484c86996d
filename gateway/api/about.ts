import { z } from 'zod';
import { EVENT_NAMES, EVENTS, type EventName } from '../../shared/events/catalogue.ts';
import { FIELD_CODES, PROBLEMS, type ProblemSlug } from '../http/problem.ts';
import { exampleOf } from './contract.ts';
import type { Examples, Tag } from './endpoint.ts';
import { EVENT_SHAPES, examplesOf } from './event-shapes.ts';
import { capitalised, flag, text, whole } from './shapes.ts';

/** What the OpenAPI document says once for the whole API. */

const PROBLEM_SLUGS = Object.keys(PROBLEMS) as ProblemSlug[]; // its own keys
const FIELD_CODE_NAMES = Object.keys(FIELD_CODES) as (keyof typeof FIELD_CODES)[]; // its own keys

const FieldProblem = z
  .strictObject({
    field: text('The name of the field in your request; entries of lists as `to[3]`.'),
    code: z.enum(FIELD_CODE_NAMES),
    detail: text('What to do.'),
  })
  .meta({ id: 'FieldProblem', description: 'What is wrong with one field.' });

const Problem = z
  .object({
    type: text('`/errors/<code>`.'),
    title: text(),
    status: whole('The HTTP status.'),
    detail: text('What happened and what to do.'),
    code: z.enum(PROBLEM_SLUGS).meta({ description: 'Stable name.' }),
    status_code: text('Its number. 4xxx: correct your request. 5xxx: the service has to be corrected.', {
      pattern: '^[45]\\d{3}$',
    }),
    errors: z.array(FieldProblem).meta({ description: 'Everything that is wrong with the request.' }),
    request_id: text('Also in the header X-Request-Id.'),
    retryable: flag('Whether the same request can succeed if it is sent again unchanged.'),
    errors_count: whole('How many fields are wrong, when `errors` lists the first 100 of them or fewer.', {
      minimum: 1,
    }).optional(),
  })
  .meta({
    id: 'Problem',
    description:
      'RFC 9457. Some problems have more members: `errors_count` (the number of all field problems; `errors` lists the first 100), `quota` and `limit` (with `quota_reached`), `message_id`, `batch_id` or `schedule_id` (outcome_unknown), `session_closed_at` (session_closed: when it closed, or null if the customer never wrote), `mismatch` and `scrub_code` (template_mismatch).',
  });

const ABOUT = [
  'Send SMS and chat-app messages over HTTP and JSON, and read back what became of them. Every request to `/v2/` carries `Authorization: Bearer <API_KEY>` (the dashboard: the cookie of a session); every body is one JSON object in UTF-8 with `Content-Type: application/json`. Unknown fields and unknown query parameters are refused. Every answer that is not a success is `application/problem+json`, always in the same shape.',
  'Test keys (`hk_test_…`) build and test against this installation. Requests are checked as with a live key and answered alike; then no carrier and no provider gets the message, no credits are taken, and your webhooks get the events with `test: true`. The last three digits of `to` decide. SMS: 101 fails, 102 expires, 103 is rejected by the network, 104 arrives late, 106 gets no receipt, 107 waits first, 108 is rejected and refunded, 114 fails at DLT; all others are delivered. Chat-app: 301 fails, 302 is rejected, 303 is rejected as outside the session, 304 waits first, 307 is read at once, 313 gets no status, 314 fails and arrives after all, 315 fails for its media, 317 is rejected for its template, 318 is not read, 319 is rejected for its country; all others are read. Lists, status, batches, schedules, events, statistics, balance and ledger are those of tests alone, and a live key sees none of them. Senders and templates are the real ones; an account that has no approved sender yet may use any. A test key sends and reads; settings, customers and webhooks need a live key (`live_key_needed`). An account tests with 1,000 play credits a day (UTC); all its test keys together make 100 requests a minute.',
  'Limits: a body may have at most 65,536 bytes; `/v2/send-bulk` and `/v2/schedule` take 10,485,760, and what people say to sign in or change in their profile 16,384. A larger body is answered with 413. A body above 65,536 bytes may be nested 64 levels deep and have 500,000 values; no single entry of a list, and nothing outside lists, may have more than 65,536 bytes. Otherwise the answer is 400 `malformed_body`. A request may have 200 headers of 16 KB together; otherwise the answer is 431. The header `RateLimit-Policy` says how many requests a key may make in a minute (1,000 unless agreed otherwise); more are answered with 429 and `Retry-After`. A body counts as one request for each 16,384 bytes, before it is read and whatever is wrong with it: 10,000 recipients of one text are some ten. An expensive read counts as several requests, as its description says. Nothing counts as more than a key may make in a minute. Lists of one account are read one at a time. So are bodies above 65,536 bytes, four at a time: a further one waits.',
  'Webhooks: each event is posted as one JSON object to every endpoint that subscribed to it. It is the same object that `GET /v2/events` shows, without `event_id`. `POST /v2/account/webhooks` registers endpoints of both channels, and so does the dashboard. Posts are signed as Standard Webhooks says: `webhook-id` is the id of the event and the same on every attempt, so ignore ids that you have seen; `webhook-timestamp` is in seconds; `webhook-signature` is `v1,` and the base64 HMAC-SHA256 of `<id>.<timestamp>.<body>` with the secret. The libraries of Standard Webhooks verify it: `new Webhook(secret).verify(body, headers)`, with the bytes of the body exactly as they arrived. Reply 2xx within 15 seconds (setting), then process the event. A webhook may have headers of its own in every post (`headers`, secret ones are sealed), other pauses (`retry_seconds`), a `filter`, and with `raw` the carrier’s receipt in events of SMS, which `GET /v2/events` does not show. With `events_per_post` above 1 a post is an array of events, each with its `event_id`: `webhook-id` is then the id of the post, so ignore events by `event_id`; one signature covers the whole body, and the answer counts for all events of it. Those that are tried again may come in other arrays. After any other reply, a redirect included, the post is repeated after 5 s, 1 min, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, or after pauses of its own, or later if `Retry-After` asks for it (up to twice the pause). 410, or five days without a success, disables the endpoint. Events may arrive in a different order than they happened; `timestamp` says when each happened. `GET /v2/events` shows the events of messages and customers of the last seven days, including those that an endpoint missed; what became of templates is shown by their lists. Reply 2xx to kinds of events that you do not know, too: `webhook.test` is posted when a test is asked for.',
].join('\n\n');

const TAGS: Readonly<Record<Tag, string>> = {
  SMS: 'Send messages and follow them.',
  'Chat-app':
    "Messages to customers on the chat-app channel. Free-form messages can be sent only while the session is open: until 24 hours after the customer's last message.",
  'Reading back': 'Extensions: lists, schedules, batches, events, the ledger.',
  Account: 'Extensions: settings of the account and its lists.',
  Users: 'Extensions: who may sign in to the dashboard, and as what. For owners; no API key can do it.',
  'Sign-in':
    'Extensions: how people sign in to the dashboard, and what they do with their own profile. An API key cannot do it: these operations take the cookie of a session. A request that changes something comes from the same origin and has the header `X-Dashboard: 1`.',
  Operators:
    'Extensions: what operators see and change, for all accounts. Scope `admin:read` to look; to change something `admin:support`, `admin:money` or `admin:routing`, as each says. `admin:look` finds messages and looks at accounts: with the header `Harkara-Account: acc_…` an operator uses what an account reads itself with the scope `read`, as it does, without files of customers and without texts that the account hides. What was looked at stands in the audit.',
  'Running it': 'Without a key.',
};

/** Problems that belong to no endpoint. */
const OTHER_PROBLEMS = [
  'malformed_request',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'headers_too_large',
  'rate_limited',
  'auth_failures_limited',
  'session_ended',
  'other_user',
  'origin_refused',
  'second_factor_needed',
  'account_not_found',
  'account_not_named',
  'account_only',
  'store_unavailable',
  'secret_unreadable',
] as const satisfies readonly ProblemSlug[];

export const API = {
  openapi: '3.1.1',
  info: {
    title: 'Harkara',
    version: '2',
    summary: 'Messages by SMS and by a chat app, over HTTP and JSON.',
    description: ABOUT,
    contact: { name: 'Your service provider, who runs this gateway' },
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  },
  servers: [{ url: '/' }],
  security: [{ key: [] }, { session: [] }],
  tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  webhooks: Object.fromEntries(EVENT_NAMES.map((name) => [name, { post: webhookOf(name) }])),
  'x-problems': OTHER_PROBLEMS,
};

function webhookOf(name: EventName) {
  return {
    operationId: `on${name.split(/[._]/).map(capitalised).join('')}`,
    summary: EVENTS[name].when,
    requestBody: {
      required: true,
      content: { 'application/json': contentOf(EVENT_SHAPES[name], examplesOf(name)) },
    },
    responses: { '2XX': { description: 'You received it. It is not posted again.' } },
  };
}

export const COMMON_SHAPES: readonly z.ZodType[] = [Problem, ...Object.values(EVENT_SHAPES)];

/** Bare, or as a structured-field string (RFC 9651 §3.3.3). */
const IDEMPOTENCY_KEY = '^([!#-~][!-~]{0,254}|"([!#-\\[\\]-~]|\\\\["\\\\]){1,255}")$';

export const COMPONENTS = {
  securitySchemes: {
    key: {
      type: 'http',
      scheme: 'bearer',
      description:
        'An API key, `hk_live_…`. Each operation names the scope that the key needs. With a test key, `hk_test_…`, the same requests are checked and answered, but nothing leaves or costs: the last digits of the recipient decide what becomes of a message, and a test key sees tests alone.',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'harkara',
      description:
        "The session of somebody who signed in to the dashboard. Behind TLS the cookie is called `__Host-harkara`. It does what the scopes of the user's role allow. Changes need the header `X-Dashboard: 1` and must come from the same origin. With the header `X-Dashboard-User` a request is refused (`other_user`) when the session is of another user than this one. With `X-Dashboard-Auto: 1`, as an open page sends when it reads again by itself, a request does not keep the session from ending by its idle limit.",
    },
  },
  parameters: {
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      description:
        'Extension: 1 to 255 visible characters of ASCII, in quotes or not. The request is done only once: if it is repeated within a day, it gets the same answer with the header `Idempotency-Replayed: true`.',
      schema: { type: 'string', pattern: IDEMPOTENCY_KEY },
      example: 'order-7-first',
    },
  },
  headers: {
    'X-Request-Id': {
      description: 'The id that you sent, if it was valid; otherwise a new one.',
      schema: { type: 'string' },
    },
    RateLimit: {
      description: 'How many requests the key has left in this minute. A key that made it shares its requests with it.',
      schema: { type: 'string' },
    },
    'RateLimit-Policy': { description: 'How many requests the key may make in a minute.', schema: { type: 'string' } },
  },
  responses: {
    Problem: {
      description: 'A problem. `x-problems` of the operation lists the possible ones.',
      content: {
        'application/problem+json': {
          schema: { $ref: '#/components/schemas/Problem' },
          examples: {
            'two fields': {
              value: {
                type: '/errors/invalid_request',
                title: 'Invalid request',
                status: 400,
                detail: 'There are 2 problems; `errors` lists them.',
                code: 'invalid_request',
                status_code: '4000',
                errors: [
                  {
                    field: 'to',
                    code: 'invalid_phone',
                    detail: 'Remove the plus sign. Give 8 to 15 digits, country code first, for example 919876543210.',
                  },
                  { field: 'routes', code: 'unknown_field', detail: 'There is no such field. Did you mean "route"?' },
                ],
                request_id: 'req_01m7znjn7hdb5pft3awkb6pgvz',
                retryable: false,
                errors_count: 2,
              },
            },
          },
        },
      },
    },
  },
};

/** A named shape with its examples; by default the one made of its fields' examples. */
export function contentOf(shape: z.ZodType, examples: Examples | undefined) {
  const name = z.globalRegistry.get(shape)?.id;
  if (name === undefined) throw new Error('a shape of the API has no name');
  const shown = examples ?? { example: exampleOf(shape) };
  return { schema: { $ref: `#/components/schemas/${name}` }, examples: valuesOf(shown) };
}

export function valuesOf(examples: Examples): Record<string, { readonly value: unknown }> {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}
