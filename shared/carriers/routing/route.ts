import type { Route } from '../../messages/document/message.ts';
import type { Daytime, Priority } from '../../messages/document/routing.ts';
import type { AccountId } from '../../platform/runtime/ids.ts';

/**
 * Which carriers may take which messages. Operators change routes with `ops route`; every process reads them each
 * second. Example: messages to India over one of two carriers, or over a third one if neither can take them: `{_id:
 * 'india', order: 0, match: {countries: ['IN']}, groups: [[{carrier: 'airtel', weight: 70}, {carrier: 'jio', weight:
 * 30}], [{carrier: 'backup', weight: 1}]], waitSeconds: 30, createdAt: …}`.
 */
export interface RouteDocument {
  /** The route's name, `[a-z0-9-]{1,32}`. */
  readonly _id: string;
  /** Routes with a higher number are tried first, whatever they match. Usually 0. */
  readonly order: number;
  readonly match: RouteMatch;
  /** A group is used only while none before it can take messages. No groups: matching messages are refused. */
  readonly groups: readonly (readonly WeightedCarrier[])[];
  /** When messages have waited this long for one carrier, the next one helps. */
  readonly waitSeconds: number;
  /** So long after its submit, a receipt with a `receiptFailover` error passes a message on, once. Absent: never. */
  readonly receiptFailoverSeconds?: number;
  /** When messages may leave, by the recipient's clock. Absent: at any time. */
  readonly daytime?: Daytime;
  /** Sale price of a message, and cost per carrier, as the operator wrote them. For reports only. */
  readonly price?: string;
  readonly costs?: Readonly<Record<string, string>>;
  readonly createdAt: Date;
}

/** Which messages the route matches. Every field must fit, by one of its values; an absent field fits every message. */
export interface RouteMatch {
  readonly routes?: readonly Route[];
  /** ISO 3166-1, two letters. A destination fits if it is in `countries` or in `prefixes`. */
  readonly countries?: readonly string[];
  /** First digits of the recipient, from the country code. */
  readonly prefixes?: readonly string[];
  readonly senders?: readonly string[];
  readonly senderKinds?: readonly SenderKind[];
  readonly accounts?: readonly AccountId[];
  /** For transactional messages only. Messages of batches are `low`. */
  readonly priorities?: readonly Priority[];
}

export interface WeightedCarrier {
  readonly carrier: string;
  /** The carrier's share of the recipients, relative to its group. 0: only while the others cannot take messages. */
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
 * A message's path says which carriers may take it: a routing group (`transactional`), from which every carrier of the
 * group takes, or an ordered list `@30:airtel>jio>voda`, with the seconds after which the next carrier helps. The list
 * has all that a claim needs, so a path stays valid when routes change (docs/decisions/0011).
 */
interface CarrierList {
  readonly waitSeconds: number;
  /** In the order of asking, none twice. Empty: no route leads to a carrier any more. */
  readonly carriers: readonly string[];
}

/** No carrier has this name: maintenance decides test messages (workers/maintenance/test-outcome.ts). */
export const TEST_PATH = pathOfList({ waitSeconds: 0, carriers: ['@test'] });

/** Most carriers asked for one message. When the last one refuses it, it is rejected. */
export const MAX_CARRIERS = 3;

export function pathOfList({ waitSeconds, carriers }: CarrierList): string {
  return `@${waitSeconds}:${carriers.join('>')}`;
}

/** Undefined for a routing group. */
export function listOfPath(path: string): CarrierList | undefined {
  const colon = path.indexOf(':');
  if (!path.startsWith('@') || colon < 0) return undefined;
  const carriers = path.slice(colon + 1);
  return { waitSeconds: Number(path.slice(1, colon)), carriers: carriers === '' ? [] : carriers.split('>') };
}
