import { createHash } from 'node:crypto';
import { type Collection, MongoBulkWriteError } from 'mongodb';
import { isDuplicateKey } from '../../../shared/platform/mongo/errors.ts';
import { msOf, NOW_MS } from '../../../shared/platform/mongo/store-time.ts';
import { Grouper } from '../../../shared/platform/runtime/grouper.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { GatewayDeps } from '../deps.ts';
import type { Accepted, Action, Problem } from './action.ts';

/**
 * An Idempotency-Key in use (draft-ietf-httpapi-idempotency-key-header). Stored before anything is done for the
 * request, with the id that the result will get. Kept only if the request is accepted.
 *
 * `payBy` makes it safe to take over a claim whose process may have died: the account pays before that moment of the
 * store's time or never (shared/money/payment/debit.ts). If no result has the id by then, none ever will.
 */
export interface KeyClaimDocument {
  readonly _id: KeyClaimId;
  /** SHA-256 of method, path and body: the only request that the key may be used for. */
  readonly fingerprint: string;
  readonly action: string;
  /** The result's future id (`msg_…`). It also tells this claim from a later one of the same key. */
  readonly result: string;
  readonly payBy: Date;
  readonly expiresAt: Date;
  readonly answer?: KeptAnswer;
}

export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
  readonly sealed?: true;
}

/** `<account>:<SHA-256 of the key>`: keys are per account, and the id has a fixed length. */
type KeyClaimId = `${AccountId}:${string}`;

/** How long an accepted request is remembered; a scheduled one from its time on. */
const KEPT_MS = 24 * 3_600_000;

/**
 * Time from the claim to the latest debit. Far longer than a request takes, so that clocks of machines may differ by
 * seconds; short, because a repeated request after a crash gets 409 until it is over.
 */
export const PAY_WITHIN_MS = 15_000;

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

type Held =
  /** Claimed for this request, which must be done now. */
  | { readonly kind: 'mine'; readonly claim: KeyClaimDocument }
  | { readonly kind: 'answered'; readonly claim: KeyClaimDocument; readonly answer: KeptAnswer }
  | { readonly kind: 'refused'; readonly problem: Problem };

type Recover = Pick<Action<string>, 'end' | 'recover'>;

/** Another request can free the claim between two looks. After this many tries the key counts as in use. */
const TRIES = 3;

/** `key`: the caller's text. */
export function claimId(account: AccountId, key: string): KeyClaimId {
  return `${account}:${createHash('sha256').update(key).digest('base64url')}`;
}

/** The most claims in one command. */
const GROUP_MAX = 200;

interface Completion {
  readonly claim: KeyClaimDocument;
  readonly answer: KeptAnswer;
  /** Replaces the claim's own time. */
  readonly expiresAt: Date | undefined;
}

/**
 * Claims Idempotency-Keys, and finds out what became of claims that nobody completed. Writes that arrive while others
 * are in flight share a command.
 */
export class KeyHolder {
  readonly #clock: GatewayDeps['clock'];
  readonly #box: GatewayDeps['box'];
  readonly #claims: Collection<KeyClaimDocument>;
  /** False when the key is already claimed. */
  readonly #claiming: Grouper<KeyClaimDocument, boolean>;
  readonly #completing: Grouper<Completion, void>;
  readonly #recoveries = new Map<string, Recover>();

  constructor({ db, clock, box }: Pick<GatewayDeps, 'db' | 'clock' | 'box'>) {
    this.#clock = clock;
    this.#box = box;
    this.#claims = db.collection<KeyClaimDocument>('idempotency');
    this.#claiming = new Grouper({ maxItems: GROUP_MAX, gatherMs: 0, run: (claims) => this.#insert(claims) });
    this.#completing = new Grouper<Completion, void>({
      maxItems: GROUP_MAX,
      gatherMs: 0,
      run: (done) => this.#store(done),
    });
  }

  /** Lets this process look into the action's claims. */
  add<Id extends string>(action: Action<Id>): void {
    const { end } = action;
    // The id was made by the action's own `newId`.
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
      if (await this.#claiming.add(claim)) return { kind: 'mine', claim };
      const earlier = await this.#claims.findOne({ _id: wanted._id });
      if (earlier === null) continue;
      const state = await this.#stateOf(account, earlier, nowMs);
      if (state.kind === 'free') {
        await this.free(earlier);
        continue;
      }
      if (earlier.fingerprint !== wanted.fingerprint)
        return { kind: 'refused', problem: ['idempotency_key_reused', {}] };
      if (state.kind === 'answered') return { ...state, claim: earlier };
      break;
    }
    return { kind: 'refused', problem: ['idempotency_in_flight', { headers: ['Retry-After', '1'] }] };
  }

  async complete(claim: KeyClaimDocument, accepted: Accepted): Promise<KeptAnswer> {
    const text = JSON.stringify(accepted.body);
    const answer: KeptAnswer = accepted.sealed
      ? { status: 200, body: this.#box.seal(text, ['idempotency', claim._id, 'answer.body']), sealed: true }
      : { status: 200, body: text };
    const { keptFrom } = accepted;
    await this.#completing.add({ claim, answer, expiresAt: keptFrom && new Date(keptFrom.getTime() + KEPT_MS) });
    return answer;
  }

  /** For a refused request. The key can be claimed again; a later claim of it stays. Idempotent. */
  async free({ _id, result }: KeyClaimDocument): Promise<void> {
    await this.#claims.deleteOne({ _id, result });
  }

  open({ _id }: KeyClaimDocument, answer: KeptAnswer): KeptAnswer {
    if (answer.sealed !== true) return answer;
    return { ...answer, body: this.#box.open(answer.body, ['idempotency', _id, 'answer.body']) };
  }

  async #stateOf(account: AccountId, claim: KeyClaimDocument, nowMs: number): Promise<KeyState> {
    if (claim.expiresAt.getTime() <= nowMs) return { kind: 'free' };
    if (claim.answer !== undefined) return { kind: 'answered', answer: claim.answer };
    const action = this.#recoveries.get(claim.action);
    // The action belongs to a newer version, whose processes look into it.
    if (action === undefined) return { kind: 'in_flight' };
    // Before the result is looked for: a request that was not paid for by then never will be.
    let over = await this.#isOver(claim);
    if (over && action.end !== undefined) over = await action.end(account, claim.result, claim.payBy);
    const accepted = await action.recover(account, claim.result);
    if (accepted !== undefined) return { kind: 'answered', answer: await this.complete(claim, accepted) };
    return { kind: over ? 'free' : 'in_flight' };
  }

  /**
   * Whether the time to pay is over by the store's clock, which may go back at a failover (see `Action.end`). Ask
   * *before* looking for the result.
   */
  async #isOver({ _id, result }: KeyClaimDocument): Promise<boolean> {
    const over = await this.#claims.findOne(
      { _id, result, $expr: { $gte: [NOW_MS, msOf('$payBy')] } },
      { projection: { _id: 1 } },
    );
    return over !== null;
  }

  async #store(done: readonly Completion[]): Promise<readonly undefined[]> {
    await this.#claims.bulkWrite(
      done.map(({ claim: { _id, result }, answer, expiresAt }) => ({
        updateOne: {
          filter: { _id, result },
          update: { $set: expiresAt === undefined ? { answer } : { answer, expiresAt } },
        },
      })),
      { ordered: false },
    );
    return done.map(() => undefined);
  }

  async #insert(claims: readonly KeyClaimDocument[]): Promise<readonly boolean[]> {
    try {
      await this.#claims.insertMany(claims, { ordered: false });
      return claims.map(() => true);
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError) || !isDuplicateKey(error)) throw error;
      const errors = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
      const taken = new Set(errors.map(({ index }) => index));
      return claims.map((_, index) => !taken.has(index));
    }
  }
}
