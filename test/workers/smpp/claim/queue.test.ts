import { expect } from 'chai';
import type { MessageDocument } from '../../../../shared/messages/message.ts';
import { type AccountId, newId } from '../../../../shared/runtime/ids.ts';
import { Queue } from '../../../../workers/smpp/claim/queue.ts';
import { openGates } from '../../../support/gates.ts';
import { makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { Prng } from '../../../support/prng.ts';
import { openTestStore, type TestStore } from '../../../support/store.ts';

const SEEDS = 40;
const PASSES = 6;

describe('Queue', () => {
  const clock = new ManualClock();
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  const messages = () => store.db.collection<MessageDocument>('messages');
  const newQueue = () => new Queue({ db: store.db, clock, gates: openGates(store.db, clock) }, 'transactional', 1);

  async function read(queue: Queue, servedLast: AccountId, wanted: number): Promise<readonly string[]> {
    queue.claimed(makeMessage({ account: servedLast }));
    return (await queue.next(wanted)).slice(0, wanted).map(({ _id }) => _id);
  }

  for (let seed = 1; seed <= SEEDS; seed++) {
    it(`reads what one would that has never read before (seed ${seed})`, async () => {
      const random = new Prng(seed);
      const upTo = (most: number): number => random.below(most + 1);
      const sometimes = (percent: number): boolean => random.below(100) < percent;
      const accounts: AccountId[] = [];
      const put = async (account: AccountId, count: number): Promise<void> => {
        const validUntil = new Date(clock.now().getTime() + 3_600_000);
        const made = Array.from({ length: count }, () =>
          makeMessage({ account, validUntil, path: 'transactional', lane: 1, _id: newId('msg') }),
        );
        if (made.length > 0) await messages().insertMany(made);
      };
      const join = async (): Promise<void> => {
        const account: AccountId = `acc_${String(upTo(99_999)).padStart(5, '0')}`;
        accounts.push(account);
        await put(account, sometimes(50) ? upTo(12) : 20 + upTo(60));
      };
      await messages().deleteMany({});
      await put('acc_50000', 150); // the queue is a long one
      for (let i = upTo(20); i >= 0; i--) await join();
      const experienced = newQueue();

      for (let pass = 0; pass < PASSES; pass++) {
        clock.turn(1_000); // that the queue is long is asked again
        const wanted = 1 + upTo(200);
        const servedLast = accounts[upTo(accounts.length)] ?? 'acc_';
        const fresh = await read(newQueue(), servedLast, wanted);

        expect(await read(experienced, servedLast, wanted), `pass ${pass}, ${wanted} wanted`).to.deep.equal(fresh);

        const gone = accounts[upTo(accounts.length - 1)];
        if (gone !== undefined && sometimes(50)) await messages().deleteMany({ account: gone });
        else await messages().deleteMany({ _id: { $in: fresh.slice(0, upTo(60)) as MessageDocument['_id'][] } });
        if (sometimes(70)) await join();
        await put('acc_50000', 40);
      }
    });
  }
});
