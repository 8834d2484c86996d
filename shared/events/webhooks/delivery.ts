import {
  type AccountId,
  type EndpointId,
  type EventId,
  type MessageId,
  messageOfEvent,
} from '../../platform/runtime/ids.ts';
import type { EventName } from '../catalogue.ts';

/**
 * One event for one endpoint, and its log. `_id` is `<event id>:<endpoint id>`, so a second insert is a duplicate key. Events of one
 * settle are in one document at first (`DeliveryGroup`).
 *
 * `due` (`due` set) → `done` | `exhausted` | `discarded`, or `waiting` (`retryAt` set) and back to `due` at that time. Waiting
 * ones have a field and an index of their own. So thousands of later retries of a dead endpoint do not slow down the search for
 * what is due now. The price is one more write per retry, and none per delivery that succeeds.
 */
export interface DeliveryDocument {
  readonly _id: DeliveryId;
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  /** Sent as `webhook-id`, the same on every try. */
  readonly eventId: EventId;
  readonly event: EventName;
  /** Absent when the event is not about a message. */
  readonly message?: MessageId;
  /** The exact JSON that is posted and signed. */
  readonly body: string;
  /** To be posted now, ordered by this time per endpoint. Set in state `due` only. */
  readonly due?: Date;
  /** Set in state `waiting` only. */
  readonly retryAt?: Date;
  readonly state: DeliveryState;
  /** All tries ever made, oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** Time of the last replay. Earlier attempts do not count in the retry schedule. */
  readonly replayedAt?: Date;
  readonly createdAt: Date;
}

/** `exhausted`: the schedule's tries all failed. `discarded`: the endpoint was disabled. Both can be replayed. */
export type DeliveryState = 'due' | 'waiting' | 'done' | 'exhausted' | 'discarded';

export type DeliveryId = `${EventId}:${EndpointId}`;

/**
 * Several events of one settle for one endpoint: one insert, and one update when all were posted. Its `_id` is that of the first
 * event's delivery, and how many there are.
 *
 * `due` → `done`. An event that was not acknowledged gets a delivery of its own before the group is done, and so does one that is
 * replayed. That delivery, where there is one, is what counts; the group's item is then only its origin.
 */
export interface DeliveryGroup {
  readonly _id: GroupedId;
  readonly account: AccountId;
  readonly endpoint: EndpointId;
  /** Events of messages, in the order in which they are posted. */
  readonly items: readonly GroupItem[];
  /** Set in state `due` only: the time of the first event. */
  readonly due?: Date;
  readonly state: 'due' | 'done';
  /** Empty until it is done. Then the post of each item, in their order; null for one that was not posted. */
  readonly attempts: readonly (DeliveryAttempt | null)[];
  readonly createdAt: Date;
}

export type GroupItem = Pick<DeliveryDocument, 'eventId' | 'event' | 'body'>;

export type GroupedId = `${DeliveryId}:${number}`;

/** What is stored in `deliveries`. */
export type Stored = DeliveryDocument | DeliveryGroup;

/** A document's events, each as the delivery that it is. */
export function deliveriesIn(stored: Stored): readonly DeliveryDocument[] {
  if (!('items' in stored)) return [stored];
  const { account, endpoint, state, due, createdAt } = stored;
  return stored.items.map((item, i) => {
    const attempt = stored.attempts[i];
    return {
      ...{ _id: deliveryId(item.eventId, endpoint), account, endpoint, ...item, message: messageOfEvent(item.eventId) },
      ...(due === undefined ? {} : { due }),
      ...{ state, attempts: attempt ? [attempt] : [], createdAt },
    };
  });
}

export function deliveryId(event: EventId, endpoint: EndpointId): DeliveryId {
  return `${event}:${endpoint}`;
}

export function eventOf(id: DeliveryId): EventId {
  return id.slice(0, id.indexOf(':')) as EventId; // as in `deliveryId`
}

export interface DeliveryAttempt {
  readonly at: Date;
  /** HTTP status, or our own code when there was no answer (`timeout`, `refused_address`, `connect_failed`, …). */
  readonly result: number | string;
  readonly durationMs: number;
  /** The first bytes of the answer's body, when it was not a success. */
  readonly excerpt?: string;
}

/** Tries of the current run of the retry schedule. */
export function triesMade({ attempts, replayedAt }: Pick<DeliveryDocument, 'attempts' | 'replayedAt'>): number {
  if (replayedAt === undefined) return attempts.length;
  return attempts.filter((attempt) => attempt.at >= replayedAt).length;
}
