import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { deliveries, showDelivery } from '../../../../endpoints/webhooks/deliveries.ts';
import type { replays } from '../../../../endpoints/webhooks/replays.ts';
import type { createWebhook, showWebhook } from '../../../../endpoints/webhooks/webhooks.ts';
import type { Tone } from '../../parts/badge.tsx';

export type Channel = 'sms' | 'chatapp' | 'account';

/** An event that webhooks may have, as `GET /v2/account/webhook-events` shows it. */
export interface OfferedEvent {
  readonly event: string;
  readonly channels: readonly Channel[];
  readonly when: string;
}

/** One post, with what its result means. */
export type Attempt = NonNullable<Webhook['last_failure']>;

/** As `GET /v2/account/webhooks` shows it. */
export type Webhook = AnswerOf<typeof showWebhook>;

/** An answer that has the secret, this once. An address that was there already has none. */
export type CreatedWebhook = AnswerOf<typeof createWebhook>;

export interface Delivery {
  readonly event_id: string;
  readonly event: string;
  readonly message_id: string | null;
  readonly state: 'due' | 'waiting' | 'done' | 'exhausted' | 'discarded';
  readonly created_at: string;
  readonly next_try_at: string | null;
  readonly replayed_at: string | null;
  readonly tries: number;
}

export type ListedDelivery = EntryOf<typeof deliveries>;

export type WholeDelivery = AnswerOf<typeof showDelivery>;

export type Replay = EntryOf<typeof replays>;

export const CHANNELS: readonly (readonly [Channel, string])[] = [
  ['sms', 'SMS'],
  ['chatapp', 'Chat-app'],
  ['account', 'Account'],
];

/** What events may be picked by. */
export const FILTERS: readonly (readonly [keyof Webhook['filter'], string, string])[] = [
  ['sender', 'Only these senders', 'With commas. Of received messages: your number.'],
  ['route', 'Only this route', 'transactional or promotional'],
  ['reference_prefix', 'Only references that begin with', 'With commas.'],
  ['number_prefix', 'Only numbers that begin with', 'With commas, country code first.'],
  ['error_code', 'Only these error codes', 'With commas.'],
];

export const DELIVERY_STATES: Readonly<Record<Delivery['state'], { readonly words: string; readonly tone: Tone }>> = {
  due: { words: 'Next', tone: 'info' },
  waiting: { words: 'Retrying', tone: 'warn' },
  done: { words: 'Delivered', tone: 'good' },
  exhausted: { words: 'Failed', tone: 'bad' },
  discarded: { words: 'Discarded', tone: 'plain' },
};

const NAMED_MAX = 2;

/** What is picked, as `sender HARKRA, route promotional`. */
export function filterInWords({ filter }: Webhook): string {
  return FILTERS.flatMap(([name]) => {
    const values = filter[name];
    return values === undefined ? [] : [`${name.replace('_', ' ')} ${values.join(' or ')}`];
  }).join(', ');
}

/** Their names, or how many they are. */
export function eventsInWords({ events }: Webhook): string {
  return events.length > NAMED_MAX ? `${events.length} events` : events.join(', ');
}
