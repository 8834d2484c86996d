import type { Db } from 'mongodb';
import { readAccountsThat, readDaytimes } from '../../money/accounts/store.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { readPausedTemplates } from '../../templates/sms/store.ts';
import type { MessageDocument } from '../document/message.ts';
import { type Daytime, type PromotionalHours, promotionalDeferral } from '../document/routing.ts';
import type { QueueDocument } from './queue-document.ts';

export interface ClaimGatesOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly hours: PromotionalHours;
}

/** All workers see a pause after this time at the latest. It costs each of them three small reads. */
const FRESH_MS = 2_000;

/**
 * The messages that may not leave now, for all claimers of a process: those of held accounts (suspended or paused) and
 * of paused templates, and the lane of promotional messages under DLT outside its hours. Closing or opening a gate
 * rewrites no message (docs/decisions/0007). A recipient's daytime does, because it differs by message (0063).
 */
export class ClaimGates {
  readonly #options: ClaimGatesOptions;
  #held: ReadonlySet<string> = new Set();
  #daytimes: ReadonlyMap<string, Daytime> = new Map();
  #pausedTemplates: ReadonlyMap<string, readonly string[]> = new Map();
  #freshUntilMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: ClaimGatesOptions) {
    this.#options = options;
  }

  get held(): ReadonlySet<string> {
    return this.#held;
  }

  /** DLT ids, by account. */
  get pausedTemplates(): ReadonlyMap<string, readonly string[]> {
    return this.#pausedTemplates;
  }

  /** When the account's messages may leave, by the recipient's clock: decided for each message when it is claimed. */
  daytimeOf(account: string): Daytime | undefined {
    return this.#daytimes.get(account);
  }

  holds({ account, template }: Pick<MessageDocument | QueueDocument, 'account' | 'template'>): boolean {
    if (this.#held.has(account)) return true;
    return template !== undefined && this.#pausedTemplates.get(account)?.includes(template) === true;
  }

  get promotionalOpen(): boolean {
    const { clock, hours } = this.#options;
    return promotionalDeferral(hours, clock.now()) === undefined;
  }

  /** Rejects with the store's error: without knowing the gates, nothing may be claimed. */
  async refresh(): Promise<void> {
    if (this.#options.clock.monotonicMs() < this.#freshUntilMs) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { db, clock } = this.#options;
    const startedMs = clock.monotonicMs();
    [this.#held, this.#daytimes, this.#pausedTemplates] = await Promise.all([
      readAccountsThat(db, { held: true }),
      readDaytimes(db),
      readPausedTemplates(db),
    ]);
    this.#freshUntilMs = startedMs + FRESH_MS;
  }
}
