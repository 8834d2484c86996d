import type { Db } from 'mongodb';
import type { StateChange } from '../../events/catalogue.ts';
import type { Announcer } from '../../events/webhooks/announce.ts';
import { systemClock } from '../../platform/runtime/clock.ts';
import { crashPoint } from '../../platform/runtime/crash-point.ts';
import type { MessageId } from '../../platform/runtime/ids.ts';
import { refundByChannel } from '../channels/channels.ts';
import type { AnyMessage } from '../document/any-message.ts';
import type { HistoryEntry, MessageDocument } from '../document/message.ts';
import { requeue } from '../queue/queue-store.ts';

export interface FollowUpDeps {
  readonly db: Db;
  readonly announcer: Announcer;
}

/** A message that was written, with its new history entries. */
export interface Written {
  readonly message: AnyMessage;
  readonly entries: readonly HistoryEntry[];
  /** Whether this was learned by reading: then it may have been written, and told, before. */
  readonly again: boolean;
}

/** What is to be announced: changes that were surely never announced, and others. */
interface Told {
  readonly fresh: readonly StateChange[];
  readonly again: readonly StateChange[];
}

/**
 * Least time from the start of one follow-up to the start of the next, while fewer messages wait for it than this. All events for one
 * endpoint that it has are one document, which is written twice: so the longer this is, the fewer. Nobody waits for a follow-up but
 * the receiver of the webhook.
 */
const GAP_MS = 60;
const WAITING_MAX = 200;

/**
 * The follow-up of the groups of one stream: one at a time, in their order, beside the changes of the next groups. A follow-up that
 * fails is repeated before the next change. Until it is done its messages are `open`: every new intent must name them too.
 */
export class FollowUps {
  readonly #deps: FollowUpDeps;
  #due: readonly Written[] = [];
  #beganMs = Number.NEGATIVE_INFINITY;
  /** What is due should have been done before: it failed, or nobody knew of it. */
  #late = false;
  /** Until the gap is over. */
  #timer: NodeJS.Timeout | undefined;
  /** The first of `due` that a follow-up has begun with. A repeat has the same ones: they are announced in groups. */
  #begun: (Told & { readonly count: number }) | undefined;
  #inProgress: Promise<void> | undefined;

  constructor(deps: FollowUpDeps) {
    this.#deps = deps;
  }

  get open(): readonly MessageId[] {
    return this.#due.map(({ message }) => message._id);
  }

  /** `late`: they were written some time ago. */
  add(written: readonly Written[], late = false): void {
    this.#due = [...this.#due, ...written];
    if (written.length > 0 && late) this.#late = true;
  }

  /** Waits for the follow-up in progress; then the next has all that is due, and begins when the gap is over. Never throws. */
  async next(): Promise<void> {
    await this.#inProgress?.catch(() => undefined);
    const waitMs = this.#beganMs + GAP_MS - systemClock.monotonicMs();
    if (waitMs <= 0 || this.#due.length >= WAITING_MAX)
      this.#begin().catch(() => undefined); // `repeat` throws the error.
    else this.#timer ??= setTimeout(() => this.#begin().catch(() => undefined), waitMs);
  }

  /** Does what is late, unless a follow-up is in progress. Throws when it fails again. */
  async repeat(): Promise<void> {
    if (this.#late && this.#inProgress === undefined) await this.#begin();
  }

  /** Resolves when all is done. Throws when a follow-up fails. */
  async finish(): Promise<void> {
    await this.#inProgress;
    await this.#begin();
  }

  /** The follow-up in progress, or a new one. */
  #begin(): Promise<void> {
    if (this.#inProgress !== undefined) return this.#inProgress;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#due.length > 0) this.#beganMs = systemClock.monotonicMs();
    this.#late = true;
    this.#inProgress = this.#doDue().finally(() => {
      this.#inProgress = undefined;
    });
    return this.#inProgress;
  }

  async #doDue(): Promise<void> {
    for (let left = this.#due.length; left > 0; ) {
      const due = this.#due.slice(0, this.#begun?.count ?? left);
      this.#begun ??= {
        count: left,
        fresh: due.filter(({ again }) => !again).flatMap(changesOf),
        again: due.filter(({ again }) => again).flatMap(changesOf),
      };
      const messages = due.map(({ message }) => message);
      await followUp(this.#deps, this.#begun, messages);
      this.#begun = undefined;
      this.#due = this.#due.slice(due.length);
      left -= due.length;
    }
    this.#late = false;
  }
}

function changesOf({ message, entries }: Written): readonly StateChange[] {
  return entries.map((entry) => ({ message, entry }));
}

/** Follow-up of written changes: their events, then the lines of `messages` that wait again, then refunds. May be repeated. */
export async function followUp(
  { db, announcer }: FollowUpDeps,
  { fresh, again }: Told,
  messages: readonly AnyMessage[],
): Promise<void> {
  if (again.length > 0) await announcer.announce(again, 'again');
  if (fresh.length > 0) await announcer.announce(fresh, 'grouped');
  crashPoint('settle:announced');
  await requeue(db, messages.filter(waitsAgain));
  await refundByChannel(db, messages);
}

function waitsAgain(message: AnyMessage): message is MessageDocument {
  return message.channel === 'sms' && message.state === 'queued';
}
