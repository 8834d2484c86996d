import type { StateChange } from '../catalogue.ts';

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
