import type { Db } from 'mongodb';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { isMixed, MIXED, queueDocuments, WRITE_OUT_MS } from '../../../../shared/messages/queue/queue-document.ts';
import {
  findInQueue,
  insertFirst,
  takeOverClaims,
  writeAllOut,
  writeOut,
} from '../../../../shared/messages/queue/queue-store.ts';
import { readQueues } from '../../../../shared/messages/queue/waiting-lanes.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../../../shared/messages/settlement/settle-outcomes.ts';
import { type PaidGroup, storePaid } from '../../../../shared/money/payment/follow-up.ts';
import { type GroupId, idTime, newId } from '../../../../shared/platform/runtime/ids.ts';
import { ClaimWorld, countBy, ids, room, type TestClaimer } from '../../../support/claim-world.ts';
import { Died, dyingDb } from '../../../support/dying-db.ts';
import { makeMessage } from '../../../support/make.ts';
import { Prng } from '../../../support/prng.ts';
import { linesOf } from '../../../support/queue.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { use } from '../../../support/use.ts';

/** Lines of several accounts, paid for by one command, in one document. */
describe('mixed queue documents', () => {
  const world = use(() => ClaimWorld.open());
  beforeEach(async () => {
    await world.clear();
  });

  const now = () => world.clock.now();
  const all = () => world.messages.find().sort({ _id: 1 }).toArray();
  const account = () => newId('acc');
  const paid = (group: GroupId, count: number, more: Partial<MessageDocument> = {}): PaidGroup => {
    const validUntil = new Date(now().getTime() + 3_600_000);
    const owner = more.account ?? account();
    const one = () => makeMessage({ account: owner, validUntil, group, ...more, _id: newId('msg') });
    return { group, messages: Array.from({ length: count }, one), first: true };
  };
  const several = (count: number, each = 1): readonly PaidGroup[] => {
    const group = newId('grp');
    return Array.from({ length: count }, () => paid(group, each));
  };
  const messagesOf = (groups: readonly PaidGroup[]) => groups.flatMap(({ messages }) => messages);
  const store = (groups: readonly PaidGroup[], db: Db = world.store.db) => storePaid(db, groups, now());
  const again = (groups: readonly PaidGroup[], db: Db = world.store.db) =>
    store(
      groups.map((group) => ({ ...group, first: false })),
      db,
    );

  /** Claims `rounds` times and settles everything as sent. Returns all of it. */
  async function sendAll({ claim, claimer }: TestClaimer, db: Db = world.store.db, rounds = 6, size = 100) {
    const outcomes = settlerOf(claimer, db);
    const sent: MessageDocument[] = [];
    for (let round = 0; round < rounds; round++) {
      const claimed = await claim(room(size));
      sent.push(...claimed);
      await Promise.all(claimed.map((message) => outcomes.add(message, { kind: 'sent', parts: [] })));
      await claimer.removeEnded();
      world.clock.turn(101);
    }
    return sent;
  }
  function settlerOf(claimer: TestClaimer['claimer'], db: Db) {
    const settler = new Settler({
      ...{ db, announcer: { announce: async () => {} }, lease: `carrier:${account()}`, epoch: 7, stream: 'outcomes' },
      isUnborn: (id) => claimer.isUnborn(id),
    });
    const none = { onKeys: () => {}, onGroup: () => {} };
    const { clock } = world;
    return new OutcomeSettler({
      ...{ settler, clock, log: silentLog, onStored: (stored) => claimer.stored(stored), ...none },
    });
  }

  describe('what is in one', () => {
    const shapeOf = (groups: readonly PaidGroup[]) =>
      queueDocuments(groups, now()).map(({ account: whose, n, path }) => ({ whose, n, path }));
    const path = 'transactional';

    it('a few lines each of the accounts of one command, by path and lane; many of one stay for themselves', () => {
      const group = newId('grp');
      const [few, others, many] = [paid(group, 2), paid(group, 4), paid(group, 5)];
      const elsewhere = paid(group, 1, { path: 'promotional', lane: 3 });

      expect(shapeOf([few, others, many, elsewhere])).to.have.deep.members([
        { whose: MIXED, n: 6, path },
        { whose: many.messages[0]?.account, n: 5, path },
        { whose: elsewhere.messages[0]?.account, n: 1, path: 'promotional' },
      ]);
    });

    it('none of other commands, and no long texts', () => {
      const group = newId('grp');
      const [one, other] = [paid(group, 1), paid(newId('grp'), 1)];
      const long = paid(group, 1, { text: 'x'.repeat(641) });

      expect(shapeOf([one, other, long]).every(({ whose }) => whose !== MIXED)).to.equal(true);
    });

    it('an account’s lines have the same document whatever the others have paid for', () => {
      const group = newId('grp');
      const [one, other, many] = [paid(group, 3), paid(group, 4), paid(group, 300)];
      const idsOf = (groups: readonly PaidGroup[]) => queueDocuments(groups, now()).map(({ _id }) => _id);

      expect(idsOf([one])).to.deep.equal(idsOf([other]));
      expect([...new Set([...idsOf([one]), ...idsOf([many])])].sort()).to.deep.equal(idsOf([other, many, one]).sort());
      expect(new Set(idsOf([many, paid(group, 300)])).size, 'two documents each').to.equal(4);
    });

    it('all that one command can pay for has room in it', () => {
      const group = newId('grp');
      const documents = queueDocuments(
        Array.from({ length: 50 }, () => paid(group, 4, { text: 'x'.repeat(160) })),
        now(),
      );

      expect(documents.map(({ n }) => n)).to.deep.equal([200]);
    });

    it('those of paused templates wait for themselves: lines of different templates have none in common', async () => {
      const group = newId('grp');
      const whose = account();
      const two = ['1107160000000000051', '1107160000000000053'].map((template) =>
        paid(group, 1, { account: whose, template }),
      );
      const both = { ...paid(group, 0), messages: messagesOf(two) };

      const [document] = queueDocuments([both], now());
      expect(document?.account).to.equal(MIXED);
      expect(document).not.to.have.property('template');
      const [one] = two as [PaidGroup, PaidGroup];
      expect(queueDocuments([one], now())[0]).to.include({ account: whose, template: '1107160000000000051' });

      await again([both]);
      expect(ids(await sendAll(world.claimer()))).to.have.members(ids(both.messages));
    });
  });

  it('leave, are inserted with their outcome, and are removed', async () => {
    const groups = several(12);
    await store(groups);
    expect(await world.queue.countDocuments()).to.equal(1);

    expect(ids(await sendAll(world.claimer(), world.store.db, 6, 5))).to.deep.equal(ids(messagesOf(groups)));

    expect(await world.queue.countDocuments()).to.equal(0);
    expect((await all()).map(({ _id, account: of, state }) => [_id, of, state])).to.deep.equal(
      messagesOf(groups).map(({ _id, account: of }) => [_id, of, 'sent']),
    );
  });

  it('a line is found by its id at once, by its own account only', async () => {
    const groups = several(3, 2);
    await store(groups);

    for (const message of messagesOf(groups)) {
      expect(await findInQueue(world.store.db, message.account, message._id)).to.deep.equal(message);
      expect(await findInQueue(world.store.db, message.account, message._id, true)).to.deep.equal(message);
      expect(await findInQueue(world.store.db, account(), message._id)).to.equal(undefined);
    }
  });

  it('what waits is told with its accounts and the oldest', async () => {
    const path = `path ${account()}`;
    const group = newId('grp');
    const groups = [paid(group, 2, { path }), paid(group, 1, { path })];
    await store(groups);
    await world.put(1, { path });
    const [oldest] = messagesOf(groups);
    if (oldest === undefined) throw new Error('it was made');

    const told = async () => (await readQueues(world.store.db)).filter((lane) => lane.path === path);
    expect(await told()).to.deep.include.members([
      {
        ...{ path, lane: 'transactional', waiting: 4, more: false, accounts: 3 },
        oldest: { at: idTime(oldest._id), account: oldest.account },
      },
    ]);
    await world.claimer([path]).claim(room(2));
    expect((await told())[0]).to.include({ waiting: 2 });
  });

  describe('written out', () => {
    it('what waits has lines of single accounts, what a carrier has claimed is `submitting`', async () => {
      const groups = several(4, 2);
      await store(groups);
      const claimed = await world.claimer().claim(room(3));
      world.clock.turn(WRITE_OUT_MS);

      await writeOut(world.store.db, now(), { writeAt: { $lte: now() } });

      const queued = messagesOf(groups).slice(3);
      expect(await all()).to.deep.equal([...claimed, ...queued]);
      const documents = await world.queue.find().toArray();
      expect(documents.every((document) => document.written && !isMixed(document))).to.equal(true);
      for (const { messages } of groups) {
        const [one] = messages;
        if (one === undefined) throw new Error('it was made');
        const waiting = queued.filter(({ account: of }) => of === one.account);
        expect(ids(await linesOf(world.store.db, one.account))).to.deep.equal(ids(waiting));
      }
      expect(ids(await sendAll(world.claimer()))).to.have.members(ids(queued));
    });

    it('what was claimed before may be settled afterwards, or taken over', async () => {
      const groups = several(4);
      await store(groups);
      const { claim, claimer } = world.claimer();
      const [first, ...others] = await claim(room(3));
      if (first === undefined) throw new Error('it was claimed');
      await writeAllOut(world.store.db, now(), {});

      await settlerOf(claimer, world.store.db).add(first, { kind: 'sent', parts: [] });
      await claimer.removeEnded();

      expect((await all()).map(({ state }) => state)).to.deep.equal(['sent', 'submitting', 'submitting', 'queued']);
      expect(others.every(({ claim: stamp }) => stamp?.carrier === 'c')).to.equal(true);
    });

    for (const when of ['before', 'after'] as const) {
      it(`a process that dies ${when} any command of it loses nothing and sends nothing twice`, async () => {
        for (let command = 1, died = true; died; command++) {
          await world.clear();
          const groups = several(3, 2);
          await store(groups);
          const early = await sendAll(world.claimer(), world.store.db, 1, 2);
          died = await writeAllOut(dyingDb(world.store.db, command, when), now(), {}).then(
            () => false,
            (error: unknown) => {
              if (error instanceof Died) return true;
              throw error;
            },
          );
          const meanwhile = await sendAll(world.claimer(), world.store.db, 3, 1);
          world.clock.turn(60_000);
          await writeAllOut(world.store.db, now(), { writeAt: { $lte: now() } });
          const late = await sendAll(world.claimer());

          expect(ids([...early, ...meanwhile, ...late]), `command ${command}`).to.have.members(ids(messagesOf(groups)));
          expect(await world.queue.countDocuments(), `command ${command}`).to.equal(0);
        }
      });
    }
  });

  it('a worker that takes over finds what was claimed of one, each line with its account', async () => {
    const groups = several(4);
    await store(groups);
    const claimed = await world.claimer().claim(room(3));

    expect(await takeOverClaims(world.store.db, 'c', 8, now())).to.equal(3);

    expect((await all()).map(({ _id, account: of, outcome }) => [_id, of, outcome])).to.deep.equal(
      claimed.map(({ _id, account: of }) => [_id, of, 'unknown']),
    );
    expect(ids(await sendAll(world.claimer()))).to.deep.equal(ids(messagesOf(groups).slice(3)));
  });

  it('do not stand before the backlog of one account, nor behind it', async () => {
    const bulk = account();
    for (let i = 0; i < 120; i++) await world.put(5, { account: bulk });
    const groups = Array.from({ length: 30 }, () => several(10));
    for (const some of groups) await store(some);
    const worker = world.claimer();

    const claimed: MessageDocument[] = [];
    for (let i = 0; i < 10; i++) claimed.push(...(await worker.claim(room(20))));

    // In turn: 5 of the bulk, then a document with one line each of ten accounts.
    expect(claimed).to.have.length(200);
    expect(countBy(claimed, bulk)).to.be.within(55, 80);
  });

  describe('stored again', () => {
    it('while they are there: nothing is changed', async () => {
      const groups = several(3);
      await store(groups);
      const before = await world.queue.find().toArray();

      await again(groups);

      expect(await world.queue.find().toArray()).to.deep.equal(before);
      expect(await all()).to.deep.equal([]);
    });

    it('after they have left: nothing is sent twice', async () => {
      const groups = several(3);
      await store(groups);
      await sendAll(world.claimer());
      const sent = await all();

      await again(groups);
      for (const group of groups) await again([group]);

      expect(await sendAll(world.claimer())).to.deep.equal([]);
      expect(await all()).to.deep.equal(sent);
    });

    it('before a first insert that comes late: that is refused, and stored again for all', async () => {
      const groups = several(3);
      const [one] = groups as [PaidGroup, ...PaidGroup[]];
      await again([one]);
      expect(ids(await sendAll(world.claimer()))).to.deep.equal(ids(one.messages));

      expect(await insertFirst(world.store.db, queueDocuments(groups, now()))).to.equal(false);
      await store(groups);

      expect(ids(await sendAll(world.claimer()))).to.have.members(ids(messagesOf(groups.slice(1))));
    });

    for (const when of ['before', 'after'] as const) {
      it(`by the sweep, when the gateway died ${when} any command: all is sent once`, async () => {
        for (let command = 1, died = true; died; command++) {
          await world.clear();
          const groups = several(3);
          died = await store(groups, dyingDb(world.store.db, command, when)).then(
            () => false,
            () => true,
          );
          const early = await sendAll(world.claimer(), world.store.db, 1, 2);
          for (const group of groups) await again([group]);
          const late = await sendAll(world.claimer());
          expect(ids([...early, ...late]), `command ${command}`).to.have.members(ids(messagesOf(groups)));
        }
      });
    }

    const RUNS = 40;
    it(`at the same time as the first insert, writing out and two carriers: all is sent once (${RUNS} runs)`, async () => {
      const first = Math.floor(Math.random() * 2 ** 31);
      for (let seed = first; seed < first + RUNS; seed++) {
        await world.clear();
        const db = delayed(world.store.db, new Prng(seed));
        const groups = several(3);
        const [one, two] = groups as [PaidGroup, PaidGroup, PaidGroup];

        const [a, b] = await Promise.all([
          sendAll(world.claimer(undefined, 'a', db), db, 3, 2),
          sendAll(world.claimer(undefined, 'b', db), db, 3, 2),
          store(groups, db),
          again([one], db),
          again([two], db),
          writeOut(db, now(), {}),
        ]);

        world.clock.turn(60_000); // unfinished claims are retried
        await writeAllOut(world.store.db, now(), {});
        const sent = [...a, ...b, ...(await sendAll(world.claimer(undefined, 'a')))];
        expect(ids(sent), `seed ${seed}`).to.have.members(ids(messagesOf(groups)));
        expect(
          (await all()).map(({ state }) => state),
          `seed ${seed}`,
        ).to.deep.equal(['sent', 'sent', 'sent']);
      }
    });
  });
});

/** Delays each command by some turns of the event loop, so that the order of several callers varies. */
function delayed(db: Db, random: Prng): Db {
  const wait = async (): Promise<void> => {
    for (let left = random.below(12); left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
  };
  const late = (target: object, names: RegExp): object =>
    new Proxy(target, {
      get(of, property) {
        const value: unknown = Reflect.get(of, property);
        if (typeof value !== 'function') return value;
        if (typeof property !== 'string' || !names.test(property)) return value.bind(of);
        return async (...args: unknown[]): Promise<unknown> => {
          await wait();
          return value.apply(of, args);
        };
      },
    });
  return new Proxy(db, {
    get(target, property) {
      if (property === 'collection')
        return (name: string) => late(target.collection(name), /^(update|delete|insert|findOne)/);
      return Reflect.get(late(target, /^command$/), property);
    },
  });
}
