import type { Db } from 'mongodb';
import { PROVIDER_DEFAULTS, type ProviderDocument } from '../../shared/carriers/providers/provider.ts';
import type { Announcer } from '../../shared/events/webhooks/announce.ts';
import { isBehind } from '../../shared/messages/chat-inbox.ts';
import type { BusinessNumber, ChatMessageDocument } from '../../shared/messages/document/chat-message.ts';
import { CLAIM_HOLDER } from '../../shared/messages/document/message.ts';
import { oldestUnannounced, redoIntents, type Stream } from '../../shared/messages/settlement/intents.ts';
import type { MessageLog } from '../../shared/messages/settlement/message-log.ts';
import { Settler } from '../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../shared/messages/settlement/settle-outcomes.ts';
import { decideUnknowns, takeOverUnknowns } from '../../shared/messages/settlement/unknowns.ts';
import type { Lease } from '../../shared/platform/leases/lease.ts';
import type { Partitions } from '../../shared/platform/leases/leased-worker.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import type { Log } from '../../shared/platform/runtime/log.ts';
import type { ChatMetrics } from './metrics.ts';

/**
 * A partition of the accounts, while this process has its lease in one epoch. Settles run under this lease and epoch.
 * An expired lease may be renewed in the same epoch, so the partition stays, with what only this process knows.
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
  readonly messageLog: MessageLog;
}

/** Redoes earlier holders' unfinished work; their `submitting` messages become unknown. May be repeated. */
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
      // Statuses are looked up in the store: they rarely arrive in the same second as the answer.
      onKeys: () => {},
      onGroup: (size) => metrics.settleSize.observe(size),
    }),
    // The stream's name is that of SMS: a status is to a chat-app message what a receipt is to an SMS.
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

/** The partitions that this process holds, or held until their lease expired; each is taken once per epoch. */
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

  giveUp(): void {
    for (const { outcomes } of this.#held.values()) outcomes.giveUp();
  }
}

type Policy = ProviderDocument['unknownPolicy'];

const LOOK_MAX = 500;
/** An inbox is read several times a second: an item that has waited for this long is a backlog. */
const BACKLOG_MS = 2_000;

/** Whether any message of these partitions is claimed and not settled. One read for all, because mostly none is. */
export async function isAnyClaimed(db: Db, partitions: readonly HeldPartition[]): Promise<boolean> {
  const claimed = await db
    .collection<ChatMessageDocument>('messages')
    .findOne(
      { [CLAIM_HOLDER]: { $in: partitions.map(({ lease }) => lease) }, state: 'submitting' },
      { projection: { _id: 1 } },
    );
  return claimed !== null;
}

/**
 * Applies each number's policy to sends that have waited long enough for their answer, and finds claims that a frozen
 * earlier holder stored after its partition was taken over. Returns how many sends each policy decided, and how many
 * such claims there were. Throws when the store fails.
 *
 * Nothing is sent again while the account's inbox has a backlog: a status in it may say that it was delivered. If an
 * inbox is never worked off, its messages wait until their validity is over. Then they cannot be sent twice: the policy
 * decides, and they end as unconfirmed.
 */
export async function decideUnknownsOf(
  db: Db,
  clock: Clock,
  partition: HeldPartition,
  providerOf: (number: BusinessNumber) => ProviderDocument | undefined,
): Promise<{ readonly decided: ReadonlyMap<Policy, number>; readonly takenOver: number }> {
  const takenOver = await takeOverUnknowns(db, partition.lease, partition.epoch);
  const unknown = await db
    .collection<ChatMessageDocument>('messages')
    .find(
      { [CLAIM_HOLDER]: partition.lease, state: 'submitting', outcome: 'unknown' },
      { projection: { account: 1, from: 1, _id: 0 } },
    )
    .limit(LOOK_MAX)
    .toArray();
  const decided = new Map<Policy, number>();
  const senders = new Map(unknown.map(({ account, from }) => [`${account} ${from}`, { account, from }]));
  for (const sender of senders.values()) {
    const { account, from } = sender;
    const { unknownPolicy, unknownWaitMs } = providerOf(from) ?? PROVIDER_DEFAULTS;
    const holder = { _id: partition.lease, unknownPolicy, unknownWaitMs };
    const { unknowns: settler, messageLog } = partition;
    const backlog = new Date(clock.now().getTime() - BACKLOG_MS);
    const overOnly = unknownPolicy === 'resend' && (await isBehind(db, account, backlog));
    const { length: count } = await decideUnknowns({ db, clock, settler, holder, sender, overOnly, messageLog });
    if (count > 0) decided.set(unknownPolicy, (decided.get(unknownPolicy) ?? 0) + count);
  }
  return { decided, takenOver };
}
