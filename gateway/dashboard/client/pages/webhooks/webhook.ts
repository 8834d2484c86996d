import type { Tone } from '../../parts/badge.tsx';

export type Channel = 'sms' | 'chatapp' | 'account';

/** An event that webhooks may have, as `GET /v2/account/webhook-events` shows it. */
export interface OfferedEvent {
  readonly event: string;
  readonly channels: readonly Channel[];
  readonly when: string;
}

/** One post, with what its result means. */
export interface Attempt {
  readonly at: string;
  readonly result: number | string;
  readonly reason: string;
  readonly duration_ms: number;
}

/** As `GET /v2/account/webhooks` shows it. */
export interface Webhook {
  readonly webhook_id: string;
  readonly channel: Channel;
  readonly url: string;
  readonly events: readonly string[];
  readonly state: 'active' | 'disabled';
  readonly disabled_reason: string | null;
  readonly failing_since: string | null;
  readonly last_failure: Attempt | null;
  readonly old_secret_until: string | null;
  readonly created_at: string;
}

/** An answer that has the secret, this once. An address that was there already has none. */
export interface CreatedWebhook extends Webhook {
  readonly secret?: string;
}

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

export interface ListedDelivery extends Delivery {
  readonly last_attempt: Attempt | null;
}

export interface WholeDelivery extends Delivery {
  readonly body: string;
  readonly attempts: readonly (Attempt & { readonly answer: string | null })[];
}

export interface Replay {
  readonly replay_id: string;
  readonly webhook_id: string;
  readonly state: 'running' | 'done' | 'stopped';
  readonly since: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly replayed: number;
  readonly progress: number;
}

export const CHANNELS: readonly (readonly [Channel, string])[] = [
  ['sms', 'SMS'],
  ['chatapp', 'Chat-app'],
  ['account', 'Account'],
];

export const DELIVERY_STATES: Readonly<Record<Delivery['state'], { readonly words: string; readonly tone: Tone }>> = {
  due: { words: 'Next', tone: 'info' },
  waiting: { words: 'Retrying', tone: 'warn' },
  done: { words: 'Delivered', tone: 'good' },
  exhausted: { words: 'Failed', tone: 'bad' },
  discarded: { words: 'Discarded', tone: 'plain' },
};

const NAMED_MAX = 2;

/** Their names, or how many they are. */
export function eventsInWords({ events }: Webhook): string {
  return events.length > NAMED_MAX ? `${events.length} events` : events.join(', ');
}
