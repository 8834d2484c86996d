import type { Db } from 'mongodb';
import { replayPage } from '../../shared/events/webhooks/delivery-store.ts';
import { findEndpoints } from '../../shared/events/webhooks/endpoint-store.ts';
import type { ReplayDocument } from '../../shared/events/webhooks/replay.ts';
import { findRunningReplays, noteReplayed, stopReplay } from '../../shared/events/webhooks/replay-store.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';

const LOOK_MS = 2_000;
/** How many replays go on at a time. Further ones begin when these have ended. */
const TOGETHER_MAX = 10;

/**
 * Works off the replays that accounts have started: one page of each in a round, so that a replay of a million deliveries delays
 * no other delivery. All its state is in the store; after a crash the page that was begun is done again, which changes nothing.
 */
export class Replays {
  readonly #db: Db;
  readonly #clock: Clock;
  #nextLookMs = Number.NEGATIVE_INFINITY;

  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Looks for replays now and then, and in every round while there are any. Returns whether there are. */
  async round(): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextLookMs) return false;
    const running = await findRunningReplays(this.#db, TOGETHER_MAX);
    this.#nextLookMs = running.length > 0 ? nowMs : nowMs + LOOK_MS;
    if (running.length === 0) return false;
    const endpoints = await findEndpoints(
      this.#db,
      running.map(({ endpoint }) => endpoint),
    );
    const active = new Set(endpoints.filter(({ status }) => status === 'active').map(({ _id }) => _id));
    for (const replay of running) await this.#page(replay, active.has(replay.endpoint));
    return true;
  }

  async #page(replay: ReplayDocument, active: boolean): Promise<void> {
    const now = this.#clock.now();
    if (!active) return stopReplay(this.#db, replay, now);
    await noteReplayed(this.#db, replay, await replayPage(this.#db, replay, replay.before, now), now);
  }
}
