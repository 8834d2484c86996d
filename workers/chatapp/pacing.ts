import type { ProviderDocument } from '../../shared/providers/provider.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { TokenBucket } from '../../shared/runtime/token-bucket.ts';

export interface PacingOptions {
  readonly provider: Pick<ProviderDocument, 'perSecond' | 'windowSize' | 'perCustomerMs'>;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** What the provider means by "too fast for this customer" (131056: about one message in 6 s), doubled while it says so. */
const CUSTOMER_DELAY_MS = 6_000;
const CUSTOMER_DELAY_MAX_MS = 60_000;
/** Customers whose delays are remembered; beyond that all begin anew. */
const DELAYS_MAX = 10_000;

/**
 * How fast one account sends: messages a second, sends in flight, and for each customer one at a time with a pause in between,
 * so that a customer's messages stay in order.
 */
export class Pacing {
  readonly #options: PacingOptions;
  readonly #tokens: TokenBucket;
  readonly #inFlight = new Set<string>();
  /** Customers whose message is being settled without having been sent. */
  readonly #settling = new Set<string>();
  /** Customers that get nothing before then, by the monotonic clock. */
  readonly #notBefore = new Map<string, number>();
  /** How often in a row the provider wanted a customer left alone. */
  readonly #delays = new Map<string, number>();

  constructor(options: PacingOptions) {
    this.#options = options;
    const { clock, provider, random } = options;
    this.#tokens = new TokenBucket({ clock, perSecond: provider.perSecond, random });
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Messages that may be sent now. */
  get room(): number {
    return Math.min(this.#options.provider.windowSize - this.#inFlight.size, this.#tokens.available());
  }

  /** Customers that get nothing just now. */
  busy(): readonly string[] {
    const nowMs = this.#options.clock.monotonicMs();
    for (const [customer, ms] of this.#notBefore) {
      if (ms <= nowMs && !this.#inFlight.has(customer)) this.#notBefore.delete(customer);
    }
    return [...new Set([...this.#inFlight, ...this.#settling, ...this.#notBefore.keys()])];
  }

  /** Until something may change by time alone: a token, or the first customer that waits. Undefined: nothing waits for time. */
  get waitMs(): number | undefined {
    const nowMs = this.#options.clock.monotonicMs();
    const waits = [...this.#notBefore.values()].filter((ms) => ms > nowMs).map((ms) => ms - nowMs);
    if (this.#tokens.available() < 1) waits.push(this.#tokens.waitMs());
    return waits.length === 0 ? undefined : Math.max(Math.ceil(Math.min(...waits)), 1);
  }

  /** A send to this customer begins: one token, one place in the window. */
  begin(customer: string): void {
    this.#tokens.take();
    this.#inFlight.add(customer);
    this.hold(customer, this.#options.provider.perCustomerMs);
  }

  /** It has ended, and what became of it is stored or known to be left. */
  end(customer: string): void {
    this.#inFlight.delete(customer);
  }

  /**
   * A message to this customer is refused here, or put back: until `work` has stored that, the customer gets nothing. The
   * conversation that it opened is settled by then, and its next message is behind it again. Takes no token and no place.
   */
  async settling(customer: string, work: Promise<unknown>): Promise<void> {
    this.#settling.add(customer);
    try {
      await work;
    } finally {
      this.#settling.delete(customer);
    }
  }

  /** The customer gets nothing for so long: its message is tried again first. */
  hold(customer: string, ms: number): void {
    if (ms <= 0) return;
    const untilMs = this.#options.clock.monotonicMs() + ms;
    this.#notBefore.set(customer, Math.max(this.#notBefore.get(customer) ?? 0, untilMs));
  }

  /** The provider took a message for this customer. */
  accepted(customer: string): void {
    this.#tokens.accepted();
    this.#delays.delete(customer);
  }

  /** The provider wants less from this account. */
  throttled(atLeastMs: number): void {
    this.#tokens.throttled(atLeastMs);
  }

  /** The provider wants less for this customer. */
  delayCustomer(customer: string): void {
    const delays = this.#delays.get(customer) ?? 0;
    if (this.#delays.size >= DELAYS_MAX) this.#delays.clear();
    this.#delays.set(customer, delays + 1);
    const delayMs = Math.min(CUSTOMER_DELAY_MS * 2 ** delays, CUSTOMER_DELAY_MAX_MS);
    this.hold(customer, delayMs * (1 + this.#options.random() / 2));
  }
}
