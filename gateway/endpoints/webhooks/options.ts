import { z } from 'zod';
import {
  type EndpointDocument,
  FILTER_FIELDS,
  type FilterName,
  retrySecondsOf,
} from '../../../shared/events/webhooks/endpoint.ts';
import { type GivenOptions, keptHeader } from '../../../shared/events/webhooks/endpoint-store.ts';
import type { Shown } from '../../api/endpoint.ts';
import { flag, named, text, whole } from '../../api/shapes.ts';
import type { FieldProblems } from '../../http/field-problems.ts';
import {
  boolean,
  Fault,
  list,
  number,
  object,
  optional,
  required,
  string,
  withDefault,
} from '../../http/fields/field.ts';
import type { Given } from '../../http/fields/request.ts';

/** How an account wants its events posted: headers, pauses and filter (shared/events/webhooks/endpoint.ts). */

const HEADERS_MAX = 10;
/** Most web servers refuse requests whose headers have more than 8 KB. */
const HEADERS_CHARACTERS_MAX = 4_000;

/** Ours, or meaningful to the connection or to proxies (target, length, sender; RFC 9110 §7.6.1). */
const NOT_YOURS = new RegExp(
  `^(${[
    ...[
      'host',
      'content-.*',
      'transfer-encoding',
      'user-agent',
      'webhook-.*',
      'expect',
      'date',
      'accept-encoding',
      'traceparent',
      'tracestate',
    ],
    ...['connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'http2-settings', 'proxy-.*', 'sec-.*'],
    ...['forwarded', 'via', 'x-forwarded-.*', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip'],
  ].join('|')})$`,
  'i',
);
const NAME = new Fault('invalid_value', 'It must be 1 to 64 letters, digits, hyphens and underscores.');
const RESERVED = new Fault(
  'invalid_value',
  'Posts have this header themselves, or proxies and the connection give it a meaning. Choose another name, such as `X-My-Token`.',
);
const VALUE = new Fault('invalid_value', 'It must be visible ASCII characters, with spaces only between them.');
const TOO_LONG = new Fault('too_long', 'It may have 1,000 characters.');

const headerName = string({ description: 'Its name.', maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }, (name) =>
  !/^[\w-]{1,64}$/.test(name) ? NAME : NOT_YOURS.test(name) ? RESERVED : name,
);

const headerValue = string(
  {
    description: 'What is posted. Leave it out to keep the value of a secret header that is there.',
    maxLength: 1_000,
  },
  (value) => (value.length > 1_000 ? TOO_LONG : /^[!-~]([ -~]*[!-~])?$/.test(value) ? value : VALUE),
);

const RETRIES_MAX = 12;
/** Less than the five days of failures that disable a webhook. */
const RETRY_SECONDS_MAX = 3 * 86_400;

const VALUES_MAX = 50;
const FILTER_VALUE = new Fault('invalid_value', 'It must have 1 to 100 characters.');

function filterValues(name: FilterName) {
  const value = string({ minLength: 1, maxLength: 100 }, (given) =>
    given.length >= 1 && given.length <= 100 ? given : FILTER_VALUE,
  );
  return optional(list(value, { description: FILTER_FIELDS[name].about, minItems: 1, maxItems: VALUES_MAX }));
}

export const OPTION_FIELDS = {
  headers: optional(
    list(
      object({
        name: required(headerName),
        value: optional(headerValue),
        secret: withDefault(boolean('It is sealed, and never shown again.'), false),
      }),
      {
        description: `Your own headers, in every post: ${HEADERS_MAX} at most, with ${HEADERS_CHARACTERS_MAX.toLocaleString('en')} characters in all. The list takes the place of the one before.`,
        maxItems: HEADERS_MAX,
      },
      (headers, add) => {
        headers.forEach((header, index) => {
          const isSame = (other: typeof header) => other?.name.toLowerCase() === header?.name.toLowerCase();
          if (header !== undefined && headers.findIndex(isSame) < index)
            add(index, 'name', new Fault('duplicate', 'An earlier header has this name.'));
        });
      },
    ),
  ),
  retry_seconds: optional(
    list(number({ description: 'The pause before the next try.', type: 'integer', minimum: 1, maximum: 86_400 }), {
      description: `The pauses between the tries of an event, in seconds: ${RETRIES_MAX} at most, three days in all. Each is a fifth longer or shorter by chance. Empty: as for all, 28 hours.`,
      maxItems: RETRIES_MAX,
    }),
  ),
  events_per_post: optional(
    number({
      description:
        'How many events one post may have. 1: a post is an event. More: it is an array of events, each with its `event_id`, signed as a whole; the answer counts for all of them.',
      ...{ type: 'integer', minimum: 1, maximum: 100 },
    }),
  ),
  gather_ms: optional(
    number({
      description: 'With `events_per_post` above 1: how long an event waits for others, in milliseconds.',
      ...{ type: 'integer', minimum: 0, maximum: 60_000 },
    }),
  ),
  raw: optional(
    boolean(
      'Events of SMS that end have `raw`: the receipt as the carrier wrote it, with its TLVs. It is kept for messages that end from then on; seconds may pass before that begins.',
    ),
  ),
  filter: optional(
    object(
      {
        sender: filterValues('sender'),
        route: filterValues('route'),
        reference_prefix: filterValues('reference_prefix'),
        number_prefix: filterValues('number_prefix'),
        error_code: filterValues('error_code'),
      } satisfies Readonly<Record<FilterName, unknown>>,
      'Post only events whose message has one of the values of each field that is given here. An event without such a field is not posted. Empty: post all.',
    ),
  ),
};

type Options = Given<typeof OPTION_FIELDS>;

/** Faults of the options together. `known`: the webhook being changed. */
export function checkOptions(
  channel: EndpointDocument['channel'],
  { headers = [], retry_seconds = [], filter = {} }: Options,
  known: Pick<EndpointDocument, 'headers'> | undefined,
  problems: FieldProblems,
): void {
  headers.forEach(({ name, value, secret }, index) => {
    const kept = secret ? keptHeader(known?.headers ?? [], name) : undefined;
    if (value === undefined && kept === undefined)
      problems.add(
        `headers[${index}].value`,
        'missing_field',
        'It is required: the webhook has no secret header of this name.',
      );
  });
  const characters = headers.reduce((sum, { name, value = '' }) => sum + name.length + value.length, 0);
  if (characters > HEADERS_CHARACTERS_MAX)
    problems.add(
      'headers',
      'too_long',
      `They have ${characters} characters; ${HEADERS_CHARACTERS_MAX} are allowed in all.`,
    );
  const seconds = retry_seconds.reduce((sum, pause) => sum + pause, 0);
  if (seconds > RETRY_SECONDS_MAX)
    problems.add(
      'retry_seconds',
      'out_of_range',
      `They are ${seconds} s in all; ${RETRY_SECONDS_MAX} (three days) are allowed.`,
    );
  if (channel === 'account' && Object.keys(filter).length > 0)
    problems.add(
      'filter',
      'conflict',
      'Events of the account itself are about no message, so they have none of these fields.',
    );
}

export function givenOptions({ headers, retry_seconds, filter, raw, ...posts }: Options): GivenOptions | undefined {
  const options: GivenOptions = {
    ...(headers !== undefined && { headers }),
    ...(retry_seconds !== undefined && { retrySeconds: retry_seconds }),
    ...(filter !== undefined && { filter }),
    ...(raw !== undefined && { raw }),
    ...(posts.events_per_post !== undefined && { eventsPerPost: posts.events_per_post }),
    ...(posts.gather_ms !== undefined && { gatherMs: posts.gather_ms }),
  };
  return Object.keys(options).length === 0 ? undefined : options;
}

const WebhookHeader = named('WebhookHeader', 'A header of your own.', {
  name: text('Its name.', { example: 'Authorization' }),
  value: text('What is posted. Null of a secret one.').nullable(),
  secret: flag('Whether it is sealed.', true),
});

const values = (name: FilterName) =>
  z
    .array(text())
    .optional()
    .meta({ description: FILTER_FIELDS[name].about, example: [FILTER_FIELDS[name].example] });

export const OPTION_SHAPE = {
  headers: z.array(WebhookHeader).meta({ description: 'Your own headers, in every post.' }),
  retry_seconds: z
    .array(whole())
    .meta({ description: 'The pauses between the tries of an event, in seconds.', example: [5, 60, 300] }),
  events_per_post: whole('How many events one post may have. Above 1 a post is an array.', { minimum: 1, example: 1 }),
  gather_ms: whole('How long an event waits for others of its post, in milliseconds.', { example: 0 }),
  raw: flag('Whether events of SMS have the receipt as the carrier wrote it.', false),
  filter: named('WebhookFilter', 'Only events that fit all of its fields are posted. Empty: all.', {
    sender: values('sender'),
    route: values('route'),
    reference_prefix: values('reference_prefix'),
    number_prefix: values('number_prefix'),
    error_code: values('error_code'),
  }),
};

/** Secret headers have no value here. */
export function optionRecord(found: EndpointDocument): Shown<z.ZodObject<typeof OPTION_SHAPE>> {
  const { headers = [], filter = {}, eventsPerPost = 1, gatherMs = 0, raw = false } = found;
  return {
    headers: headers.map((header) => ({
      name: header.name,
      value: 'value' in header ? header.value : null,
      secret: 'sealed' in header,
    })),
    retry_seconds: retrySecondsOf(found),
    events_per_post: eventsPerPost,
    gather_ms: gatherMs,
    raw,
    filter,
  };
}
