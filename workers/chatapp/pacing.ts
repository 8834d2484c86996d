import type { ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { TokenBucket } from '../../shared/platform/runtime/token-bucket.ts';

export interface PacingOptions {
  readonly provider: Pick<ProviderDocument, 'perSecond' | 'windowSize' | 'perCustomerMs'>;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
}

/**
 * First pause after the provider's "too fast for this customer" (131056: about one message in 6 s). Doubled each time
 * it is repeated.
 */
const CUSTOMER_DELAY_MS = 6_000;
const CUSTOMER_DELAY_MAX_MS = 60_000;
/** The most customers whose delays are remembered. Beyond that all are forgotten. */
const DELAYS_MAX = 10_000;

/**
 * How fast one account sends: messages per second, sends in flight, and for each customer one message at a time with
 * a pause in between, so that a customer's messages stay in order.
 */
export class Pacing {
  readonly #options: PacingOptions;
  readonly #tokens: TokenBucket;
  readonly #inFlight = new Set<string>();
  /** Customers whose message is being settled without having been sent. */
  readonly #settling = new Set<string>();
  /** The time before which a customer gets nothing, by the monotonic clock. */
  readonly #notBefore = new Map<string, number>();
  /** How often in a row the provider asked for a pause for a customer. */
  readonly #delays = new Map<string, number>();

  constructor(options: PacingOptions) {
    this.#options = options;
    const { clock, provider, random } = options;
    this.#tokens = new TokenBucket({ clock, perSecond: provider.perSecond, random });
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** How many messages may be sent now. */
  get room(): number {
    return Math.min(this.#options.provider.windowSize - this.#inFlight.size, this.#tokens.available());
  }

  /** Customers that must not get a message now. */
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

  /** A send to this customer begins. It takes one token and one place in the window. */
  begin(customer: string): void {
    this.#tokens.take();
    this.#inFlight.add(customer);
    this.hold(customer, this.#options.provider.perCustomerMs);
  }

  /** The send has ended. Its outcome is stored, or it is certain that it cannot be. */
  end(customer: string): void {
    this.#inFlight.delete(customer);
  }

  /**
   * A message to this customer is refused here, or put back. Until `work` has stored that, the customer gets nothing:
   * first the conversation that the message opened must be settled, or the message must be queued again. Takes no
   * token and no place.
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

  /** The provider accepted a message for this customer. */
  accepted(customer: string): void {
    this.#tokens.accepted();
    this.#delays.delete(customer);
  }

  /** The provider asks for fewer messages from this account. */
  throttled(atLeastMs: number): void {
    this.#tokens.throttled(atLeastMs);
  }

  /** The provider asks for fewer messages to this customer. */
  delayCustomer(customer: string): void {
    const delays = this.#delays.get(customer) ?? 0;
    if (this.#delays.size >= DELAYS_MAX) this.#delays.clear();
    this.#delays.set(customer, delays + 1);
    const delayMs = Math.min(CUSTOMER_DELAY_MS * 2 ** delays, CUSTOMER_DELAY_MAX_MS);
    this.hold(customer, delayMs * (1 + this.#options.random() / 2));
  }
}
