import type { AccountId } from '../platform/runtime/ids.ts';
import type { ChannelName } from './document/message.ts';
import type { STATES } from './document/status.ts';

export type ShownState = (typeof STATES)[keyof typeof STATES]['shown'];

/**
 * What became of the messages that an account made in one hour, as they were at `countedAt`. The maintenance counts it from the
 * messages and replaces the whole document, so a count that is repeated, or begun by a process that died, does no harm
 * (docs/decisions/0033).
 */
export interface HourDocument {
  /** So that the hours of an account are a range of `_id`. */
  readonly _id: `${AccountId}:${HourName}`;
  readonly account: AccountId;
  readonly countedAt: Date;
  readonly states: Readonly<Partial<Record<ChannelName, Readonly<Partial<Record<ShownState, number>>>>>>;
  /** What they cost, without what was refunded. */
  readonly credits: number;
  /** Conversations of the chat-app channel that were paid for. */
  readonly conversations: number;
  readonly operators: readonly OperatorCounts[];
  /** By `error_code`, the most frequent ones. */
  readonly errors: readonly { readonly code: string; readonly messages: number }[];
  readonly expiresAt: Date;
}

/** The messages that one carrier or provider took, or that it ended. */
export interface OperatorCounts {
  readonly name: string;
  readonly channel: ChannelName;
  /** How many messages have a known end. */
  readonly ended: number;
  readonly delivered: number;
  /** How many were delivered within each of `SECONDS`, and in the last entry those that took longer. */
  readonly within: readonly number[];
}

/** Upper ends of the classes of the time from `sent` to `delivered`. */
export const SECONDS = [1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400] as const;

/** When an hour was counted, for all accounts together. */
export interface CountedHourDocument {
  readonly _id: HourName;
  readonly countedAt: Date;
  /** What reading and counting took, without pauses. */
  readonly tookMs: number;
  readonly messages: number;
  readonly expiresAt: Date;
}

/** An hour in UTC: `2026-11-22T14`. */
export type HourName = `${number}-${number}-${number}T${number}`;

export const HOUR_MS = 3_600_000;

export function hourName(at: Date): HourName {
  return at.toISOString().slice(0, 13) as HourName; // the first 13 characters of an ISO time are its hour
}

export function hourStart(name: HourName): Date {
  return new Date(`${name}:00:00Z`);
}

/** The beginning of the hour that a document counts. */
export function countedFrom({ _id, account }: Pick<HourDocument, '_id' | 'account'>): Date {
  return hourStart(_id.slice(account.length + 1) as HourName); // the id is the account's and the hour's name
}
