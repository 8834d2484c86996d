import type { Route } from '../messages/message.ts';
import type { Priority } from '../messages/routing.ts';
import type { AccountId } from '../runtime/ids.ts';

/**
 * A route: which carriers may take which messages. Routes are data: operators change them with `ops route`, and everybody who asks
 * reads them again every second. Example, to India by one of two carriers, by a third when neither can:
 * `{_id: 'india', order: 0, match: {countries: ['IN']}, groups: [[{carrier: 'airtel', weight: 70}, {carrier: 'jio', weight: 30}],
 * [{carrier: 'backup', weight: 1}]], waitSeconds: 30, createdAt: …}`.
 */
export interface RouteDocument {
  /** Its name: 1 to 32 of a-z, 0-9 and -. */
  readonly _id: string;
  /** A higher one is looked at first, whatever the routes match. Usually 0. */
  readonly order: number;
  readonly match: RouteMatch;
  /** The next group serves while no carrier of those before it can. Empty: messages that match are refused. */
  readonly groups: readonly (readonly WeightedCarrier[])[];
  /** The next carrier helps when messages have waited so long for the one before it. */
  readonly waitSeconds: number;
  /** What a message is sold for, and what each carrier costs, as the operator wrote it. For reports only. */
  readonly price?: string;
  readonly costs?: Readonly<Record<string, string>>;
  readonly createdAt: Date;
}

/** Which messages. Members are combined with "and", the values of one with "or"; an absent one matches everything. */
export interface RouteMatch {
  readonly routes?: readonly Route[];
  /** ISO 3166-1, two letters. Together with `prefixes` these are the destinations, combined with "or". */
  readonly countries?: readonly string[];
  /** Digits at the beginning of the recipient, country code first. */
  readonly prefixes?: readonly string[];
  readonly senders?: readonly string[];
  readonly senderKinds?: readonly SenderKind[];
  readonly accounts?: readonly AccountId[];
  /** Of transactional messages; those of batches are `low`. */
  readonly priorities?: readonly Priority[];
}

export interface WeightedCarrier {
  readonly carrier: string;
  /** Its part of the recipients, beside the weights of the others in its group. 0: only when the others cannot. */
  readonly weight: number;
}

/** A name has a letter; a short code has up to eight digits. */
export const SENDER_KINDS = ['name', 'number', 'short'] as const;
export type SenderKind = (typeof SENDER_KINDS)[number];

const SHORT_CODE_MAX = 8;

export function senderKind(sender: string): SenderKind {
  if (!/^\+?[0-9]+$/.test(sender)) return 'name';
  return sender.length <= SHORT_CODE_MAX ? 'short' : 'number';
}

export const DEFAULT_WAIT_SECONDS = 30;
