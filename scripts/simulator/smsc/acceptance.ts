import { type Delays, RateLimit } from '../pace/pace.ts';
import { STATUS } from '../smpp/pdu.ts';
import type { Submit } from '../smpp/submit.ts';
import type { Mailboxes } from './mailboxes.ts';
import type { SmscOptions } from './options.ts';
import {
  type Behaviour,
  hasReceipt,
  isAskedFor,
  isFinal,
  messageIds,
  type Outcome,
  type ReceiptPlan,
  receipt,
} from './receipts.ts';
import type { Session } from './session.ts';

/** Delay of an `after-receipt` answer: long enough for a client to have read the receipt. */
const OVERTAKEN_MS = 50;

/** User data of messages waiting for receipts. Above this, submits get "queue full". */
const MAX_PENDING_OCTETS = 256_000_000;

const DELIVERED: readonly ReceiptPlan[] = [{ stat: 'DELIVRD' }];

export interface SubmitCounts {
  submitted: number;
  accepted: number;
  /** By command_status, such as `0x58`. */
  readonly refused: Record<string, number>;
}

/** Where accepted messages and receipts go. */
interface AcceptanceSinks {
  readonly kept: KeptSubmits;
  readonly mailboxes: Mailboxes;
  readonly delays: Delays;
  /** Called with each accepted message before it is answered. */
  readonly accepted: (submit: Submit) => void;
}

/** Decides about each submit_sm, answers it, and writes its receipts when they are due. */
export class Acceptance {
  readonly counts: SubmitCounts = { submitted: 0, accepted: 0, refused: {} };
  readonly rate: RateLimit;
  readonly #options: SmscOptions;
  readonly #sinks: AcceptanceSinks;
  readonly #decide: (submit: Submit) => Outcome;
  readonly #nextId: () => string;
  #holding: boolean;
  #pendingOctets = 0;
  #held: { readonly submit: Submit; readonly plan: ReceiptPlan }[] = [];

  constructor(options: SmscOptions, magic: Behaviour, sinks: AcceptanceSinks) {
    this.#options = options;
    this.#sinks = sinks;
    this.#decide = (submit) => options.behaviour?.(submit) ?? magic(submit) ?? {};
    this.#nextId = messageIds(options.idForm);
    this.#holding = options.holdReceipts;
    this.rate = new RateLimit(options.ratePerSecond);
  }

  /** Due receipts that are held back. */
  get held(): number {
    return this.#held.length;
  }

  /** Receipts that become due wait for {@link release}. */
  hold(): void {
    this.#holding = true;
  }

  /** Sends the held receipts in the order in which they became due. */
  release(): void {
    this.#holding = false;
    const held = this.#held;
    this.#held = [];
    for (const { submit, plan } of held) this.#post(submit, plan);
  }

  handle(session: Session, submit: Submit): void {
    this.counts.submitted += 1;
    const outcome = this.#outcome(submit);
    const status = outcome.status ?? STATUS.ok;
    if (status !== STATUS.ok) {
      this.refused(status);
      this.#whenDue(outcome, () => session.answerSubmit(submit.sequence, status, ''));
      return;
    }

    submit.messageId = this.#nextId();
    this.counts.accepted += 1;
    this.#sinks.kept.add(submit);
    this.#sinks.accepted(submit);
    const { part, total } = submit.concatenation ?? { part: 1, total: 1 };
    if (hasReceipt(this.#options.receiptDialect, part, total)) {
      for (const plan of outcome.receipts ?? DELIVERED) this.#plan(submit, plan);
    }
    this.#answer(session, submit, outcome);
  }

  refused(status: number): void {
    const name = `0x${status.toString(16).padStart(2, '0')}`;
    this.counts.refused[name] = (this.counts.refused[name] ?? 0) + 1;
  }

  /** The carrier's limits come first, then what the destination asks for. */
  #outcome(submit: Submit): Outcome {
    if (!this.rate.admits()) return { status: STATUS.throttled };
    const pending = this.#sinks.mailboxes.pending + this.#sinks.delays.size + this.#held.length;
    if (pending >= this.#options.maxPending) return { status: STATUS.messageQueueFull };
    if (this.#pendingOctets > MAX_PENDING_OCTETS) return { status: STATUS.messageQueueFull };
    return this.#decide(submit);
  }

  #answer(session: Session, submit: Submit, outcome: Outcome): void {
    switch (outcome.answer ?? 'normal') {
      case 'never':
        return;
      case 'cut':
        session.cut();
        return;
      case 'after-receipt':
      case 'normal':
        this.#whenDue(outcome, () => session.answerSubmit(submit.sequence, STATUS.ok, submit.messageId));
    }
  }

  #whenDue(outcome: Outcome, answer: () => void): void {
    if (outcome.answerWhen === undefined) this.#sinks.delays.after(this.#responseDelay(outcome), answer);
    else void outcome.answerWhen.then(answer);
  }

  #responseDelay(outcome: Outcome): number {
    const delay = outcome.responseDelayMs ?? this.#options.responseDelayMs;
    return outcome.answer === 'after-receipt' ? Math.max(delay, OVERTAKEN_MS) : delay;
  }

  #plan(submit: Submit, plan: ReceiptPlan): void {
    const delay = this.#options.receiptDelayMs * (plan.delays ?? 1);
    this.#pendingOctets += submit.userData.length;
    this.#sinks.delays.after(delay, () => this.#due(submit, plan));
  }

  #due(submit: Submit, plan: ReceiptPlan): void {
    if (this.#holding && isAskedFor(submit.registeredDelivery, plan)) this.#held.push({ submit, plan });
    else this.#post(submit, plan);
  }

  #post(submit: Submit, plan: ReceiptPlan): void {
    this.#pendingOctets -= submit.userData.length;
    if (isFinal(plan.stat)) submit.state = plan.stat;
    if (!isAskedFor(submit.registeredDelivery, plan)) return;
    this.#sinks.mailboxes.post(submit.systemId, receipt(submit, plan, this.#options));
  }
}

/** User data kept at most: 10,000 usual segments have 1.4 MB, but a message_payload may have 64 KB. */
const MAX_OCTETS = 64_000_000;

/** The last accepted messages, bounded by `limit` and `MAX_OCTETS`; in order, and by id for query_sm. */
export class KeptSubmits {
  readonly #limit: number;
  readonly #byId = new Map<string, Submit>();
  #submits: Submit[] = [];
  #head = 0;
  #octets = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(submit: Submit): void {
    this.#submits.push(submit);
    this.#byId.set(submit.messageId, submit);
    this.#octets += submit.userData.length;
    while (this.#submits.length - this.#head > this.#limit || this.#octets > MAX_OCTETS) {
      const oldest = this.#submits[this.#head];
      if (oldest === undefined) break;
      this.#byId.delete(oldest.messageId);
      this.#octets -= oldest.userData.length;
      this.#head += 1;
    }
    if (this.#head > this.#limit) {
      this.#submits = this.#submits.slice(this.#head);
      this.#head = 0;
    }
  }

  find(messageId: string): Submit | undefined {
    return this.#byId.get(messageId);
  }

  /** Oldest first. */
  all(): Submit[] {
    return this.#submits.slice(this.#head);
  }
}
