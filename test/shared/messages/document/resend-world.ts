import { applyChange, type Change } from '../../../../shared/messages/document/change.ts';
import type { Claim, MessageDocument } from '../../../../shared/messages/document/message.ts';
import { decideOutcome, MAX_TRIES, type SubmitOutcome } from '../../../../shared/messages/settlement/decide-outcome.ts';
import { decideByPolicy } from '../../../../shared/messages/settlement/unknowns.ts';
import { isRefundable } from '../../../../shared/money/ledger/change.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { decideDue } from '../../../../workers/maintenance/settle-due.ts';
import { decideReceipt, decideUnknown } from '../../../../workers/smpp/receipts/receipt-change.ts';
import {
  type IncomingReceipt,
  keysOf,
  mayMeanCopy,
  onlyUnknown,
} from '../../../../workers/smpp/receipts/receipt-match.ts';
import { makeMessage } from '../../../support/make.ts';

type Answer = 'ok' | 'refused' | 'throttled' | 'retry' | 'last_retry' | 'never';
type Receipt = 'delivered' | 'failed' | 'rejected' | 'none';
type Step = 'timeout' | 'policy' | 'claim' | 'answer1' | 'answer2' | 'receipt1' | 'receipt2';

const MINUTE_MS = 60_000;
const REFUSAL = { code: '0x0B', reason: 'Invalid destination address' };

/** A one-segment message that is submitted, not answered in time, and submitted again as by the worker. */
export class World {
  message: MessageDocument;
  readonly #carriers: readonly [string, string];
  readonly #claims: Claim[] = [];
  #orphans: IncomingReceipt[] = [];
  #now = new Date('2026-11-21T10:00:00Z');

  constructor(carriers: readonly [string, string]) {
    this.#carriers = carriers;
    this.message = makeMessage();
    this.claim(0);
  }

  get submitted(): number {
    return this.#claims.length;
  }

  claim(index: 0 | 1): void {
    if (this.message.state !== 'queued') return;
    const claim = { id: newId('clm'), carrier: this.#carriers[index], epoch: 1, at: this.#now };
    this.#claims[index] = claim;
    this.#apply({ state: 'submitting', set: { claim } });
  }

  answer(index: 0 | 1, answer: Answer): void {
    const claim = this.#claims[index];
    if (claim === undefined || answer === 'never') return;
    if (answer === 'last_retry') this.message = { ...this.message, tries: MAX_TRIES - 1 };
    this.#apply(decideOutcome(this.message, claim, this.#outcome(index, answer), this.#now, 0.5));
    this.#adopt();
  }

  /** The second copy is refused before it is submitted. */
  refuse(refusal: { readonly code: string; readonly reason: string }): void {
    const [, claim] = this.#claims;
    if (claim === undefined) throw new Error('it was not claimed again');
    const outcome: SubmitOutcome = { kind: 'rejected', parts: [], ...refusal };
    this.#apply(decideOutcome(this.message, claim, outcome, this.#now, 0.5));
  }

  timeout(index: 0 | 1): void {
    const claim = this.#claims[index];
    const outcome: SubmitOutcome = { kind: 'unknown', parts: [{ state: 'unknown' }] };
    if (claim !== undefined) this.#apply(decideOutcome(this.message, claim, outcome, this.#now, 0.5));
    this.#adopt();
  }

  policy(policy: 'resend' | 'assume_sent'): void {
    this.#apply(decideByPolicy(this.message, policy, this.#now));
    this.#adopt();
  }

  receipt(index: 0 | 1, state: Receipt): void {
    if (this.#claims[index] === undefined || state === 'none') return;
    this.#orphans.push({
      candidates: [{ key: this.#key(index), form: 'same 0' }],
      ...{ from: this.message.to, to: this.message.sender, excerpt: '' },
      part: { state, operator: 'Carrier' },
      arrivedAt: this.#now,
      orphan: this.#carriers[index],
    });
    this.#adopt();
  }

  /** No answer or receipt comes any more: whatever waits for one times out, and a waiting message expires. */
  end(): void {
    if (this.message.state === 'submitting') {
      this.timeout(1);
      this.policy('assume_sent');
    }
    if (this.message.state !== 'queued' && this.message.state !== 'waiting') return;
    this.#now = new Date(this.message.validUntil.getTime() + 1);
    this.#apply(decideDue(this.message, this.#now));
  }

  #key(index: 0 | 1): string {
    return `${this.#carriers[index]}:${index}`;
  }

  #outcome(index: 0 | 1, answer: Exclude<Answer, 'never'>): SubmitOutcome {
    switch (answer) {
      case 'ok':
        return { kind: 'sent', parts: [{ key: this.#key(index), state: 'accepted' }] };
      case 'refused':
        return { kind: 'rejected', parts: [{ state: 'refused', error: REFUSAL.code }], ...REFUSAL };
      case 'throttled':
        return { kind: 'throttled', ...REFUSAL };
      case 'retry':
      case 'last_retry':
        return { kind: 'retry', ...REFUSAL };
    }
  }

  /** Settles receipts by id, else by address. One that fits neither stays an orphan and is retried. */
  #adopt(): void {
    for (const receipt of [...this.#orphans]) {
      const [{ key } = { key: '' }] = receipt.candidates;
      const carrier = receipt.orphan ?? '';
      const byId = keysOf(this.message).has(key);
      if (!byId && onlyUnknown([this.message], receipt, carrier) === undefined) continue;
      const decision = byId
        ? decideReceipt(this.message, key, receipt.part, this.#now)
        : decideUnknown(this.message, key, receipt.part, this.#now, (copy) => mayMeanCopy(copy, receipt, carrier));
      this.#orphans = this.#orphans.filter((other) => other !== receipt);
      if (decision.kind === 'change') this.#apply(decision.change);
    }
  }

  #apply(change: Change | undefined): void {
    if (change === undefined) return;
    const { set = {}, unset = [] } = change;
    // MongoDB refuses an update that sets and unsets the same field.
    expect(unset.filter((field) => field in set)).to.deep.equal([]);
    this.#now = new Date(this.#now.getTime() + MINUTE_MS);
    this.message = applyChange(this.message, change);
  }
}

/** What really happens to a copy, and what is reported of it. */
export interface Fate {
  readonly answer: Answer;
  readonly receipt: Receipt;
  readonly taken: boolean;
}

export const FATES: readonly Fate[] = [
  ...(['ok', 'never'] as const).flatMap((answer) =>
    (['delivered', 'failed', 'rejected', 'none'] as const).map((receipt) => ({ answer, receipt, taken: true })),
  ),
  ...(['refused', 'throttled', 'never'] as const).map((answer) => ({
    ...{ answer, receipt: 'none' as const, taken: false },
  })),
];
export const SECOND: readonly Fate[] = [
  ...FATES,
  ...(['retry', 'last_retry'] as const).map((answer) => ({ ...{ answer, receipt: 'none' as const, taken: false } })),
];

/** All orders of the copies, with each late answer or receipt anywhere after its copy's submit. */
export function orders(first: Fate, second: Fate): Step[][] {
  const into = (all: readonly Step[][], step: Step, behind?: Step): Step[][] =>
    all.flatMap((one) => {
      const from = behind === undefined ? 0 : one.indexOf(behind) + 1;
      return Array.from({ length: one.length - from + 1 }, (_, i) => one.toSpliced(from + i, 0, step));
    });
  let all: Step[][] = [['timeout', 'policy', 'claim']];
  if (second.answer !== 'never') all = into(all, 'answer2', 'claim');
  if (second.receipt !== 'none') all = into(all, 'receipt2', 'claim');
  if (first.answer !== 'never') all = into(all, 'answer1');
  if (first.receipt !== 'none') all = into(all, 'receipt1');
  return all;
}

export function play(carriers: readonly [string, string], first: Fate, second: Fate, order: readonly Step[]): World {
  const world = new World(carriers);
  const steps: Readonly<Record<Step, () => void>> = {
    timeout: () => world.timeout(0),
    policy: () => world.policy('resend'),
    claim: () => world.claim(1),
    answer1: () => world.answer(0, first.answer),
    answer2: () => world.answer(1, second.answer),
    receipt1: () => world.receipt(0, first.receipt),
    receipt2: () => world.receipt(1, second.receipt),
  };
  const check = (): void => {
    const taken = first.taken || (world.submitted === 2 && second.taken);
    // What a carrier accepted is never refunded or called refused.
    if (taken) expect(isRefundable(world.message), 'refunded').to.equal(false);
    const isTold = first.receipt === 'rejected' || second.receipt === 'rejected';
    if (taken && !isTold) expect(world.message.state).not.to.equal('rejected');
  };
  for (const step of order) {
    steps[step]();
    check();
  }
  world.end();
  check();
  return world;
}
