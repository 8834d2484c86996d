import type { Route } from '../../messages/document/message.ts';
import type { Daytime, Priority } from '../../messages/document/routing.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';

/**
 * Says which carriers may take which messages. Operators change routes with `ops route`. Every process reads them again each
 * second. Example, for messages to India over one of two carriers, or over a third one if neither can take them:
 * `{_id: 'india', order: 0, match: {countries: ['IN']}, groups: [[{carrier: 'airtel', weight: 70}, {carrier: 'jio', weight: 30}],
 * [{carrier: 'backup', weight: 1}]], waitSeconds: 30, createdAt: …}`.
 */
export interface RouteDocument {
  /** The route's name: 1 to 32 characters of a-z, 0-9 and -. */
  readonly _id: string;
  /** Routes with a higher number are tried first, whatever they match. Usually 0. */
  readonly order: number;
  readonly match: RouteMatch;
  /**
   * A group is used only while no carrier of the groups before it can take messages. Without groups, messages that match are
   * refused.
   */
  readonly groups: readonly (readonly WeightedCarrier[])[];
  /** When messages have waited this long for one carrier, the next one helps. */
  readonly waitSeconds: number;
  /**
   * How many seconds after its submit a receipt with an error of the carrier's `receiptFailover` still sends a message to the next
   * carrier, once. Absent: never.
   */
  readonly receiptFailoverSeconds?: number;
  /** When its messages may leave, by the recipient's clock. Absent: at any time. */
  readonly daytime?: Daytime;
  /** The sale price of a message, and what each carrier costs, as the operator wrote them. For reports only. */
  readonly price?: string;
  readonly costs?: Readonly<Record<string, string>>;
  readonly createdAt: Date;
}

/**
 * Which messages the route matches. All members must fit. One value of each member is enough. An absent member fits every
 * message.
 */
export interface RouteMatch {
  readonly routes?: readonly Route[];
  /** ISO 3166-1, two letters. `countries` and `prefixes` together are the destinations: one of them is enough. */
  readonly countries?: readonly string[];
  /** The first digits of the recipient, beginning with the country code. */
  readonly prefixes?: readonly string[];
  readonly senders?: readonly string[];
  readonly senderKinds?: readonly SenderKind[];
  readonly accounts?: readonly AccountId[];
  /** For transactional messages only. Messages of batches are `low`. */
  readonly priorities?: readonly Priority[];
}

export interface WeightedCarrier {
  readonly carrier: string;
  /**
   * The carrier's part of the recipients, compared with the other weights of its group. 0: only while the others cannot take
   * messages.
   */
  readonly weight: number;
}

/** A `name` has a letter. A `short` code has up to eight digits. */
export const SENDER_KINDS = ['name', 'number', 'short'] as const;
export type SenderKind = (typeof SENDER_KINDS)[number];

const SHORT_CODE_MAX = 8;

export function senderKind(sender: string): SenderKind {
  if (!/^\+?[0-9]+$/.test(sender)) return 'name';
  return sender.length <= SHORT_CODE_MAX ? 'short' : 'number';
}

export const DEFAULT_WAIT_SECONDS = 30;

/**
 * The path of a message says which carriers may take it. It is either a routing group (`transactional`), from which every carrier
 * with this group takes, or a list of carriers in their order: `@30:airtel>jio>voda`. The number is the waiting time in seconds
 * after which the next carrier helps. The list has everything that a claim needs. So a path stays valid when routes change, and
 * the index of the claim did not have to change (docs/decisions/0011).
 */
interface CarrierList {
  readonly waitSeconds: number;
  /**
   * In the order in which they are asked, none twice. Empty: no carrier may take the message, because no route leads to one any
   * more.
   */
  readonly carriers: readonly string[];
}

/** The path of test messages. No carrier has such a name: the maintenance decides what becomes of them (workers/maintenance/test-outcome.ts). */
export const TEST_PATH = pathOfList({ waitSeconds: 0, carriers: ['@test'] });

/** How many carriers may be asked for one message. When the last one refuses it, it is rejected. */
export const MAX_CARRIERS = 3;

export function pathOfList({ waitSeconds, carriers }: CarrierList): string {
  return `@${waitSeconds}:${carriers.join('>')}`;
}

/** Reads a path. Undefined for a routing group. */
export function listOfPath(path: string): CarrierList | undefined {
  const colon = path.indexOf(':');
  if (!path.startsWith('@') || colon < 0) return undefined;
  const carriers = path.slice(colon + 1);
  return { waitSeconds: Number(path.slice(1, colon)), carriers: carriers === '' ? [] : carriers.split('>') };
}
