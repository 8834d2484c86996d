import type { ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { TokenBucket } from '../../shared/platform/runtime/token-bucket.ts';

export interface PacingOptions {
  readonly provider: Pick<ProviderDocument, 'perSecond' | 'windowSize' | 'perCustomerMs'>;
  readonly clock: Clock;
  readonly random: () => number;
}

/** First pause after the provider's "too fast for this customer" (131056: one message in some 6 s). Then doubled. */
const CUSTOMER_DELAY_MS = 6_000;
const CUSTOMER_DELAY_MAX_MS = 60_000;
/** Beyond this many customers all delays are forgotten. */
const DELAYS_MAX = 10_000;

/** An account's pace: messages per second, in flight, and one at a time per customer, which keeps their order. */
export class Pacing {
  readonly #options: PacingOptions;
  readonly #tokens: TokenBucket;
  readonly #inFlight = new Set<string>();
  /** Customers whose message is being settled without having been sent. */
  readonly #settling = new Set<string>();
  /** The monotonic time before which a customer gets nothing. */
  readonly #notBefore = new Map<string, number>();
  readonly #delays = new Map<string, number>();

  constructor(options: PacingOptions) {
    this.#options = options;
    const { clock, provider, random } = options;
    this.#tokens = new TokenBucket({ clock, perSecond: provider.perSecond, random });
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  get room(): number {
    return Math.min(this.#options.provider.windowSize - this.#inFlight.size, this.#tokens.available());
  }

  busy(): readonly string[] {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [customer, ms] of this.#notBefore) {
      if (ms <= nowMs && !this.#inFlight.has(customer)) this.#notBefore.delete(customer);
    }
    return [...new Set([...this.#inFlight, ...this.#settling, ...this.#notBefore.keys()])];
  }

  /** Time until a token or a waiting customer is ready. Undefined when nothing waits for time. */
  get waitMs(): number | undefined {
    const nowMs = this.#options.clock.monotonicMs();
    const waits = [...this.#notBefore.values()].filter((ms) => ms > nowMs).map((ms) => ms - nowMs);
    if (this.#tokens.available() < 1) waits.push(this.#tokens.waitMs());
    return waits.length === 0 ? undefined : Math.max(Math.ceil(Math.min(...waits)), 1);
  }

  /** A send begins. It takes one token and one place in the window. */
  begin(customer: string): void {
    this.#tokens.take();
    this.#inFlight.add(customer);
    this.hold(customer, this.#options.provider.perCustomerMs);
  }

  /** The send has ended: its outcome is stored, or surely cannot be. */
  end(customer: string): void {
    this.#inFlight.delete(customer);
  }

  /**
   * A message to this customer is refused here, or put back. Until `work` has stored that, the customer gets nothing:
   * first the conversation that it opened is settled, or the message is queued again. Takes no token and no place.
   */
  async settling(customer: string, work: Promise<unknown>): Promise<void> {
    this.#settling.add(customer);
    try {
      await work;
    } finally {
      this.#settling.delete(customer);
    }
  }

  /** The customer gets nothing for this time, so that its own message is retried first. */
  hold(customer: string, ms: number): void {
    if (ms <= 0) return;
    const untilMs = this.#options.clock.monotonicMs() + ms;
    this.#notBefore.set(customer, Math.max(this.#notBefore.get(customer) ?? 0, untilMs));
  }

  accepted(customer: string): void {
    this.#tokens.accepted();
    this.#delays.delete(customer);
  }

  throttled(atLeastMs: number): void {
    this.#tokens.throttled(atLeastMs);
  }

  delayCustomer(customer: string): void {
    const delays = this.#delays.get(customer) ?? 0;
    if (this.#delays.size >= DELAYS_MAX) this.#delays.clear();
    this.#delays.set(customer, delays + 1);
    const delayMs = Math.min(CUSTOMER_DELAY_MS * 2 ** delays, CUSTOMER_DELAY_MAX_MS);
    this.hold(customer, delayMs * (1 + this.#options.random() / 2));
  }
}
