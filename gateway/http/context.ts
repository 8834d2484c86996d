import assert from 'node:assert/strict';
import type { NextFunction, Request, Response } from 'express';
import type { AccountDocument } from '../../shared/accounts/account.ts';
import type { KeyScope } from '../../shared/keys/key.ts';
import type { BatchId, MessageId, ScheduleId } from '../../shared/runtime/ids.ts';

/** Who asks, as authenticate.ts found out. At most `KEY_CACHE_MS` old: what must be exact is decided by the store. */
export interface Caller {
  readonly account: Pick<AccountDocument, '_id' | 'senders' | 'dlt' | 'entityId' | 'numberCheck' | 'country'>;
  readonly keyId: string;
  /** From where. */
  readonly address: string;
  /** How many requests a minute the key may make. */
  readonly perMinute: number;
  readonly scopes: readonly KeyScope[];
}

/** What is known of one request, in `res.locals`; filled on its way from `begin` to the endpoint. */
export interface RequestContext {
  readonly requestId: string;
  /** Of the monotonic clock. */
  readonly startedMs: number;
  readonly stopping: AbortSignal;
  /** Called once, when the answer is written (or the caller is gone). */
  readonly answered: (res: Reply, status: number) => void;
  caller: Caller | undefined;
  /** `RateLimit` and `RateLimit-Policy`, names and values by turns; empty until the request is counted. */
  rateHeaders: readonly string[];
  body: JsonObject | undefined;
  /** For the access log. */
  messageId: MessageId | undefined;
  batchId: BatchId | undefined;
  scheduleId: ScheduleId | undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;
export type Reply = Response<unknown, RequestContext>;
export type Handler = (req: Request, res: Reply, next: NextFunction) => void | Promise<void>;

/** Of a route behind authenticate. */
export function callerOf(res: Reply): Caller {
  const { caller } = res.locals;
  assert(caller !== undefined, 'the route does not authenticate');
  return caller;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of a route behind jsonBody. */
export function bodyOf(res: Reply): JsonObject {
  const { body } = res.locals;
  assert(body !== undefined, 'the route does not parse a body');
  return body;
}
