import type { AccountId, EndpointId } from '../../platform/runtime/ids.ts';
import type { EventChannel, EventName, StateChange } from '../catalogue.ts';

export interface EndpointSecret {
  readonly sealed: string;
  /** Absent: the newest. */
  readonly expiresAt?: Date;
  /** The API request that added it by a rotation. */
  readonly request?: string;
}

/** A header of the account's own, beside ours in every post. A secret one is sealed, and shown to nobody. */
export type EndpointHeader = { readonly name: string } & ({ readonly value: string } | { readonly sealed: string });

/** How an account wants its events. What is absent or empty is as for all. */
export interface EndpointOptions {
  readonly headers?: readonly EndpointHeader[];
  /** The pauses between the tries, in place of `RETRY_SECONDS`. */
  readonly retrySeconds?: readonly number[];
  /** Only events that fit are posted: what does not fit is never stored as a delivery. */
  readonly filter?: EventFilter;
  /** Events of SMS have the receipt as the carrier wrote it, which is stored for that from then on. */
  readonly raw?: boolean;
  /** More than one: a post is an array of so many events at most. */
  readonly eventsPerPost?: number;
  /** How long an event waits for others that are posted with it. */
  readonly gatherMs?: number;
}

/** An address that an account's events are posted to. */
export interface EndpointDocument extends EndpointOptions {
  readonly _id: EndpointId;
  readonly account: AccountId;
  /** Only events of this channel are posted to it. */
  readonly channel: EventChannel;
  readonly url: string;
  /** Its place among the account's endpoints (platform/mongo/places.ts). */
  readonly place: number;
  readonly events: readonly EventName[];
  /** Sealed `whsec_…` secrets. All of them sign; older ones expire after a rotation. */
  readonly secrets: readonly EndpointSecret[];
  readonly status: 'active' | 'disabled';
  readonly disabledReason?: string;
  /** Since when every post has failed; unset by a success. Five days of only failures disable the endpoint. */
  readonly failingSince?: Date;
  /** The API request that created it. Repeated, that request gets the same answer. */
  readonly registration?: string;
  readonly createdAt: Date;
  /** When it was last enabled, or got an event that it had not. Absent: when it was created. */
  readonly subscribedSince?: Date;
}

/**
 * The pauses between the tries (docs/specification/decisions.md, Webhooks). When the last try fails, about 28 hours after the event,
 * the delivery is exhausted.
 */
export const RETRY_SECONDS: readonly number[] = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 36_000];

/** The endpoint's own pauses, or those of all. */
export function retrySecondsOf({ retrySeconds = [] }: EndpointOptions): readonly number[] {
  return retrySeconds.length === 0 ? RETRY_SECONDS : retrySeconds;
}

/** A limit, because each event becomes one delivery per endpoint. */
export const ENDPOINTS_PER_ACCOUNT = 10;

interface FilterField {
  /** What it compares, in words for customers. */
  readonly about: string;
  readonly example: string;
  /** Whether one of the values fits. */
  fits(change: StateChange, values: readonly string[]): boolean;
}

/**
 * What a webhook's events may be picked by. All are members of the message, so that nothing is read to compare them. The status is none of
 * them: each has an event of its own.
 */
export const FILTER_FIELDS = {
  sender: {
    about:
      'Your end of the message, in capital or small letters: its sender; on the chat-app channel, and of received messages, your number.',
    example: 'HARKRA',
    fits({ message }, values) {
      const own = 'sender' in message ? message.sender : 'inbound' in message ? message.to : message.from;
      return values.some((value) => value.toLowerCase() === own.toLowerCase());
    },
  },
  route: {
    about: '`transactional` or `promotional`. Only SMS that you sent have one.',
    example: 'transactional',
    fits: ({ message }, values) => 'route' in message && values.includes(message.route),
  },
  reference_prefix: {
    about: 'How your own name for the message begins.',
    example: 'order-',
    fits: ({ message: { reference } }, values) => values.some((value) => reference?.startsWith(value)),
  },
  number_prefix: {
    about: "How the customer's number begins, with the country code.",
    example: '91',
    fits({ message }, values) {
      const number = 'inbound' in message ? message.from : message.to;
      return values.some((value) => number?.startsWith(value));
    },
  },
  error_code: {
    about: 'Why the message did not arrive.',
    example: '1',
    fits: ({ message, entry }, values) => values.includes(entry.error?.code ?? message.errorCode ?? ''),
  },
} as const satisfies Readonly<Record<string, FilterField>>;

export type FilterName = keyof typeof FILTER_FIELDS;
// The table's own keys.
const FILTER_NAMES = Object.keys(FILTER_FIELDS) as readonly FilterName[];

/** Each field that is given must have one of its values. */
export type EventFilter = { readonly [Name in FilterName]?: readonly string[] };

/** `change` is undefined for an event that is about no message: it has none of the fields. */
export function fitsFilter(filter: EventFilter, change: StateChange | undefined): boolean {
  return FILTER_NAMES.every((name) => {
    const values = filter[name];
    return values === undefined || (change !== undefined && FILTER_FIELDS[name].fits(change, values));
  });
}

/** Why an endpoint is disabled. `reason` is what ops, the API or the webhook worker stored. */
export function disabledWords(reason: string | undefined): string {
  if (reason === 'account') return 'It was disabled on the dashboard or by the API.';
  if (reason === undefined || reason === 'operator') return 'Your service provider disabled it.';
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}
