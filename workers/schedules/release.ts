import assert from 'node:assert/strict';
import type { Db } from 'mongodb';
import { readTable } from '../../shared/carriers/routing/store.ts';
import { placementOf } from '../../shared/carriers/routing/table.ts';
import { releaseBooked } from '../../shared/messages/batch.ts';
import { type MessageDocument, queuedMessage } from '../../shared/messages/document/message.ts';
import { readQueued, requeue } from '../../shared/messages/queue/queue-store.ts';
import {
  claimDue,
  endOfValidity,
  findDue,
  findDueOf,
  firstWaiting,
  markSent,
  REDO_MS,
  type ScheduleDocument,
  scheduledMessageId,
} from '../../shared/messages/schedule.ts';
import { refundCancelled } from '../../shared/money/payment/cancel-schedule.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../shared/platform/runtime/crash-point.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';

export interface ReleaseDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly turns: DueTurns;
}

export interface Release {
  readonly found: number;
  readonly released: number;
}

/**
 * Works off one group of due schedules. One atomic update claims them: from then on they count as released and cannot
 * be cancelled. Then their messages are stored, with ids fixed at booking, or their batches are handed on. A release or
 * refund that a dead worker left is repeated and writes the same.
 */
export async function releaseDue({ db, clock, turns }: ReleaseDeps, upTo: Date): Promise<Release> {
  const found = await turns.next(upTo);
  if (found.length === 0) return { found: 0, released: 0 };
  const now = clock.now();
  const claim = { id: newId('clm', now.getTime()), now, upTo, redoAt: new Date(now.getTime() + REDO_MS) };
  const claimed = await claimDue(db, found, claim);

  if (claimed.length > 0) crashPoint('release:claimed');
  const sending = claimed.filter(({ state }) => state === 'sending');
  const table = await readTable(db);
  // Routes may have changed since the booking.
  const messages = sending.flatMap(releasedMessage).map((message) => ({ ...message, ...placementOf(table, message) }));
  // `requeue` stores the messages first: those that a dead worker released, and that have left, get no lines.
  await requeue(db, await readQueued(db, messages));
  for (const schedule of sending) await releaseBatch(db, schedule);
  if (sending.length > 0) crashPoint('release:inserted');
  if (sending.length > 0) {
    await markSent(
      db,
      sending.map(({ _id }) => _id),
    );
  }
  await refundCancelled(
    db,
    claimed.filter(({ state }) => state === 'cancelled'),
  );
  return { found: found.length, released: sending.length };
}

/** Empty if the schedule has a batch. Pure: every call gives the same message. */
function releasedMessage(schedule: ScheduleDocument): readonly MessageDocument[] {
  const { account, group, content, releasedAt } = schedule;
  assert(content !== undefined && releasedAt !== undefined, 'what is being sent was claimed and has its content');
  if (content.kind !== 'message') return [];
  const { validUntil: _, validForMs: __, ...words } = content.message;
  const validUntil = endOfValidity(content.message, releasedAt);
  return [queuedMessage(account, group, { ...words, _id: scheduledMessageId(schedule), validUntil })];
}

async function releaseBatch(db: Db, { batch, group, content, releasedAt }: ScheduleDocument): Promise<void> {
  if (batch === undefined || content?.kind !== 'batch') return;
  assert(releasedAt !== undefined, 'what is being sent was claimed');
  await releaseBooked(db, batch, group, endOfValidity(content.validity, releasedAt));
}

/** The store runs a command in one piece, so other commands wait some 20 ms. */
const GROUP_MAX = 250;
/**
 * How many of them are taken by account in rotation: only schedules that wait for their release. The rest are the
 * longest due, among them releases and refunds that a dead worker left.
 */
const TURNS_MAX = GROUP_MAX / 2;
const QUOTA = 25;
/** The most accounts looked at for one group. Each costs a read, also one whose bookings are all for later. */
const LOOKS_MAX = 50;

/** In a backlog, accounts take turns: nobody waits behind thousands that another account booked for the same time. */
export class DueTurns {
  readonly #db: Db;
  #behind: AccountId | '' = '';

  constructor(db: Db) {
    this.#db = db;
  }

  /** Empty when nothing is due by `upTo`. Takes one read if there is no backlog. */
  async next(upTo: Date): Promise<readonly ScheduleDocument[]> {
    const longestDue = await findDue(this.#db, upTo, GROUP_MAX);
    if (longestDue.length < GROUP_MAX) return longestDue;
    const others = await this.#others(upTo, new Set(longestDue.map(({ account }) => account)));
    return [...others, ...longestDue.slice(0, GROUP_MAX - others.length)];
  }

  async #others(upTo: Date, served: ReadonlySet<AccountId>): Promise<readonly ScheduleDocument[]> {
    const found: ScheduleDocument[] = [];
    for (let looks = 0; looks < LOOKS_MAX && found.length < TURNS_MAX; looks++) {
      const first = await firstWaiting(this.#db, this.#behind);
      this.#behind = first?.account ?? '';
      if (first === undefined) break;
      if (first.at > upTo || served.has(first.account)) continue;
      found.push(...(await findDueOf(this.#db, first.account, upTo, Math.min(QUOTA, TURNS_MAX - found.length))));
    }
    return found;
  }
}
