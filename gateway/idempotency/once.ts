import { createHash } from 'node:crypto';
import type { Db } from 'mongodb';
import type { Clock } from '../../shared/runtime/clock.ts';
import { crashPoint } from '../../shared/runtime/crash-point.ts';
import { type AccountId, isBatchId, isMessageId, isScheduleId } from '../../shared/runtime/ids.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import type { SecretBox } from '../../shared/runtime/secret-box.ts';
import { type ProblemAnswer, sendJson, sendJsonText, sendProblem } from '../http/answer.ts';
import { bodyOf, callerOf, type Handler, type Reply } from '../http/context.ts';
import { FieldProblems, invalidRequest } from '../http/fields.ts';
import type { ProblemSlug } from '../http/problem.ts';
import { fingerprintInSlices } from './fingerprint.ts';
import { parseIdempotencyKey } from './idempotency-key.ts';
import { KEPT_MS, type KeptAnswer, type KeyClaimDocument, PAY_WITHIN_MS } from './key-claim.ts';
import { KeyClaims } from './store.ts';

/** What came of a request that wants to do something. */
export type Verdict =
  | Accepted
  /** Nothing was done, and nothing was wrong. */
  | { readonly kind: 'dry_run'; readonly body: object }
  | Refused
  /** It was perhaps done: the same key finds out. */
  | { readonly kind: 'unknown'; readonly problem: Problem };

/** It was done, and an Idempotency-Key stands for this answer. */
export interface Accepted {
  readonly kind: 'accepted';
  readonly body: object;
  /** From when on the key is remembered for a day; from now on when it is left out. */
  readonly keptFrom?: Date;
  /** The body has a secret: what is kept of it is sealed. */
  readonly sealed?: true;
}

/** Nothing was done. */
export interface Refused {
  readonly kind: 'refused';
  readonly problem: Problem;
}

type Problem = readonly [ProblemSlug, ProblemAnswer];

export interface Attempt<Id extends string> {
  /** The id that the result gets, and nothing else may get. */
  readonly id: Id;
  /** What is paid for must be paid before this moment of the store's time; there with an Idempotency-Key. */
  readonly payBy: Date | undefined;
}

/** A POST that does something, as its endpoint file defines it. */
export interface Action<Id extends string> {
  /** Stable: stored with the claims of its keys. */
  readonly name: string;
  newId(): Id;
  /** Rejects with the store's error when nothing can be said; the claim of a key then stays until it is looked into. */
  act(res: Reply, attempt: Attempt<Id>): Promise<Verdict>;
  /** What an accepted request with this id was answered with; undefined when there is no such result. */
  recover(account: AccountId, id: Id): Promise<Accepted | undefined>;
}

/**
 * Makes the handlers of POSTs. With an Idempotency-Key a request is done once: the key is claimed in the store before
 * anything else happens, an accepted request is remembered for a day, a refused one frees the key. A claim that nobody
 * completed is looked into by the id that its result would have, so a process may die at any line. Without a key, nothing.
 */
export function createOnce({
  db,
  clock,
  log,
  box,
}: {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly box: SecretBox;
}): <Id extends string>(action: Action<Id>) => Handler {
  const claims = new KeyClaims(db);
  const recoveries = new Map<string, (account: AccountId, id: string) => Promise<Accepted | undefined>>();

  return <Id extends string>(action: Action<Id>): Handler => {
    // Ids of claims that name this action were made by its own `newId`.
    recoveries.set(action.name, (account, id) => action.recover(account, id as Id));
    return async (req, res: Reply) => {
      const header = req.headers['idempotency-key'];
      if (header === undefined) return answer(res, await action.act(res, { id: action.newId(), payBy: undefined }));
      const key = parseIdempotencyKey(String(header));
      if (key === undefined) return sendProblem(res, ...malformedKey());

      const account = callerOf(res).account._id;
      const id = action.newId();
      const wanted = {
        _id: `${account}:${createHash('sha256').update(key).digest('base64url')}`,
        fingerprint: await fingerprintInSlices(req.method, req.path, bodyOf(res)),
        action: action.name,
        result: id,
      } as const;
      const settled = await settle(account, wanted);
      if (settled.kind === 'earlier') return replay(res, settled.claim, settled.answer);
      if (settled.kind === 'refused') return sendProblem(res, ...settled.problem);

      const { claim } = settled;
      crashPoint('key:claimed');
      const verdict = await action.act(res, { id, payBy: claim.payBy });
      if (verdict.kind === 'accepted') crashPoint('key:paid');
      if (verdict.kind === 'accepted') await tryTo(claims.complete(claim, kept(verdict), keptUntil(verdict)), res);
      else if (verdict.kind !== 'unknown') await tryTo(claims.free(claim), res);
      answer(res, verdict);
    };
  };

  type Settled =
    | { readonly kind: 'mine'; readonly claim: KeyClaimDocument }
    | { readonly kind: 'earlier'; readonly claim: KeyClaimDocument; readonly answer: KeptAnswer }
    | { readonly kind: 'refused'; readonly problem: Problem };

  /** Claims the key, or says what the one who has it came to. */
  async function settle(
    account: AccountId,
    wanted: Pick<KeyClaimDocument, '_id' | 'fingerprint' | 'action' | 'result'>,
  ): Promise<Settled> {
    for (let tries = 1; tries <= TRIES; tries++) {
      const nowMs = clock.now().getTime();
      const claim = { ...wanted, payBy: new Date(nowMs + PAY_WITHIN_MS), expiresAt: new Date(nowMs + KEPT_MS) };
      if (await claims.claim(claim)) return { kind: 'mine', claim };
      const earlier = await claims.find(wanted._id);
      if (earlier === undefined) continue;
      const state = earlier.expiresAt.getTime() <= nowMs ? 'free' : await outcomeOf(account, earlier);
      if (state === 'free') {
        await claims.free(earlier);
        continue;
      }
      if (earlier.fingerprint !== wanted.fingerprint)
        return { kind: 'refused', problem: ['idempotency_key_reused', {}] };
      if (state !== 'in flight') return { kind: 'earlier', claim: earlier, answer: state };
      break;
    }
    return { kind: 'refused', problem: ['idempotency_in_flight', { headers: ['Retry-After', '1'] }] };
  }

  /** What a claim came to. One without an answer is in flight, or its process died, or could not tell. */
  async function outcomeOf(account: AccountId, claim: KeyClaimDocument): Promise<KeptAnswer | 'free' | 'in flight'> {
    if (claim.answer !== undefined) return claim.answer;
    // In this order: what was not paid by then never will be.
    const over = await claims.isOver(claim);
    // A version of the product that does not know the action leaves the claim to those that do.
    const recover = recoveries.get(claim.action);
    const accepted = await recover?.(account, claim.result);
    if (accepted !== undefined) {
      const found = kept(accepted);
      await claims.complete(claim, found, keptUntil(accepted));
      return found;
    }
    return over && recover !== undefined ? 'free' : 'in flight';
  }

  function kept({ body, sealed }: Accepted): KeptAnswer {
    const text = JSON.stringify(body);
    return sealed ? { status: 200, body: box.seal(text), sealed } : { status: 200, body: text };
  }

  function replay(res: Reply, { result }: KeyClaimDocument, { status, body, sealed }: KeptAnswer): void {
    if (isMessageId(result)) res.locals.messageId = result;
    if (isBatchId(result)) res.locals.batchId = result;
    if (isScheduleId(result)) res.locals.scheduleId = result;
    sendJsonText(res, status, sealed ? box.open(body) : body, ['Idempotency-Replayed', 'true']);
  }

  /** What fails here is found out by the next request with the key. */
  async function tryTo(write: Promise<void>, res: Reply): Promise<void> {
    try {
      await write;
    } catch (error) {
      log.warn('key_claim_not_settled', { request_id: res.locals.requestId, ...errorFields(error) });
    }
  }
}

/** A claim may be freed by another request between two looks; more often than this it is simply in use. */
const TRIES = 3;

function answer(res: Reply, verdict: Verdict): void {
  if (verdict.kind === 'accepted' || verdict.kind === 'dry_run') sendJson(res, 200, verdict.body);
  else sendProblem(res, ...verdict.problem);
}

/** Undefined: as the claim says. */
function keptUntil({ keptFrom }: Accepted): Date | undefined {
  return keptFrom && new Date(keptFrom.getTime() + KEPT_MS);
}

function malformedKey(): Problem {
  const problems = new FieldProblems();
  problems.add('Idempotency-Key', 'invalid_value', 'It must have 1 to 255 visible ASCII characters, in quotes or not.');
  return invalidRequest(problems);
}
