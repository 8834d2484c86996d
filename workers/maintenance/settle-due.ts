import type { Db, Filter } from 'mongodb';
import type { AnyMessage } from '../../shared/messages/document/any-message.ts';
import type { Settler } from '../../shared/messages/settlement/settle.ts';
import type { Clock } from '../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../shared/platform/runtime/ids.ts';
import { decideDue } from './decide-due.ts';

/** The most messages in one group. A large backlog, for example after a carrier was down for two days, takes several. */
const GROUP_MAX = 200;

/** What an account has due at one moment. */
interface Run {
  readonly due: Date;
  readonly account: AccountId;
}

/**
 * Settles messages whose `due` has come, the longest overdue first, a group at a time. A full group ends within the run of an account,
 * and the next group begins behind that run. So when the daytime of a campaign begins, a million messages are due at the same moment
 * and what others have due waits for a group, not for all of them.
 */
export class DueMessages {
  readonly #db: Db;
  readonly #settler: Settler;
  readonly #clock: Clock;
  /** Where the next group begins, and what was due when the first of this way began: behind it begins the next way. */
  #onward: { readonly behind: Run; readonly until: Date } | undefined;

  constructor({ db, settler, clock }: { readonly db: Db; readonly settler: Settler; readonly clock: Clock }) {
    this.#db = db;
    this.#settler = settler;
    this.#clock = clock;
  }

  /** Returns how many there were. If nothing is due, still finishes the events and refunds of earlier groups. */
  async settleGroup(): Promise<number> {
    await this.#settler.finishFollowUps();
    const onward = this.#onward;
    const until = onward?.until ?? this.#clock.now();
    const found = onward === undefined ? await this.#read(until) : await this.#readBehind(onward.behind, until);
    const last = found.at(-1);
    this.#onward =
      found.length === GROUP_MAX && last?.due !== undefined
        ? { behind: { due: last.due, account: last.account }, until }
        : undefined;
    if (found.length === 0) return onward === undefined ? 0 : this.settleGroup();
    await this.#settler.settle(
      found.map((message) => ({
        message,
        decide: (current) => (isDue(current, this.#clock.now()) ? decideDue(current, this.#clock.now()) : undefined),
      })),
    );
    return found.length;
  }

  async #readBehind({ due, account }: Run, until: Date): Promise<readonly AnyMessage[]> {
    const found = await this.#find({ due, account: { $gt: account } }, GROUP_MAX);
    return found.length === GROUP_MAX ? found : [...found, ...(await this.#read(until, due, GROUP_MAX - found.length))];
  }

  #read(until: Date, after?: Date, limit = GROUP_MAX): Promise<readonly AnyMessage[]> {
    return this.#find({ due: { $lte: until, ...(after && { $gt: after }) } }, limit);
  }

  #find(filter: Filter<AnyMessage>, limit: number): Promise<readonly AnyMessage[]> {
    return this.#db.collection<AnyMessage>('messages').find(filter).sort({ due: 1, account: 1 }).limit(limit).toArray();
  }
}

/** Another process may have settled it since it was read. */
function isDue(message: AnyMessage, now: Date): boolean {
  return message.due !== undefined && message.due <= now;
}
