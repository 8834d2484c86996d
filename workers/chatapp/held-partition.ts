import type { Db } from 'mongodb';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import type { ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { oldestUnannounced, redoIntents, type Stream } from '../../shared/messages/settlement/intents.ts';
import type { MessageLog } from '../../shared/messages/settlement/message-log.ts';
import { Settler } from '../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../shared/messages/settlement/settle-outcomes.ts';
import { takeOverUnknowns } from '../../shared/messages/settlement/unknowns.ts';
import type { Lease } from '../../shared/platform/leases/lease.ts';
import type { Partitions } from '../../shared/platform/leases/partitions.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import type { ChatMetrics } from './metrics.ts';

/**
 * A partition of the accounts, while its lease is this process's in one epoch. Settles run under this lease and epoch. A lease
 * that has run out may be renewed in the same epoch, so the partition stays, with what only this process knows.
 */
export interface HeldPartition {
  readonly lease: string;
  readonly epoch: number;
  /** Four streams, so that sends, statuses, unknowns and fallbacks are settled at the same time. */
  readonly outcomes: OutcomeSettler<ChatMessageDocument>;
  readonly statuses: Settler;
  readonly unknowns: Settler;
  readonly fallbacks: Settler;
  readonly messageLog: MessageLog;
  /** Whether the lease is held at this moment. */
  held(): boolean;
  /** Whether the epoch is over: nothing of it can be settled any more. */
  lost(): boolean;
}

interface TakeOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ChatMetrics;
  readonly announcer: Announcer;
  readonly lease: Lease;
  /** Keeps unusual answers of providers for the timelines. */
  readonly messageLog: MessageLog;
}

/**
 * Takes over a partition: redoes what an earlier holder may have left unfinished, and marks messages that it left
 * `submitting` as unknown. Throws when the store fails. Taking the partition again is harmless.
 */
export async function takePartition(options: TakeOptions): Promise<HeldPartition> {
  const { db, clock, log, metrics, announcer, lease, messageLog } = options;
  const { name, epoch } = lease;
  await redoIntents(db, announcer, name, epoch, oldestUnannounced(clock.now()));
  const unknown = await takeOverUnknowns(db, name, epoch);
  if (unknown > 0) metrics.takenOver.inc(unknown);
  log.info('partition_taken', { lease: name, epoch, unknown });
  const settler = (stream: Stream): Settler => new Settler({ db, announcer, lease: name, epoch, stream });
  return {
    lease: name,
    epoch,
    outcomes: new OutcomeSettler<ChatMessageDocument>({
      clock,
      log,
      settler: settler('outcomes'),
      messageLog,
      // Statuses are looked up in the store, because they rarely arrive in the same second as the answer.
      onKeys: () => {},
      onGroup: (size) => metrics.settleSize.observe(size),
    }),
    // The stream has the name that it has for SMS: a status is to a chat-app message what a receipt is to an SMS.
    statuses: settler('receipts'),
    unknowns: settler('unknowns'),
    fallbacks: settler('fallbacks'),
    messageLog,
    held: () => lease.held && lease.epoch === epoch,
    lost: () => lease.epoch !== epoch,
  };
}

interface HeldPartitionsOptions extends Omit<TakeOptions, 'lease'> {
  readonly partitions: Partitions;
  readonly leases: readonly TakeOptions['lease'][];
}

/** The partitions that this process holds, or held until their lease ran out. Each is taken once in each epoch of its lease. */
export class HeldPartitions {
  readonly #options: HeldPartitionsOptions;
  readonly #held = new Map<number, HeldPartition>();

  constructor(options: HeldPartitionsOptions) {
    this.#options = options;
  }

  /** Takes new partitions and drops lost ones. Throws when the store fails; partitions taken before that stay taken. */
  async update(): Promise<void> {
    const { partitions, leases } = this.#options;
    for (const [number, partition] of this.#held) {
      if (!partition.lost()) continue;
      partition.outcomes.giveUp();
      this.#held.delete(number);
    }
    for (const number of partitions.owned()) {
      const lease = leases[number];
      if (lease === undefined || this.#held.has(number)) continue;
      const partition = await takePartition({ ...this.#options, lease });
      if (!partition.lost()) this.#held.set(number, partition);
    }
  }

  /** Undefined when another process serves the account, or is about to. */
  of(account: AccountId): HeldPartition | undefined {
    const { partitions } = this.#options;
    if (!partitions.owns(account)) return undefined;
    const partition = this.#held.get(partitions.of(account));
    return partition?.held() ? partition : undefined;
  }

  all(): readonly HeldPartition[] {
    return [...this.#held.values()].filter((partition) => partition.held());
  }

  /** Stops retrying to store, because the process ends. */
  giveUp(): void {
    for (const { outcomes } of this.#held.values()) outcomes.giveUp();
  }
}
