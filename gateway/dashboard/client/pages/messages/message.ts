import type { Tone } from '../../parts/badge.tsx';

export type Status = 'queued' | 'sent' | 'delivered' | 'failed' | 'expired' | 'rejected' | 'read' | 'received';

/** An entry of `GET /v2/messages`. */
export interface Message {
  readonly message_id: string;
  readonly to: string;
  readonly from?: string | null;
  readonly status: Status;
  readonly channel: 'sms' | 'chatapp';
  readonly direction?: 'in' | 'out';
  readonly type?: string;
  readonly sender?: string;
  readonly route?: string;
  readonly segments?: number;
  readonly operator: string | null;
  readonly created_at: string;
  readonly delivered_at: string | null;
  readonly reference?: string;
  readonly batch_id?: string;
  readonly error_code?: string;
  readonly error_reason?: string;
}

/** What `GET /v2/messages/{id}` tells beyond that. */
export interface WholeMessage extends Message {
  readonly explanation?: {
    readonly cause: string;
    readonly advice: string;
    readonly since?: string;
    readonly until?: string;
  };
  readonly resend_of?: string;
  readonly text?: string | null;
  readonly params?: readonly string[];
  readonly text_shown?: 'whole' | 'masked' | 'hidden' | 'removed';
  readonly encoding?: string;
  readonly valid_until?: string;
  readonly carrier?: string | null;
  readonly template?: string;
  readonly parts?: readonly Part[];
  readonly webhooks: readonly WebhookState[];
  readonly timeline: readonly Happening[];
}

export interface Part {
  readonly number: number;
  readonly state: string;
  readonly carrier_message_id: string | null;
  readonly error: string | null;
}

export interface WebhookState {
  readonly event_id: string;
  readonly event: string;
  readonly webhook_id: string;
  readonly state: string;
  readonly attempts: number;
}

/** One entry of a timeline: `what` says which other members it has. */
export interface Happening {
  readonly at: string;
  readonly what: string;
  readonly status?: string;
  readonly carrier?: string;
  readonly credits?: number;
  readonly template_id?: string;
  readonly template?: string;
  readonly path?: string;
  readonly event?: string;
  readonly result?: string | number;
  readonly duration_ms?: number;
  readonly outcome?: string;
  readonly error_code?: string;
  readonly error_reason?: string;
  readonly policy?: string;
  readonly became?: string;
  readonly raw?: { readonly text?: string; readonly message_state?: number };
}

export const STATUS_TONES: Readonly<Record<Status, Tone>> = {
  queued: 'plain',
  sent: 'info',
  delivered: 'good',
  read: 'good',
  received: 'info',
  failed: 'bad',
  expired: 'warn',
  rejected: 'bad',
};

export function messageHref(id: string): string {
  return `/dashboard/messages/${id}`;
}
