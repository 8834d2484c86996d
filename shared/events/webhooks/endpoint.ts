import type { AccountId, EndpointId } from '../../platform/runtime/ids.ts';
import type { EventChannel, EventName, StateChange } from '../catalogue.ts';

export interface EndpointSecret {
  readonly sealed: string;
  /** Absent: the newest. */
  readonly expiresAt?: Date;
  readonly request?: string;
}

/** A header of the account, beside ours in every post. A secret one is sealed, and shown to nobody. */
export type EndpointHeader = { readonly name: string } & ({ readonly value: string } | { readonly sealed: string });

/** How an account wants its events. Absent or empty: the default. */
export interface EndpointOptions {
  readonly headers?: readonly EndpointHeader[];
  /** The pauses between the tries, in place of `RETRY_SECONDS`. */
  readonly retrySeconds?: readonly number[];
  /** Events that do not fit are never stored as deliveries. */
  readonly filter?: EventFilter;
  /** Events of SMS have the receipt as the carrier wrote it, which is stored from then on. */
  readonly raw?: boolean;
  /** More than one: a post is an array of at most so many events. */
  readonly eventsPerPost?: number;
  readonly gatherMs?: number;
}

export interface EndpointDocument extends EndpointOptions {
  readonly _id: EndpointId;
  readonly account: AccountId;
  readonly channel: EventChannel;
  readonly url: string;
  /** Its place among the account's endpoints (platform/mongo/places.ts). */
  readonly place: number;
  readonly events: readonly EventName[];
  /** All of them sign; older ones expire after a rotation. */
  readonly secrets: readonly EndpointSecret[];
  readonly status: 'active' | 'disabled';
  readonly disabledReason?: string;
  /** Since when every post has failed. Five days of only failures disable the endpoint. */
  readonly failingSince?: Date;
  /** The API request that created it: repeated, it gets the same answer. */
  readonly registration?: string;
  readonly createdAt: Date;
  /** When it was last enabled, or got a further event. Absent: when it was created. */
  readonly subscribedSince?: Date;
}

/** See docs/specification/decisions.md, Webhooks. The last try is about 28 hours after the event. */
export const RETRY_SECONDS: readonly number[] = [5, 60, 300, 1_800, 7_200, 18_000, 36_000, 36_000];

export function retrySecondsOf({ retrySeconds = [] }: EndpointOptions): readonly number[] {
  return retrySeconds.length === 0 ? RETRY_SECONDS : retrySeconds;
}

/** Limited, because each event becomes one delivery per endpoint. */
export const ENDPOINTS_PER_ACCOUNT = 10;

interface FilterField {
  readonly about: string;
  readonly example: string;
  fits(change: StateChange, values: readonly string[]): boolean;
}

/** Only fields of the message, so that nothing is read to compare. Each status has an event of its own. */
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

/** Each given field must have one of its values. */
export type EventFilter = { readonly [Name in FilterName]?: readonly string[] };

/** `change`: undefined for an event that is about no message, so no field fits. */
export function fitsFilter(filter: EventFilter, change: StateChange | undefined): boolean {
  return FILTER_NAMES.every((name) => {
    const values = filter[name];
    return values === undefined || (change !== undefined && FILTER_FIELDS[name].fits(change, values));
  });
}

/** `reason`: stored by ops, the API or the webhook worker. */
export function disabledWords(reason: string | undefined): string {
  if (reason === 'account') return 'It was disabled on the dashboard or by the API.';
  if (reason === undefined || reason === 'operator') return 'Your service provider disabled it.';
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
}
