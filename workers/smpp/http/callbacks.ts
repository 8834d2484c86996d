import { oldestReceipts, removeReceipts } from '../../../shared/carriers/http/callback-store.ts';
import type { ListenForChanges } from '../../../shared/platform/runtime/change-signal.ts';
import { type Found, PollLoop } from '../../../shared/platform/runtime/poll-loop.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import type { Receive } from '../receipts/receive.ts';

export interface CallbacksOptions extends Pick<CarrierContext, 'db' | 'clock' | 'carrier' | 'log' | 'held'> {
  readonly receive: Pick<Receive, 'takeTold'>;
  readonly listen?: ListenForChanges | undefined;
}

const MAX_ROUND = 200;
const IDLE_MS = 250;

/**
 * Works off the receipts that the gateway stored for an HTTP carrier, the oldest first. A settled one is removed, or
 * kept as an orphan; a failed one is left for the next round. A crash in between settles it again, as a duplicate.
 */
export class Callbacks {
  readonly #options: CallbacksOptions;
  readonly #loop: PollLoop;

  constructor(options: CallbacksOptions) {
    this.#options = options;
    const { carrier, log, listen } = options;
    this.#loop = new PollLoop({
      name: `callbacks:${carrier._id}`,
      idleMs: IDLE_MS,
      log,
      work: () => this.#round(),
      listen: (wake) => listen?.('carrier_callbacks', wake),
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #round(): Promise<Found> {
    const { db, carrier, receive, held } = this.#options;
    if (!held()) return 'waiting';
    const receipts = await oldestReceipts(db, carrier._id, MAX_ROUND);
    if (receipts.length === 0) return 'idle';
    const fates = await Promise.all(receipts.map((receipt) => receive.takeTold(receipt)));
    const done = receipts.filter((_, i) => fates[i] === 'done').map(({ _id }) => _id);
    await removeReceipts(db, done);
    return done.length === 0 ? 'waiting' : 'more';
  }
}
