import type { Collection } from 'mongodb';
import { storeTrouble } from '../../platform/mongo/errors.ts';
import { findEachCommitted } from '../../platform/mongo/find-one.ts';
import { insertNew } from '../../platform/mongo/insert-new.ts';
import { updateEach } from '../../platform/mongo/update-each.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { MessageId } from '../../platform/runtime/ids.ts';
import type { AnyMessage } from '../document/any-message.ts';
import { applyChange, type Change, changeUpdate, explained } from '../document/change.ts';
import { withFallback } from '../document/fallback.ts';
import type { HistoryEntry } from '../document/message.ts';
import { STATES } from '../document/status.ts';
import { type FollowUpDeps, FollowUps, type Holder, type Stream, type Written, writeIntent } from './intents.ts';

/**
 * A settle is one decision about a message and its follow-up: its events (deliveries to webhooks), its line in the
 * queue if it is to be sent again, and its refund if it ended without having left. A group is settled by one intent,
 * one command that updates or inserts the messages, and one that inserts their events. If the process dies in between,
 * the next holder of the lease finds the intent and repeats the steps, which writes the same (intents.ts).
 */
export interface SettleItem<M extends AnyMessage> {
  /** As it was read, or as the claimer knows it. May be out of date. */
  readonly message: M;
  /** Undefined: nothing to change. Called again with the stored message if that has changed since. */
  decide(message: M): Change | undefined;
}

export interface SettlerOptions extends Holder, FollowUpDeps {
  readonly stream: Stream;
  /** Whether the message is only in the queue yet: it is inserted as the change leaves it (docs/decisions/0005). */
  isUnborn?(id: MessageId): boolean;
}

interface Open<M extends AnyMessage> {
  readonly item: SettleItem<M>;
  readonly index: number;
  readonly message: M;
  /** Not in `messages`, as far as we know. */
  readonly unborn: boolean;
}

interface Decided<M extends AnyMessage> extends Open<M> {
  readonly change: Change;
  readonly after: M;
}

/** A message that may have been written, with the states that it reached if so. */
interface Uncertain {
  readonly message: MessageId;
  readonly from: number;
  readonly states: readonly HistoryEntry['state'][];
}

/** Most rounds in which some message changed between read and write. */
const MAX_ROUNDS = 5;

export class Settler {
  readonly #options: SettlerOptions;
  readonly #messages: Collection<AnyMessage>;
  readonly #followUps: FollowUps;
  /** Messages of an earlier group whose answer was lost. They are read first, to see which were written. */
  #uncertain: readonly Uncertain[] = [];

  constructor(options: SettlerOptions) {
    this.#options = options;
    this.#messages = options.db.collection('messages');
    this.#followUps = new FollowUps(options);
  }

  /** Whether every message that was changed has had its follow-up. */
  get idle(): boolean {
    return this.#followUps.open.length === 0;
  }

  /** As `change`, and waits for the follow-up of the group too. */
  async settle<M extends AnyMessage>(items: readonly SettleItem<M>[]): Promise<(M | undefined)[]> {
    const settled = await this.change(items);
    await this.finishFollowUps();
    return settled;
  }

  /**
   * Settles one group; call it for one group at a time. Resolves when its messages are changed; their follow-up, which
   * the intent ensures, goes on beside the next group. Returns the messages as stored now, in the items' order;
   * undefined where nothing was to be changed.
   *
   * Throws the driver's error when the store fails: the caller may settle the same group again, or the next reader of
   * these messages decides anew; the next call finishes the follow-up of messages that were written. Throws
   * `LeaseLostError` when another holder was here.
   */
  async change<M extends AnyMessage>(items: readonly SettleItem<M>[]): Promise<(M | undefined)[]> {
    await this.ready();
    const settled = new Array<M | undefined>(items.length).fill(undefined);
    const written: Written[] = [];
    try {
      await this.#writeRounds(items, settled, written);
    } finally {
      // Also when a later round failed.
      this.#followUps.add(written);
    }
    if (written.length > 0) crashPoint('settle:updated');
    await this.#followUps.next();
    return settled;
  }

  /** Repeats the follow-up that failed for an earlier group, if any; does not wait for one in progress. */
  async ready(): Promise<void> {
    await this.#lookAgain();
    await this.#followUps.repeat();
  }

  /** Resolves when every follow-up is done, failed ones too. May be called at any time. */
  async finishFollowUps(): Promise<void> {
    await this.#lookAgain();
    await this.#followUps.finish();
  }

  /** Decides and writes; repeats it for messages that were changed meanwhile. Fills `settled` and `written`. */
  async #writeRounds<M extends AnyMessage>(
    items: readonly SettleItem<M>[],
    settled: (M | undefined)[],
    written: Written[],
  ): Promise<void> {
    const { isUnborn } = this.#options;
    let open: readonly Open<M>[] = items.map((item, index) => {
      const { message } = item;
      return { item, index, message, unborn: isUnborn?.(message._id) === true };
    });
    let intended = false;
    for (let round = 0; open.length > 0; round++) {
      if (round === MAX_ROUNDS) throw storeTrouble('messages changed faster than they could be settled');
      const decided = open.flatMap(decide);
      if (decided.length === 0) return;
      if (!intended && decided.some(hasFollowUp)) {
        const { db, stream } = this.#options;
        // With those whose follow-up is not done yet: this intent replaces theirs.
        const ids = [...this.#followUps.open, ...items.map(({ message }) => message._id)];
        await writeIntent(db, this.#options, stream, ids);
        crashPoint('settle:intended');
        intended = true;
      }
      const stored = await this.#write<M>(decided);
      const changed: Open<M>[] = [];
      for (const { item, index, message, change, after } of decided) {
        const fresh = stored === undefined ? after : stored.get(message._id);
        if (fresh === undefined) continue; // it is gone
        if (fresh !== after && !isWritten(fresh, change, after))
          changed.push({ item, index, message: fresh, unborn: false });
        else {
          settled[index] = fresh;
          if (hasFollowUp({ change, after })) {
            written.push({ message: fresh, entries: change.entries ?? [], again: fresh !== after });
          }
        }
      }
      open = changed;
    }
  }

  /** Undefined: all were written. Else the messages as stored, to compare each with its decision. */
  async #write<M extends AnyMessage>(decided: readonly Decided<M>[]): Promise<Map<MessageId, M> | undefined> {
    try {
      const { db } = this.#options;
      const born = decided.filter(({ unborn }) => !unborn);
      const updates = born.map(({ message, change }) => changeUpdate(message, change));
      const inserts = decided.flatMap(({ unborn, after }) => (unborn ? after : []));
      const written = await Promise.all([
        updates.length === 0 ? 0 : updateEach(db, 'messages', updates),
        inserts.length === 0 ? 0 : insertNew(db, 'messages', inserts),
      ]);
      return written[0] + written[1] === decided.length
        ? undefined
        : await this.#read<M>(decided.map(({ message }) => message._id));
    } catch (error) {
      this.#uncertain = decided.filter(hasFollowUp).map(({ message, change: { entries = [] } }) => ({
        message: message._id,
        from: message.v,
        states: entries.map(({ state }) => state),
      }));
      throw error;
    }
  }

  /**
   * The store may have done a write that it never answered, whose follow-up nobody else would finish: settling again
   * may find nothing to change, and the next group overwrites the intent. So each message gets another version, which
   * refuses a write that is still on its way. Then the messages are read from a majority (platform/mongo/find-one.ts),
   * and writes that were done are followed up.
   */
  async #lookAgain(): Promise<void> {
    const uncertain = this.#uncertain;
    if (uncertain.length === 0) return;
    const passed = uncertain.map(({ message, from }) => ({
      filter: { _id: message, v: from },
      update: { $inc: { v: 1 } },
    }));
    await updateEach(this.#options.db, 'messages', passed);
    const ids = new Set(uncertain.map(({ message }) => message));
    const found = await findEachCommitted(
      this.#messages,
      [...ids].map((_id) => ({ _id })),
    );
    const stored = new Map(found.map((message) => [message._id, message]));
    const written = uncertain.flatMap(({ message: id, states }) => {
      const message = stored.get(id);
      return message === undefined
        ? []
        : [{ message, entries: message.history.filter(({ state }) => states.includes(state)), again: true }];
    });
    this.#followUps.add(written, true);
    if (this.#uncertain === uncertain) this.#uncertain = [];
  }

  async #read<M extends AnyMessage>(ids: readonly MessageId[]): Promise<Map<MessageId, M>> {
    const stored = await this.#messages.find({ _id: { $in: [...ids] } }).toArray();
    return new Map(stored.map((message) => [message._id, message as M])); // a message never changes its channel
  }
}

function decide<M extends AnyMessage>(open: Open<M>): Decided<M>[] {
  const decided = open.item.decide(open.message);
  if (decided === undefined) return [];
  const change = withFallback(open.message, explained(decided));
  return [{ ...open, change, after: applyChange(open.message, change) }];
}

/** Events, a line in the queue, or a refund that may have waited for this news about copies. */
function hasFollowUp({ change, after }: Pick<Decided<AnyMessage>, 'change' | 'after'>): boolean {
  const isTold = (change.entries ?? []).length > 0;
  return isTold || change.state === 'queued' || (change.set?.earlier !== undefined && STATES[after.state].final);
}

/** Written by us, perhaps in a try whose answer was lost. Another stream may have changed it since. */
function isWritten(stored: AnyMessage, { entries = [] }: Change, after: AnyMessage): boolean {
  if (stored.v === after.v || entries.length === 0) return isAsDecided(stored, after);
  return entries.every(({ state, at }) =>
    stored.history.some((entry) => entry.state === state && entry.at.getTime() === at.getTime()),
  );
}

function isAsDecided(stored: AnyMessage, after: AnyMessage): boolean {
  return (
    stored.v === after.v &&
    stored.state === after.state &&
    stored.outcome === after.outcome &&
    stored.history.length === after.history.length &&
    JSON.stringify(stored.parts) === JSON.stringify(after.parts) &&
    JSON.stringify(stored.earlier) === JSON.stringify(after.earlier)
  );
}
