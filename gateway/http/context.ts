import assert from 'node:assert/strict';
import type { NextFunction, Request, Response } from 'express';
import type { AccountDocument } from '../../shared/accounts/account.ts';
import type { KeyScope } from '../../shared/keys/key.ts';
import type { BatchId, MessageId, ScheduleId } from '../../shared/runtime/ids.ts';

/**
 * The caller of a request, as authenticate.ts found it. It can be `KEY_CACHE_MS` old; the store decides what must be
 * exact.
 */
export interface Caller {
  readonly account: Pick<
    AccountDocument,
    '_id' | 'senders' | 'dlt' | 'entityId' | 'numberCheck' | 'country' | 'optOuts' | 'optOutExempt'
  >;
  readonly keyId: string;
  /** The address that the request came from. */
  readonly address: string;
  /** How many requests a minute the key may make. */
  readonly perMinute: number;
  readonly scopes: readonly KeyScope[];
}

/** What is known of one request, in `res.locals`. The handlers from `begin` to the endpoint fill it. */
export interface RequestContext {
  readonly requestId: string;
  /** By the monotonic clock. */
  readonly startedMs: number;
  readonly stopping: AbortSignal;
  /** Called once, when the answer is written or when the caller has gone. */
  readonly answered: (res: Reply, status: number) => void;
  caller: Caller | undefined;
  /** `RateLimit` and `RateLimit-Policy`, names and values in turn. Empty until the request is counted. */
  rateHeaders: readonly string[];
  body: JsonObject | undefined;
  /** The id of the message, for the access log. */
  messageId: MessageId | undefined;
  batchId: BatchId | undefined;
  scheduleId: ScheduleId | undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;
export type Reply = Response<unknown, RequestContext>;
export type Handler = (req: Request, res: Reply, next: NextFunction) => void | Promise<void>;

/** The caller. Only for routes that authenticate. */
export function callerOf(res: Reply): Caller {
  const { caller } = res.locals;
  assert(caller !== undefined, 'the route does not authenticate');
  return caller;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The body. Only for routes that parse one. */
export function bodyOf(res: Reply): JsonObject {
  const { body } = res.locals;
  assert(body !== undefined, 'the route does not parse a body');
  return body;
}
