import { createHash } from 'node:crypto';
import { STATUS } from '../../../shared/carriers/command-status.ts';
import type { ToldReceipt } from '../../../shared/carriers/http/callback-store.ts';
import type { Deliver } from '../../../shared/carriers/smpp/deliver-sm.ts';
import { LeaseLostError } from '../../../shared/messages/settlement/intents.ts';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';

/** How often a deliver_sm is refused for now although it is probably the reason itself. */
const TRIES_MAX = 5;
/** The first to fail are the first to be forgotten. */
const KNOWN_MAX = 1_000;

/**
 * `wait`: because of the store or the lease. `again`: because of this deliver_sm, or our own code; the carrier is to
 * try again, as the next version may take it. `never`: it has tried often enough.
 */
export type Refusal = 'wait' | 'again' | 'never';

export const REFUSAL_STATUS = {
  wait: STATUS.queueFull,
  again: STATUS.systemError,
  never: STATUS.receiverRejects,
} as const satisfies Record<Refusal, number>;

/**
 * How a deliver_sm that could not be stored is refused. It is never answered with 0: that would drop it. But carriers
 * repeat what is refused for now, and some send nothing else meanwhile, so one that fails for its own reason is refused
 * for good after some tries.
 */
export class DeliverRefusals {
  /** Digests of deliver_sm that failed for their own reason, with the number of tries. */
  readonly #tries = new Map<string, number>();

  refusal(error: unknown, deliver: Deliver | ToldReceipt): Refusal {
    if (!isOfDeliver(error)) return 'wait';
    const digest = createHash('sha256').update(JSON.stringify(deliver)).digest('base64url');
    const tries = (this.#tries.get(digest) ?? 0) + 1;
    this.#tries.delete(digest);
    if (tries >= TRIES_MAX) return 'never';
    this.#tries.set(digest, tries);
    const [oldest] = this.#tries.keys();
    if (this.#tries.size > KNOWN_MAX && oldest !== undefined) this.#tries.delete(oldest);
    return 'again';
  }
}

/** Whether the deliver_sm itself may be the cause, not the store or the lease: others must then not fail with it. */
export function isOfDeliver(error: unknown): boolean {
  return !isStoreTrouble(error) && !(error instanceof LeaseLostError);
}
