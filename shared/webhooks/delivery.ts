import type { AccountId, EndpointId, EventId, MessageId } from '../runtime/ids.ts';
import type { SmsEvent } from './endpoint.ts';

/**
 * One event for one endpoint, and its log. `_id` is `<event id>:<endpoint id>`: inserting it twice is a duplicate key.
 * Due while `due` is set; completed by one update that unsets it.
 */
export interface DeliveryDocument {
  readonly _id: DeliveryId;
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  /** Sent as `webhook-id`, the same on every try. */
  readonly eventId: EventId;
  readonly event: SmsEvent;
  readonly message: MessageId;
  /** The exact JSON that is posted and signed. */
  readonly body: string;
  readonly due?: Date;
  readonly state: 'due' | 'done' | 'exhausted' | 'discarded';
  readonly attempts: readonly DeliveryAttempt[];
  readonly createdAt: Date;
}

export type DeliveryId = `${EventId}:${EndpointId}`;

export function deliveryId(event: EventId, endpoint: EndpointId): DeliveryId {
  return `${event}:${endpoint}`;
}

export interface DeliveryAttempt {
  readonly at: Date;
  /** HTTP status, or a code of ours when there was no answer (`timeout`, `refused_address`, `connect_failed`, …). */
  readonly result: number | string;
  readonly durationMs: number;
  /** The first bytes of the answer's body, when it was not a success. */
  readonly excerpt?: string;
}
