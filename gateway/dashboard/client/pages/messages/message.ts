import type { AnswerOf, EntryOf } from '../../../../api/endpoint.ts';
import type { message, messages } from '../../../../endpoints/messages/messages.ts';
import type { Tone } from '../../parts/badge.tsx';

export type Status = 'queued' | 'sent' | 'delivered' | 'failed' | 'expired' | 'rejected' | 'read' | 'received';

/** An entry of `GET /v2/messages`. */
export type Message = EntryOf<typeof messages>;

/** What `GET /v2/messages/{id}` tells beyond that. */
export type WholeMessage = AnswerOf<typeof message>;

export type Part = NonNullable<WholeMessage['parts']>[number];

/** One entry of a timeline: `what` says which other members it has. */
export type Happening = WholeMessage['timeline'][number];

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
