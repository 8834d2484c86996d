import { createHash } from 'node:crypto';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { GatewayDeps } from '../deps.ts';
import type { Accepted, Action, Problem } from './action.ts';
import { KEPT_MS, type KeptAnswer, type KeyClaimDocument, type KeyClaimId, PAY_WITHIN_MS } from './key-claim.ts';
import { KeyClaims } from './store.ts';

/**
 * | a key is    | when                                         | it becomes                                                     |
 * | ----------- | -------------------------------------------- | -------------------------------------------------------------- |
 * | `free`      | no claim, or one whose `expiresAt` is over   | `in_flight` by a request that claims it                        |
 * | `in_flight` | a claim without an answer, and without a     | `answered` when its request is accepted; `free` when that is   |
 * |             | result, that may still be paid for           | refused, or when `payBy` is over and there is no result        |
 * | `answered`  | a claim with an answer; one whose result is  | `free` after `KEPT_MS`                                         |
 * |             | found gets its answer by that                |                                                                |
 */
type KeyState = { readonly kind: 'free' | 'in_flight' } | { readonly kind: 'answered'; readonly answer: KeptAnswer };

/** What a request with a key has to do. */
export type Held =
  /** The key is claimed for this request, which must be done now. */
  | { readonly kind: 'mine'; readonly claim: KeyClaimDocument }
  | { readonly kind: 'answered'; readonly claim: KeyClaimDocument; readonly answer: KeptAnswer }
  | { readonly kind: 'refused'; readonly problem: Problem };

type Recover = Pick<Action<string>, 'end' | 'recover'>;

/** Another request can free the claim between two looks. After this many tries the key counts as in use. */
const TRIES = 3;

/** The id of a key's claim. `key` is the caller's text. */
export function claimId(account: AccountId, key: string): KeyClaimId {
  return `${account}:${createHash('sha256').update(key).digest('base64url')}`;
}

/** Claims Idempotency-Keys, and finds out what became of claims that nobody completed. */
export class KeyHolder {
  readonly #clock: GatewayDeps['clock'];
  readonly #box: GatewayDeps['box'];
  readonly #claims: KeyClaims;
  readonly #recoveries = new Map<string, Recover>();

  constructor({ db, clock, box }: Pick<GatewayDeps, 'db' | 'clock' | 'box'>) {
    this.#clock = clock;
    this.#box = box;
    this.#claims = new KeyClaims(db);
  }

  /** Registers an action, so that this process can look into its claims. */
  add<Id extends string>(action: Action<Id>): void {
    const { end } = action;
    // A claim of this action has an id that the action's own `newId` made.
    this.#recoveries.set(action.name, {
      recover: (account, id) => action.recover(account, id as Id),
      ...(end === undefined ? {} : { end: (account, id, payBy) => end(account, id as Id, payBy) }),
    });
  }

  /** Claims the key, or returns the state of the request that has claimed it. */
  async take(
    account: AccountId,
    wanted: Pick<KeyClaimDocument, '_id' | 'fingerprint' | 'action' | 'result'>,
    aheadMs = 0,
  ): Promise<Held> {
    for (let tries = 1; tries <= TRIES; tries++) {
      const nowMs = this.#clock.now().getTime();
      const claim = {
        ...wanted,
        payBy: new Date(nowMs + PAY_WITHIN_MS),
        expiresAt: new Date(nowMs + aheadMs + KEPT_MS),
      };
      if (await this.#claims.claim(claim)) return { kind: 'mine', claim };
      const earlier = await this.#claims.find(wanted._id);
      if (earlier === undefined) continue;
      const state = await this.#stateOf(account, earlier, nowMs);
      if (state.kind === 'free') {
        await this.#claims.free(earlier);
        continue;
      }
      if (earlier.fingerprint !== wanted.fingerprint)
        return { kind: 'refused', problem: ['idempotency_key_reused', {}] };
      if (state.kind === 'answered') return { ...state, claim: earlier };
      break;
    }
    return { kind: 'refused', problem: ['idempotency_in_flight', { headers: ['Retry-After', '1'] }] };
  }

  /** Called when the request was accepted. */
  async complete(claim: KeyClaimDocument, accepted: Accepted): Promise<KeptAnswer> {
    const text = JSON.stringify(accepted.body);
    const answer: KeptAnswer = accepted.sealed
      ? { status: 200, body: this.#box.seal(text, ['idempotency', claim._id, 'answer.body']), sealed: true }
      : { status: 200, body: text };
    const { keptFrom } = accepted;
    await this.#claims.complete(claim, answer, keptFrom && new Date(keptFrom.getTime() + KEPT_MS));
    return answer;
  }

  /** Called when the request was refused. The key can be claimed again. */
  free(claim: KeyClaimDocument): Promise<void> {
    return this.#claims.free(claim);
  }

  /** Decrypts the body if it is encrypted. */
  open({ _id }: KeyClaimDocument, answer: KeptAnswer): KeptAnswer {
    if (answer.sealed !== true) return answer;
    return { ...answer, body: this.#box.open(answer.body, ['idempotency', _id, 'answer.body']) };
  }

  async #stateOf(account: AccountId, claim: KeyClaimDocument, nowMs: number): Promise<KeyState> {
    if (claim.expiresAt.getTime() <= nowMs) return { kind: 'free' };
    if (claim.answer !== undefined) return { kind: 'answered', answer: claim.answer };
    const action = this.#recoveries.get(claim.action);
    // The action belongs to a newer version. Its own processes look into such claims.
    if (action === undefined) return { kind: 'in_flight' };
    // Before the result is looked for: a request that was not paid for by then never will be.
    let over = await this.#claims.isOver(claim);
    if (over && action.end !== undefined) over = await action.end(account, claim.result, claim.payBy);
    const accepted = await action.recover(account, claim.result);
    if (accepted !== undefined) return { kind: 'answered', answer: await this.complete(claim, accepted) };
    return { kind: over ? 'free' : 'in_flight' };
  }
}
