import { expect } from 'chai';
import type { Db } from 'mongodb';
import { pauseAccount, setAccountStatus } from '../../../../shared/accounts/store.ts';
import { ClaimGates } from '../../../../shared/claim/claim-gates.ts';
import type { MessageDocument } from '../../../../shared/messages/message.ts';
import { DEFAULT_PROMOTIONAL_HOURS } from '../../../../shared/messages/promotional-hours.ts';
import { type AccountId, newId } from '../../../../shared/runtime/ids.ts';
import { createTemplate, setTemplatePaused } from '../../../../shared/templates/store.ts';
import { Claimer } from '../../../../workers/smpp/claim/claim.ts';
import { makeTemplate } from '../../../shared/templates/make.ts';
import { openGates } from '../../../support/gates.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../../support/store.ts';

describe('Claimer', () => {
  const clock = new ManualClock();
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());
  beforeEach(async () => {
    await messages().deleteMany({});
  });

  const messages = () => store.db.collection<MessageDocument>('messages');
  const claimer = (paths = ['transactional', 'promotional'], carrier = 'c') =>
    new Claimer({ db: store.db, clock, carrier, epoch: 7, paths, gates: openGates(store.db, clock) });
  const room = (count: number) => ({ messages: count, segments: count });
  const put = async (count: number, overrides: Partial<MessageDocument> = {}): Promise<MessageDocument[]> => {
    const validUntil = new Date(clock.now().getTime() + 3_600_000);
    const account = overrides.account ?? newId('acc');
    const made = Array.from({ length: count }, () =>
      makeMessage({ account, validUntil, ...overrides, _id: newId('msg') }),
    );
    if (made.length > 0) await messages().insertMany(made);
    return made;
  };
  const ids = (claimed: readonly MessageDocument[]) => claimed.map((message) => message._id);
  const countBy = (claimed: readonly MessageDocument[], account: AccountId) =>
    claimed.filter((message) => message.account === account).length;

  it('marks what it takes with carrier, epoch and a claim of its own, and returns it as stored', async () => {
    await put(2);

    const claimed = await claimer().claim(room(10));

    const stored = await messages().find().toArray();
    expect(claimed).to.have.deep.members(stored);
    expect(stored.every(({ state, v }) => state === 'submitting' && v === 1)).to.equal(true);
    expect(stored[0]?.claim).to.include({ carrier: 'c', epoch: 7 });
  });

  it('takes no more than there is room for, the oldest of an account first', async () => {
    const queued = await put(10);

    const claimed = await claimer().claim(room(4));

    expect(ids(claimed)).to.deep.equal(ids(queued.slice(0, 4)));
  });

  it('counts segments; only the last message may be longer than what is left', async () => {
    await put(10, { segments: 3 });

    const claimed = await claimer().claim({ messages: 7, segments: 7 });

    expect(claimed).to.have.length(3);
  });

  it('takes only from its paths', async () => {
    await put(3, { path: 'promotional' });

    expect(await claimer(['transactional']).claim(room(10))).to.deep.equal([]);
  });

  it('leaves alone what is not queued, and what has expired', async () => {
    await put(2, { state: 'waiting' });
    await put(2, { state: 'sent' });
    await put(2, { validUntil: clock.now() });

    expect(await claimer().claim(room(10))).to.deep.equal([]);
  });

  it('two claimers never get the same message, and together get all', async () => {
    const queued = await put(60);
    const [a, b] = [claimer(undefined, 'a'), claimer(undefined, 'b')];

    const taken = await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? a : b).claim(room(10))));
    for (let more = await a.claim(room(10)); more.length > 0; more = await a.claim(room(10))) taken.push(more);

    expect(ids(taken.flat())).to.have.length(60);
    expect(new Set(ids(taken.flat()))).to.deep.equal(new Set(ids(queued)));
  });

  describe('gates', () => {
    const GATES_MS = 2_000;
    /** Asks until what was read ahead or thought empty is read again. */
    async function claimAll(worker: Claimer, count: number): Promise<MessageDocument[]> {
      const claimed: MessageDocument[] = [];
      for (let turn = 0; turn < 10; turn++) {
        claimed.push(...(await worker.claim(room(count))));
        clock.turn(100);
      }
      return claimed;
    }

    for (const [what, hold] of [
      ['suspended', (id: AccountId) => setAccountStatus(store.db, id, 'suspended')],
      ['paused', (id: AccountId) => pauseAccount(store.db, id)],
    ] as const) {
      it(`what a ${what} account has waiting waits, unchanged, and leaves when it is resumed`, async () => {
        const [held, other] = [await makeAccount(store.db, 0), await makeAccount(store.db, 0)];
        const waiting = await put(30, { account: held });
        const free = await put(30, { account: other });
        await hold(held);
        const worker = claimer();

        expect(ids(await claimAll(worker, 20))).to.have.members(ids(free));
        const stored = await messages().find({ account: held }).toArray();
        expect(stored).to.have.deep.members(waiting);

        await setAccountStatus(store.db, held, 'active');
        clock.turn(GATES_MS);
        expect(ids(await claimAll(worker, 20))).to.have.members(ids(waiting));
      });
    }

    it('a pause is seen by a worker that is claiming, 2 seconds later', async () => {
      const account = await makeAccount(store.db, 0);
      await put(40, { account });
      const worker = claimer();
      expect(await worker.claim(room(10))).to.have.length(10);

      await pauseAccount(store.db, account);
      clock.turn(GATES_MS);

      expect(await claimAll(worker, 10)).to.deep.equal([]);
      await setAccountStatus(store.db, account, 'active');
    });

    it('many held accounts with backlogs stand before nobody, in any lane', async () => {
      const held = await Promise.all(Array.from({ length: 25 }, () => makeAccount(store.db, 0)));
      const other = await makeAccount(store.db, 0);
      for (const account of held) {
        await put(20, { account });
        await put(5, { account, lane: 0 });
        await pauseAccount(store.db, account);
      }
      const free = [...(await put(5, { account: other })), ...(await put(5, { account: other, lane: 2 }))];

      expect(ids(await claimAll(claimer(), 10))).to.have.members(ids(free));
      for (const account of held) await setAccountStatus(store.db, account, 'active');
    });

    describe('a paused template', () => {
      const PAUSED = '1107160000000000001';
      const FREE = '1107160000000000002';
      async function withTemplate(): Promise<AccountId> {
        const account = await makeAccount(store.db, 0);
        await createTemplate(store.db, clock, account, makeTemplate({ dltId: PAUSED }));
        await setTemplatePaused(store.db, account, PAUSED, true);
        return account;
      }

      it('holds its messages, unchanged, and no others, until it is resumed', async () => {
        const account = await withTemplate();
        const other = await makeAccount(store.db, 0);
        const waiting = await put(40, { account, template: PAUSED });
        const free = [
          ...(await put(12, { account, template: FREE })),
          ...(await put(3, { account })),
          ...(await put(12, { account: other, template: PAUSED })),
        ];
        const worker = claimer();

        expect(ids(await claimAll(worker, 5))).to.have.members(ids(free));
        const stored = await messages().find({ account, template: PAUSED }).toArray();
        expect(stored).to.have.deep.members(waiting);

        await setTemplatePaused(store.db, account, PAUSED, false);
        clock.turn(GATES_MS);
        expect(ids(await claimAll(worker, 20))).to.have.members(ids(waiting));
      });

      it('lets go what comes behind a backlog of it', async () => {
        const account = await withTemplate();
        await put(60, { account, template: PAUSED });
        const worker = claimer();
        expect(await claimAll(worker, 5)).to.deep.equal([]);

        const late = await put(2, { account, template: FREE });

        expect(ids(await claimAll(worker, 5))).to.have.members(ids(late));
        await setTemplatePaused(store.db, account, PAUSED, false);
      });
    });

    it('promotional messages under DLT leave within their hours only, everything else at any time', async () => {
      // 10:00 to 21:00 in India is 04:30 to 15:30 UTC.
      const day = new ManualClock(new Date('2026-11-21T15:29:59Z'));
      const gates = new ClaimGates({ db: store.db, clock: day, hours: DEFAULT_PROMOTIONAL_HOURS });
      const paths = ['transactional', 'promotional'];
      const worker = new Claimer({ db: store.db, clock: day, carrier: 'c', epoch: 7, paths, gates });
      const validUntil = new Date('2026-11-25T00:00:00Z');
      const put2 = (lane: number) => put(2, { path: lane > 2 ? 'promotional' : 'transactional', lane, validUntil });
      const claim = async (): Promise<number[]> => {
        const lanes: number[] = [];
        for (let turn = 0; turn < 4; turn++) {
          lanes.push(...(await worker.claim(room(3))).map(({ lane }) => lane));
          day.turn(100);
        }
        return lanes.sort();
      };

      for (const lane of [0, 3, 4]) await put2(lane);
      expect(await claim()).to.deep.equal([0, 0, 3, 3, 4, 4]);

      day.turn(1_000); // 21:00
      for (const lane of [0, 3, 4]) await put2(lane);
      expect(await claim()).to.deep.equal([0, 0, 3, 3]);

      day.turn(13 * 3_600_000); // 10:00
      expect(await claim()).to.deep.equal([4, 4]);
    });
  });

  it('a claim whose answer was lost is found again: its messages are not forgotten', async () => {
    const queued = await put(5);
    let lost = true;
    const worker = new Claimer({
      db: losingAnswers(store.db, () => lost),
      clock,
      carrier: 'c',
      epoch: 7,
      paths: ['transactional'],
      gates: openGates(store.db, clock),
    });

    const failed = await worker.claim(room(5)).catch((error: unknown) => error);
    lost = false;
    const claimed = await worker.claim(room(5));

    expect(failed).to.be.instanceOf(Error);
    expect(ids(claimed)).to.have.members(ids(queued));
  });

  it('takes higher lanes first', async () => {
    const low = await put(5, { lane: 3, path: 'promotional' });
    const high = await put(5, { lane: 0 });
    const middle = await put(5, { lane: 1 });

    const claimed = await claimer().claim(room(7));

    expect(ids(claimed)).to.include.members(ids(high));
    expect(ids(claimed)).to.include.members(ids(middle.slice(0, 2)));
    expect(ids(claimed)).not.to.include.members(ids(low.slice(0, 1)));
  });

  it('a lower lane gets its share while a higher one never ends', async () => {
    await put(400, { lane: 1 });
    await put(50, { lane: 3, path: 'promotional' });
    const worker = claimer();

    const claimed: MessageDocument[] = [];
    for (let i = 0; i < 20; i++) claimed.push(...(await worker.claim(room(10))));

    const low = claimed.filter((message) => message.lane === 3).length;
    expect(claimed).to.have.length(200);
    expect(low).to.be.within(10, 30);
  });

  it('the backlog of one account stands before no other', async () => {
    await put(300);
    const small = await put(1);
    const other = await put(3);
    const worker = claimer();

    const claimed = [...(await worker.claim(room(20))), ...(await worker.claim(room(20)))];

    expect(ids(claimed)).to.include.members(ids([...small, ...other]));
  });

  for (const count of [2, 3, 7, 30]) {
    it(`${count} accounts with equal backlogs get equal parts`, async () => {
      const accounts = Array.from({ length: count }, () => newId('acc'));
      for (const account of accounts) await put(Math.ceil(600 / count), { account });
      const worker = claimer();

      const claimed: MessageDocument[] = [];
      while (claimed.length < 300) claimed.push(...(await worker.claim(room(20))));

      const counts = accounts.map((account) => countBy(claimed, account));
      // A few more or less: one turn of an account.
      expect(Math.max(...counts) - Math.min(...counts), `${counts}`).to.be.at.most(20);
    });
  }

  /** Messages claimed while what was read ahead is believed: it is cut off in the middle of an account's turn. */
  for (const [count, used] of [
    [2, 7],
    [2, 13],
    [3, 8],
    [6, 12],
  ] as const) {
    it(`none of ${count} accounts gets ahead by more than a turn or two, at ${used} messages a reading`, async () => {
      const accounts = Array.from({ length: count }, () => newId('acc'));
      for (const account of accounts) await put(60, { account });
      const worker = claimer();

      const counts = new Map(accounts.map((account) => [account, 0]));
      for (let round = 0; round < 20; round++) {
        for (let i = 0; i < used; i++) {
          for (const { account } of await worker.claim(room(1))) counts.set(account, (counts.get(account) ?? 0) + 1);
        }
        clock.turn(51);
        if (Math.max(...counts.values()) > 50) break;
        const lead = Math.max(...counts.values()) - Math.min(...counts.values());
        expect(lead, `round ${round}: ${[...counts.values()]}`).to.be.at.most(10);
      }
    });
  }

  it('goes on when reads at once gave more than there is room for', async () => {
    const accounts = [newId('acc'), newId('acc'), newId('acc')].sort();
    for (const [i, account] of accounts.entries()) await put(i === 1 ? 9 : 100, { account });
    const worker = claimer();

    const sizes: number[] = [];
    for (const [count, laterMs] of [5, 5, 11, 11, 11, 11, 11, 11].map(
      (size, i) => [size, i < 5 ? 51 : 5_000] as const,
    )) {
      sizes.push((await worker.claim(room(count))).length);
      clock.turn(laterMs);
    }

    expect(sizes).to.deep.equal([5, 5, 11, 11, 11, 11, 11, 11]);
  });

  it('an account that comes between others in a backlog has its turn like them', async () => {
    const accounts = Array.from({ length: 9 }, () => newId('acc'));
    const late = accounts.splice(4, 1);
    for (const account of accounts) await put(100, { account });
    const worker = claimer();
    const claimOften = async (times: number): Promise<MessageDocument[]> => {
      const claimed: MessageDocument[] = [];
      for (let i = 0; i < times; i++) claimed.push(...(await worker.claim(room(40))));
      clock.turn(51); // what was read ahead is out of date
      return claimed;
    };
    await claimOften(4);

    for (const account of late) await put(100, { account });
    const claimed = await claimOften(9);

    const counts = [...accounts, ...late].map((account) => countBy(claimed, account));
    expect(new Set(ids(claimed)).size).to.equal(360);
    expect(Math.max(...counts) - Math.min(...counts), `${counts}`).to.be.at.most(20);
  });

  it('one account alone fills the room', async () => {
    await put(100);
    const worker = claimer();

    const sizes = [];
    for (let i = 0; i < 3; i++) sizes.push((await worker.claim(room(30))).length);

    expect(sizes).to.deep.equal([30, 30, 30]);
  });

  it('sees soon what comes into an empty higher lane during a backlog', async () => {
    await put(300, { lane: 2 });
    const worker = claimer();
    await worker.claim(room(10));
    await worker.claim(room(10));

    const otp = await put(1, { lane: 0 });
    clock.turn(100);

    expect(ids(await worker.claim(room(10)))).to.include.members(ids(otp));
  });
});

/** The store behind a network that loses the answers to updates of many: they are done, and nobody hears of it. */
function losingAnswers(db: Db, loses: () => boolean): Db {
  return new Proxy(db, {
    get(target, name) {
      if (name !== 'collection') return Reflect.get(target, name);
      return (collection: string) =>
        new Proxy(target.collection(collection), {
          get(inner, method) {
            const member: unknown = Reflect.get(inner, method);
            if (typeof member !== 'function') return member;
            if (method !== 'updateMany') return member.bind(inner);
            return async (...args: unknown[]) => {
              const answer: unknown = await member.apply(inner, args);
              if (loses()) throw new Error('the answer was lost');
              return answer;
            };
          },
        });
    },
  });
}
