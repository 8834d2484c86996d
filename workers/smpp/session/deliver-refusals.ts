import { createHash } from 'node:crypto';
import { STATUS } from '../../../shared/carriers/command-status.ts';
import type { ToldReceipt } from '../../../shared/carriers/http/callback-store.ts';
import type { Deliver } from '../../../shared/carriers/smpp/deliver-sm.ts';
import { LeaseLostError } from '../../../shared/messages/settlement/intents.ts';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';

/** How often a deliver_sm is refused for now although it is probably the reason itself. */
const TRIES_MAX = 5;
/** Most of them that are remembered; those that failed first are forgotten first. */
const KNOWN_MAX = 1_000;

/**
 * `wait`: the store, or the lease, is the reason. `again`: this deliver_sm, or our own code; the carrier is to try again, as the
 * next version of the product may take it. `never`: that has been asked of the carrier often enough.
 */
export type Refusal = 'wait' | 'again' | 'never';

export const REFUSAL_STATUS = {
  wait: STATUS.queueFull,
  again: STATUS.systemError,
  never: STATUS.receiverRejects,
} as const satisfies Record<Refusal, number>;

/**
 * How a deliver_sm is refused that could not be stored. It is never answered with 0: that would drop it. But a carrier repeats what
 * is refused for now, and some carriers send nothing else meanwhile. So one that fails for a reason of its own is refused for good
 * after some tries.
 */
export class DeliverRefusals {
  /** Digests of such deliver_sm, with the number of tries. */
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

/** Whether what failed may be the deliver_sm itself, and not the store or the lease: others must then not fail with it. */
export function isOfDeliver(error: unknown): boolean {
  return !isStoreTrouble(error) && !(error instanceof LeaseLostError);
}
