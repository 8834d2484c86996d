import type { Collection } from 'mongodb';
import type { MessageDocument } from '../../shared/messages/document/message.ts';
import type { QueueDocument } from '../../shared/messages/queue/queue-document.ts';
import { queueOf } from '../../shared/messages/queue/queue-store.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { Claimer, type Room } from '../../workers/smpp/claim/claim.ts';
import { openGates } from './gates.ts';
import { makeMessage } from './make.ts';
import { ManualClock } from './manual-clock.ts';
import { enqueue, enqueueWritten } from './queue.ts';
import { openTestStore, type TestStore } from './store.ts';

export interface TestClaimer {
  readonly claimer: Claimer;
  claim(room: Room, fromLane?: number): Promise<MessageDocument[]>;
}

/** A store with queued messages, and claimers that take them. */
export class ClaimWorld {
  readonly clock = new ManualClock();
  readonly store: TestStore;

  private constructor(store: TestStore) {
    this.store = store;
  }

  static async open(): Promise<ClaimWorld> {
    return new ClaimWorld(await openTestStore());
  }

  close(): Promise<void> {
    return this.store.close();
  }

  get messages(): Collection<MessageDocument> {
    return this.store.db.collection<MessageDocument>('messages');
  }

  get queue(): Collection<QueueDocument> {
    return queueOf(this.store.db);
  }

  /** Claims from these paths, whatever routes and other carriers say. */
  claimer(
    paths: readonly string[] = ['promotional', 'transactional'],
    carrier = 'c',
    db = this.store.db,
    held = () => true,
  ): TestClaimer {
    const gates = openGates(this.store.db, this.clock);
    const claimer = new Claimer({ db, clock: this.clock, carrier, epoch: 7, gates, held });
    return { claimer, claim: (room, fromLane = 0) => claimer.claim(room, { paths, fromLane }) };
  }

  async put(count: number, overrides: Partial<MessageDocument> = {}): Promise<MessageDocument[]> {
    const validUntil = new Date(this.clock.now().getTime() + 3_600_000);
    const account = overrides.account ?? newId('acc');
    const made = Array.from({ length: count }, () =>
      makeMessage({ account, validUntil, ...overrides, _id: newId('msg') }),
    );
    if (made.length === 0) return made;
    const { state = 'queued' } = overrides;
    if (state === 'queued') await enqueue(this.store.db, made, this.clock.now());
    else await enqueueWritten(this.store.db, made);
    return made;
  }

  async clear(): Promise<void> {
    await Promise.all([this.messages.deleteMany({}), this.queue.deleteMany({})]);
  }
}

export const room = (count: number): Room => ({ messages: count, segments: count });

export const ids = (claimed: readonly MessageDocument[]): readonly string[] => claimed.map((message) => message._id);

export const countBy = (claimed: readonly MessageDocument[], account: AccountId): number =>
  claimed.filter((message) => message.account === account).length;
