import assert from 'node:assert/strict';
import type { NextFunction, Request, Response } from 'express';
import type { AccountDocument } from '../../shared/money/accounts/account.ts';
import type { KeyCaps } from '../../shared/money/ledger/spending.ts';
import type { KeyScope } from '../../shared/people/keys/key.ts';

import type { Role, SessionDocument, UserDocument } from '../../shared/people/users/user.ts';
import type {
  AccountId,
  BatchId,
  MessageId,
  ScheduleId,
  SessionId,
  UserId,
} from '../../shared/platform/runtime/ids.ts';

/** The scopes of a key, and `owner`, which only users with that role have. */
export type Permission = KeyScope | 'owner';

/** A program with a key, a user who signed in, or an operator on this machine (`asha@vm-1`). */
export type Who =
  | { readonly kind: 'key'; readonly id: string; readonly test?: boolean }
  | { readonly kind: 'ops'; readonly id: string }
  | {
      readonly kind: 'user';
      readonly id: UserId;
      readonly name: string;
      readonly role: Role;
      readonly session: SessionId;
      /** The session lacks a needed second factor, so it may only set one up. */
      readonly incomplete: boolean;
      /** The password was shown within the last minutes (access/sessions.ts). */
      readonly confirmed: boolean;
    };

/** The account of a caller. Up to 4 s old; what must be exact is decided in the store. */
export type CallerAccount = Pick<
  AccountDocument,
  | '_id'
  | 'name'
  | 'senders'
  | 'dlt'
  | 'entityId'
  | 'numberCheck'
  | 'country'
  | 'lineBreaks'
  | 'ctaCheck'
  | 'optOuts'
  | 'optOutExempt'
  | 'secondFactor'
  | 'countries'
  | 'daytime'
  | 'recipientPerHour'
  | 'brake'
  | 'heldPrefixes'
  | 'texts'
  | 'prices'
>;

export interface SignedIn {
  readonly session: SessionDocument;
  readonly user: UserDocument;
  readonly account: CallerAccount | undefined;
}

export interface Requester {
  readonly who: Who;
  /** Undefined for operators. */
  readonly account: CallerAccount | undefined;
  readonly address: string;
  /** Requests a minute that the key or user may make. */
  readonly perMinute: number;
  /** The keys that made this key, nearest first. Its requests count for each of them too, up to their `perMinute`. */
  readonly makers: readonly { readonly id: string; readonly perMinute: number }[];
  readonly scopes: readonly Permission[];
  /** What the key, and the keys that made it, may spend. */
  readonly caps: readonly KeyCaps[];
  /** People only; as they were when the request was let in. */
  readonly signedIn?: SignedIn;
}

export interface Caller extends Requester {
  readonly account: CallerAccount;
}

/** What is known of one request, in `res.locals`. Filled by the handlers from `begin` to the endpoint. */
export interface RequestContext {
  readonly requestId: string;
  /** By the monotonic clock. */
  readonly startedMs: number;
  readonly stopping: AbortSignal;
  /** Called once, when the answer is written or the caller has gone. */
  readonly answered: (res: Reply, status: number) => void;
  caller: Requester | undefined;
  /** `RateLimit` and `RateLimit-Policy`, names and values in turn. Empty until the request is counted. */
  rateHeaders: readonly string[];
  body: JsonObject | undefined;
  messageId: MessageId | undefined;
  batchId: BatchId | undefined;
  scheduleId: ScheduleId | undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;
export type Reply = Response<unknown, RequestContext>;
export type Handler = (req: Request, res: Reply, next: NextFunction) => void | Promise<void>;

/**
 * Counts this request as `cost` requests of its key, at least 1. False when the key has fewer left; 429 was answered.
 */
export type Charge = (res: Reply, cost: number) => Promise<boolean>;

export function requesterOf(res: Reply): Requester {
  const { caller } = res.locals;
  assert(caller !== undefined, 'the route does not authenticate');
  return caller;
}

export function callerOf(res: Reply): Caller {
  const { account, ...caller } = requesterOf(res);
  assert(account !== undefined, 'operators have no account');
  return { account, ...caller };
}

/** Whose idempotency keys and read queue a request uses: the account's, or an operator's own. */
export function ownerOf(res: Reply): AccountId {
  const { account, who } = requesterOf(res);
  return account?._id ?? `acc_${who.id}`;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function bodyOf(res: Reply): JsonObject {
  const { body } = res.locals;
  assert(body !== undefined, 'the route does not parse a body');
  return body;
}
