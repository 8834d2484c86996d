import type { Request } from 'express';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { isBatchId, isMessageId, isScheduleId } from '../../../shared/platform/runtime/ids.ts';
import { errorFields } from '../../../shared/platform/runtime/log.ts';
import { sendJson, sendJsonText, sendProblem } from '../answer.ts';
import { bodyOf, type Handler, ownerOf, type Reply } from '../context.ts';
import type { GatewayDeps } from '../deps.ts';
import { FieldProblems, invalidRequest } from '../field-problems.ts';
import type { Action, Problem, Verdict } from './action.ts';
import { fingerprintInSlices } from './fingerprint.ts';
import type { KeptAnswer, KeyClaimDocument } from './key-claim.ts';
import { claimId, KeyHolder } from './key-holder.ts';

export type Once = <Id extends string>(action: Action<Id>) => Handler;

/**
 * Makes the handlers of POSTs. A request with an Idempotency-Key is done once: the key is claimed in the store before
 * anything else, an accepted request is remembered for a day, and a refused one frees the key. A request without a
 * key is just done.
 */
export function createOnce(deps: Pick<GatewayDeps, 'db' | 'clock' | 'log' | 'box'>): Once {
  const keyed = new KeyedPosts(deps);
  return (action) => {
    keyed.add(action);
    return async (req, res: Reply) => {
      const header = req.headers['idempotency-key'];
      if (header !== undefined) await keyed.handle(action, String(header), req, res);
      else answer(res, await action.act(res, { id: action.newId(ownerOf(res)), payBy: undefined }));
    };
  };
}

/**
 * POSTs with an Idempotency-Key. The process may die at any point: the next request with the key finds out what was
 * done.
 */
class KeyedPosts {
  readonly #log: GatewayDeps['log'];
  readonly #keys: KeyHolder;

  constructor(deps: Pick<GatewayDeps, 'db' | 'clock' | 'log' | 'box'>) {
    this.#log = deps.log;
    this.#keys = new KeyHolder(deps);
  }

  /** Must be called for every action before the first request. */
  add<Id extends string>(action: Action<Id>): void {
    this.#keys.add(action);
  }

  async handle<Id extends string>(action: Action<Id>, header: string, req: Request, res: Reply): Promise<void> {
    const key = parseIdempotencyKey(header);
    if (key === undefined) return sendProblem(res, ...malformedKey());
    const account = ownerOf(res);
    const id = action.newId(account);
    const wanted = {
      _id: claimId(account, key),
      fingerprint: await fingerprintInSlices(req.method, req.path, bodyOf(res)),
      action: action.name,
      result: id,
    };
    const held = await this.#keys.take(account, wanted, action.aheadMs);
    if (held.kind === 'refused') return sendProblem(res, ...held.problem);
    if (held.kind === 'answered') {
      // The same request has the same path, so the same action made the id.
      const refusal = await action.refuseReplay?.(res, held.claim.result as Id);
      if (refusal !== undefined) return sendProblem(res, ...refusal);
      return replay(res, held.claim, this.#keys.open(held.claim, held.answer));
    }
    crashPoint('key:claimed');
    const verdict = await action.act(res, { id, payBy: held.claim.payBy });
    if (verdict.kind === 'accepted') crashPoint('key:paid');
    await this.#settle(held.claim, verdict, res);
    answer(res, verdict);
  }

  /** If this fails, the next request with the key finds out what was done. */
  async #settle(claim: KeyClaimDocument, verdict: Verdict, res: Reply): Promise<void> {
    try {
      if (verdict.kind === 'accepted') await this.#keys.complete(claim, verdict);
      else if (verdict.kind !== 'unknown') await this.#keys.free(claim);
    } catch (error) {
      this.#log.warn('key_claim_not_settled', { request_id: res.locals.requestId, ...errorFields(error) });
    }
  }
}

function answer(res: Reply, verdict: Verdict): void {
  if (verdict.kind === 'accepted' || verdict.kind === 'dry_run') sendJson(res, verdict.body);
  else sendProblem(res, ...verdict.problem);
}

/** Repeats the answer that the key got before. */
function replay(res: Reply, { result }: KeyClaimDocument, { status, body }: KeptAnswer): void {
  if (isMessageId(result)) res.locals.messageId = result;
  if (isBatchId(result)) res.locals.batchId = result;
  if (isScheduleId(result)) res.locals.scheduleId = result;
  sendJsonText(res, status, body, ['Idempotency-Replayed', 'true']);
}

function malformedKey(): Problem {
  const problems = new FieldProblems();
  problems.add('Idempotency-Key', 'invalid_value', 'It must have 1 to 255 visible ASCII characters, in quotes or not.');
  return invalidRequest(problems);
}

/** Longest key, without its quotes. */
const CHARACTERS_MAX = 255;

/**
 * Parses the header `Idempotency-Key`: a structured-field string (RFC 9651 §3.3.3, `"8e03…"`) or, as many clients
 * send it, the bare text. Both forms of a key are the same key: 1 to 255 visible ASCII characters. Undefined for
 * anything else.
 */
export function parseIdempotencyKey(header: string): string | undefined {
  const key = header.startsWith('"') ? unquoted(header) : header;
  if (key === undefined || key.length === 0 || key.length > CHARACTERS_MAX) return undefined;
  return /^[\x21-\x7e]+$/.test(key) ? key : undefined;
}

/** In a structured-field string `"` and `\` must be escaped, and nothing else may be. */
function unquoted(text: string): string | undefined {
  const [, inner] = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text) ?? [];
  return inner?.replaceAll(/\\(["\\])/g, '$1');
}
