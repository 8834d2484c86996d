import type { Collection, Db } from 'mongodb';
import type { AccountId, ConversationId, MessageId } from '../platform/runtime/ids.ts';
import type { ChannelName } from './document/channel.ts';
import type { Route } from './document/message.ts';
import type { STATES } from './document/status.ts';

export type ShownState = (typeof STATES)[keyof typeof STATES]['shown'];

/**
 * What became of the messages that an account made in one hour, as of `countedAt`. Maintenance counts it from the
 * messages and replaces the whole document, so a repeated or aborted count does no harm (docs/decisions/0033).
 */
export interface HourDocument {
  /** The hours of an account are a range of `_id`. */
  readonly _id: `${Counter}:${HourName}`;
  readonly account: Counter;
  readonly countedAt: Date;
  readonly states: Readonly<Partial<Record<ChannelName, Readonly<Partial<Record<ShownState, number>>>>>>;
  /** Without what was refunded. */
  readonly credits: number;
  readonly conversations: number;
  readonly operators: readonly OperatorCounts[];
  /** By `error_code`, the most frequent ones. */
  readonly errors: readonly ErrorCount[];
  /** The sent messages by what reports group by; each message is in one row. */
  readonly traffic: readonly TrafficRow[];
  readonly expiresAt: Date;
}

/** The account whose messages a document counts, or all together, for operators. */
export type Counter = AccountId | typeof ALL;
export const ALL = 'all';

export interface ErrorCount {
  readonly code: string;
  readonly messages: number;
}

/** Messages that agree in all that reports group by. Absent: unknown, or not a property of their channel. */
export interface TrafficRow extends TrafficKind, TrafficCounts {}

export interface TrafficKind {
  /** Half of the hour: days begin at half an hour in India. */
  readonly half: 0 | 1;
  readonly channel: ChannelName;
  /** In `ALL` only. */
  readonly account?: AccountId;
  /** The next two are not in `ALL`. */
  /** For chat-app messages the number that they left from. */
  readonly sender?: string;
  /** DLT id, or the name of a chat-app template. */
  readonly template?: string;
  readonly route?: Route;
  /** The operator's route (carriers/routing/) that chose the carrier. */
  readonly rule?: string;
  /** The carrier that had the message last. */
  readonly carrier?: string;
  /** ISO 3166-1. */
  readonly country?: string;
  /** From the chat-app provider's price: `marketing`, `service`. */
  readonly category?: string;
  readonly operator?: string;
  /** Too different to be counted apart: all the above but `half` and `channel` are left out. */
  readonly other?: true;
}

export interface TrafficCounts {
  readonly states: Readonly<Partial<Record<ShownState, number>>>;
  readonly segments: number;
  /** Without what was refunded. */
  readonly credits: number;
  readonly refunded: number;
  /** By `error_code`, of those that have ended. Absent when there are none. */
  readonly errors?: readonly ErrorCount[];
  /**
   * By currency, in millionths. Sales: the routes' `--price` of messages that were not refunded, and what conversations
   * earn. Costs: the routes' `--costs` of segments that carriers took, and chat-app messages by the provider's price
   * list.
   */
  readonly sales?: Amounts;
  readonly costs?: Amounts;
  /** Chat-app messages that the provider bills at an unknown price. Absent: none. */
  readonly unpriced?: number;
}

export interface TrafficSums {
  readonly states: Map<ShownState, number>;
  readonly errors: Map<string, number>;
  readonly sales: Map<string, number>;
  readonly costs: Map<string, number>;
  messages: number;
  segments: number;
  credits: number;
  refunded: number;
  unpriced: number;
}

export function noTraffic(): TrafficSums {
  return {
    ...{ states: new Map(), errors: new Map(), sales: new Map(), costs: new Map() },
    ...{ messages: 0, segments: 0, credits: 0, refunded: 0, unpriced: 0 },
  };
}

export function increase<Key>(counts: Map<Key, number>, key: Key, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

export function mostFrequent(errors: ReadonlyMap<string, number>, most: number): ErrorCount[] {
  return [...errors]
    .map(([code, messages]) => ({ code, messages }))
    .sort((a, b) => b.messages - a.messages || (a.code < b.code ? -1 : 1))
    .slice(0, most);
}

/** By ISO 4217 code; `none` where the operator wrote none. */
export type Amounts = Readonly<Record<string, number>>;

export interface Amount {
  readonly currency: string;
  readonly millionths: number;
}

/** Reads `0.12 INR`, exactly. A text that is no amount counts as nothing. */
export function amountOf(text: string): Amount {
  const [, whole = '0', rest = '', currency = 'none'] = /^(\d*)(?:\.(\d{0,6})\d*)?(?: ([A-Z]{3}))?$/.exec(text) ?? [];
  return { currency, millionths: Number(whole) * 1_000_000 + Number(rest.padEnd(6, '0')) };
}

/** The messages that one carrier or provider took, or that it ended. */
export interface OperatorCounts {
  readonly name: string;
  readonly channel: ChannelName;
  readonly ended: number;
  readonly delivered: number;
  /** How many were delivered within each of `SECONDS`; the last entry: those that took longer. */
  readonly within: readonly number[];
}

/** Upper ends of the classes of the time from `sent` to `delivered`. */
export const SECONDS = [1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400] as const;

export interface CountedHourDocument {
  readonly _id: HourName;
  readonly countedAt: Date;
  /** Reading and counting, without pauses. */
  readonly tookMs: number;
  readonly messages: number;
  readonly expiresAt: Date;
}

/** In UTC: `2026-11-22T14`. */
export type HourName = `${number}-${number}-${number}T${number}`;

export const HOUR_MS = 3_600_000;

export function hourName(at: Date): HourName {
  return at.toISOString().slice(0, 13) as HourName; // the first 13 characters of an ISO time are its hour
}

export function hourStart(name: HourName): Date {
  return new Date(`${name}:00:00Z`);
}

export function countedFrom({ _id, account }: Pick<HourDocument, '_id' | 'account'>): Date {
  return hourStart(_id.slice(account.length + 1) as HourName); // the id is the account's and the hour's name
}

const DAY_MS = 24 * HOUR_MS;

export function creditsPerDay(hours: readonly Omit<HourDocument, 'traffic'>[], now: Date): number {
  const [first] = hours;
  const used = hours.reduce((sum, { credits }) => sum + credits, 0);
  return perDay(used, first && countedFrom(first), now);
}

/** From the first hour with messages on: the days before a new account's first message do not count. */
export function perDay(credits: number, firstHour: Date | undefined, now: Date): number {
  const days = firstHour === undefined ? 1 : (now.getTime() - firstHour.getTime()) / DAY_MS;
  return Math.round((credits / Math.max(1, days)) * 10) / 10;
}

/** Hours of one read, which are parsed at once: up to some 400 KB. */
const TRAFFIC_SLICE = 4;

export function hourCollection(db: Db): Collection<HourDocument> {
  return db.collection('statistics');
}

export function countedHourCollection(db: Db): Collection<CountedHourDocument> {
  return db.collection('counted_hours');
}

/** The hours from `from` on in which the account made messages, oldest first, without `traffic`. */
export function readHours(db: Db, account: Counter, from: Date): Promise<Omit<HourDocument, 'traffic'>[]> {
  return hourCollection(db)
    .find({ _id: { $gte: `${account}:${hourName(from)}`, $lt: `${account}:9999-12-31T23` } })
    .project<Omit<HourDocument, 'traffic'>>({ traffic: 0 })
    .sort({ _id: 1 })
    .toArray();
}

/** In the hours that begin at `from` or later and before `to`, oldest first. */
export function readTraffic(
  db: Db,
  account: Counter,
  from: Date,
  to: Date,
): AsyncIterable<Pick<HourDocument, '_id' | 'account' | 'traffic'>> {
  return hourCollection(db)
    .find(
      { _id: { $gte: `${account}:${hourName(from)}`, $lt: `${account}:${hourName(to)}` } },
      { batchSize: TRAFFIC_SLICE },
    )
    .project<Pick<HourDocument, '_id' | 'account' | 'traffic'>>({ account: 1, traffic: 1 })
    .sort({ _id: 1 });
}

export async function readNewestCount(db: Db): Promise<Date | undefined> {
  const [newest] = await countedHourCollection(db).find().sort({ _id: -1 }).limit(1).toArray();
  return newest?.countedAt;
}

/** A conversation that cost more than it earned: the provider bills each message (count-hours.ts). */
export interface LossDocument {
  /** Ids have the time at which a conversation was opened. */
  readonly _id: ConversationId;
  readonly account: AccountId;
  readonly opener: MessageId;
  /** Messages that the provider took money for. */
  readonly messages: number;
  readonly credits: number;
  /** The amounts below, in millionths. */
  readonly currency: string;
  readonly earned: number;
  readonly cost: number;
  readonly countedAt: Date;
  readonly expiresAt: Date;
}

export function lossCollection(db: Db): Collection<LossDocument> {
  return db.collection('conversation_losses');
}

export async function listLosses(
  db: Db,
  account: AccountId | undefined,
  before: ConversationId | undefined,
  limit: number,
): Promise<readonly LossDocument[]> {
  return lossCollection(db)
    .find({ ...(account && { account }), ...(before && { _id: { $lt: before } }) })
    .sort({ _id: -1 })
    .limit(limit)
    .toArray();
}
