import { STATUS } from '../../../shared/carriers/command-status.ts';
import type { ToldReceipt } from '../../../shared/carriers/http/callback-store.ts';
import type { Deliver } from '../../../shared/carriers/smpp/deliver-sm.ts';
import type { DeliverTaker, DeliverVia } from '../../../shared/carriers/smpp/session.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { type LogFields, unexpectedErrorFields } from '../../../shared/platform/runtime/log.ts';
import type { ReceiptDialect } from '../dialect/receipt-dialect.ts';
import type { Measurements } from '../monitoring/bind-reporter.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import { DeliverRefusals, REFUSAL_STATUS, type Refusal } from '../session/deliver-refusals.ts';
import { incomingReceipt, kindOf, type ParsedReceipt, parseReceipt, readTold } from './receipt.ts';
import { receiptText, shapeOf } from './receipt-fields.ts';
import type { IncomingReceipt } from './receipt-match.ts';
import type { ReceiptResult, ReceiptSettler } from './settle-receipts.ts';

/** For the metrics. `failed` was refused and comes again; `unstorable` was refused for good. */
type ReceiptMetric = ReceiptResult | 'intermediate' | 'unreadable' | 'failed' | 'unstorable';

export interface ReceiveOptions extends Pick<CarrierContext, 'carrier' | 'clock' | 'log' | 'metrics'> {
  readonly dialect: ReceiptDialect;
  readonly receipts: ReceiptSettler;
  readonly inbound: DeliverTaker;
  readonly measurements: Measurements;
  slowDown(): void;
}

/** Answers 0 only when the content is stored, or nothing of it is kept. Else see session/deliver-refusals.ts. */
export class Receive {
  readonly #options: ReceiveOptions;
  readonly #refusals = new DeliverRefusals();

  constructor(options: ReceiveOptions) {
    this.#options = options;
  }

  async take(deliver: Deliver, answer: (status: number) => void, via: DeliverVia): Promise<void> {
    let isReceipt: boolean;
    try {
      isReceipt = await this.#receipt(deliver);
    } catch (error) {
      answer(REFUSAL_STATUS[this.#refuse(deliver, error)]);
      return;
    }
    if (isReceipt) answer(STATUS.ok);
    else await this.#options.inbound.take(deliver, answer, via);
  }

  /** `done`: it is stored, or nothing of it is kept. `again`: give it once more. Never rejects. */
  async takeTold(told: ToldReceipt): Promise<'done' | 'again'> {
    const { carrier, dialect } = this.#options;
    const { receipt, ...said } = readTold(told, carrier, dialect);
    if (!said.isKnown) this.#tellWord(said, {});
    if (receipt === undefined) {
      this.#count(said.meaning === 'intermediate' ? 'intermediate' : 'unreadable');
      return 'done';
    }
    try {
      await this.#store(receipt);
      return 'done';
    } catch (error) {
      return this.#refuse(told, error) === 'never' ? 'done' : 'again';
    }
  }

  /** False when it is no receipt. Rejects when it is not stored. */
  async #receipt(deliver: Deliver): Promise<boolean> {
    const { carrier, dialect, clock } = this.#options;
    const kind = kindOf(deliver);
    if (kind === 'message' || (kind === 'plain' && !dialect.plain)) return false;
    const parsed = parseReceipt(deliver, carrier, dialect, clock.now());
    const receipt = parsed === undefined ? undefined : incomingReceipt(deliver, parsed, carrier, dialect);
    if (kind === 'plain' && (receipt === undefined || parsed?.isKnown !== true)) return false;
    this.#tellUnknown(deliver, parsed);
    if (receipt !== undefined) return this.#store(receipt);
    // A second try would have the same content, so the answer is 0. It is only counted.
    this.#count(parsed?.meaning === 'intermediate' ? 'intermediate' : 'unreadable');
    return true;
  }

  async #store(receipt: IncomingReceipt): Promise<boolean> {
    const result = await this.#options.receipts.add(receipt);
    crashPoint('receipt:stored');
    if (result === 'not_receipt') return false;
    this.#count(result);
    this.#countState(receipt);
    return true;
  }

  #refuse(received: Deliver | ToldReceipt, error: unknown): Refusal {
    const { carrier, log, slowDown } = this.#options;
    const refusal = this.#refusals.refusal(error, received);
    const told = { carrier: carrier._id, ...unexpectedErrorFields(error) };
    const excerpt = 'body' in received ? { excerpt: shapeOf(receiptText(received)) } : {};
    if (refusal === 'never') log.error('receipt_unstorable', { ...told, ...excerpt });
    else log.warn('receipt_not_stored', told);
    this.#count(refusal === 'never' ? 'unstorable' : 'failed');
    if (refusal === 'wait') slowDown();
    return refusal;
  }

  /** Reports unknown words in the log and the metrics, so that somebody adds them to a table. */
  #tellUnknown(deliver: Deliver, parsed: ParsedReceipt | undefined): void {
    const { carrier, log } = this.#options;
    if (parsed?.isKnown === true) return;
    const { esmClass: esm_class, body } = deliver;
    const told = { esm_class, octets: body.length, excerpt: shapeOf(receiptText(deliver)) };
    if (parsed === undefined) log.warn('receipt_unreadable', { carrier: carrier._id, ...told });
    else this.#tellWord(parsed, told);
  }

  #tellWord({ word, meaning }: Pick<ParsedReceipt, 'word' | 'meaning'>, told: LogFields): void {
    const { carrier, log, metrics } = this.#options;
    metrics.otherWords.inc({ carrier: carrier._id, meaning });
    const shown = word.replace(/[^A-Za-z_:-]/g, '9');
    log.warn('receipt_word_unknown', { carrier: carrier._id, word: shown, meaning, ...told });
  }

  #countState({ part }: IncomingReceipt): void {
    const state = part.effect ?? part.state;
    this.#options.measurements.receipt(state);
    this.#options.metrics.receiptStates.inc({ carrier: this.#options.carrier._id, state });
  }

  #count(result: ReceiptMetric): void {
    this.#options.metrics.receipts.inc({ carrier: this.#options.carrier._id, result });
  }
}
