import type { CarrierDocument } from '../../../shared/carriers/carrier.ts';
import type { Deliver } from '../../../shared/carriers/smpp/deliver-sm.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { caselessKeys, messageKey } from '../../../workers/smpp/dialect/message-ids.ts';
import { ReceiptDialect } from '../../../workers/smpp/dialect/receipt-dialect.ts';
import type { OrphanStore } from '../../../workers/smpp/receipts/orphan-store.ts';
import { incomingReceipt, parseReceipt } from '../../../workers/smpp/receipts/receipt.ts';
import type { IncomingReceipt } from '../../../workers/smpp/receipts/receipt-match.ts';

const LOOK_MS = 250;

/**
 * Waits for the receipt of the test message. It comes over our own bind. If the worker is bound, it may come there instead, and
 * is then among the receipts that fit no message.
 */
export class TrialReceipt {
  readonly #carrier: CarrierDocument;
  readonly #clock: Clock;
  readonly #dialect: ReceiptDialect;
  readonly #keys = new Set<string>();
  #found: IncomingReceipt | undefined;

  constructor(carrier: CarrierDocument, clock: Clock) {
    this.#carrier = carrier;
    this.#clock = clock;
    this.#dialect = new ReceiptDialect(carrier);
  }

  /** Notes the id that the carrier gave a segment. */
  expect(messageId: string): void {
    const key = messageKey(this.#carrier._id, messageId);
    if (key !== undefined) this.#keys.add(key);
  }

  take(deliver: Deliver): boolean {
    const parsed = parseReceipt(deliver, this.#carrier, this.#dialect, this.#clock.now());
    const receipt = parsed && incomingReceipt(deliver, parsed, this.#carrier, this.#dialect);
    if (receipt === undefined || !this.#means(receipt)) return false;
    this.#found ??= receipt;
    return true;
  }

  #means({ candidates }: IncomingReceipt): boolean {
    const caseless = new Set([...this.#keys].map((key) => key.toLowerCase()));
    return (
      candidates.some(({ key }) => this.#keys.has(key)) || caselessKeys(candidates).some((key) => caseless.has(key))
    );
  }

  /** The receipt. Undefined when none came in time. */
  async within(ms: number, orphans: OrphanStore | undefined): Promise<IncomingReceipt | undefined> {
    const deadlineMs = this.#clock.monotonicMs() + ms;
    while (this.#found === undefined && this.#keys.size > 0 && this.#clock.monotonicMs() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const [stored] = orphans === undefined ? [] : await orphans.withKeys([...this.#keys]);
      this.#found ??= stored;
    }
    return this.#found;
  }
}
