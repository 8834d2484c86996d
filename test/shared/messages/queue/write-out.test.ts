import type { Db } from 'mongodb';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { unpackLines, WRITE_OUT_MS } from '../../../../shared/messages/queue/queue-document.ts';
import { insertAgain, writeOut } from '../../../../shared/messages/queue/queue-store.ts';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { ClaimWorld, ids, room } from '../../../support/claim-world.ts';
import { makeMessage } from '../../../support/make.ts';
import { Prng } from '../../../support/prng.ts';
import { ownDocuments, writeOutAll } from '../../../support/queue.ts';
import { use } from '../../../support/use.ts';

describe('writing out what waits', () => {
  const world = use(() => ClaimWorld.open());
  beforeEach(async () => {
    await world.clear();
  });

  const now = () => world.clock.now();
  const due = (db: Db = world.store.db) => writeOut(db, now(), { writeAt: { $lte: now() } });
  const all = () => world.messages.find().sort({ _id: 1 }).toArray();

  it('inserts what waits as it was accepted, after three seconds and not before', async () => {
    const queued = await world.put(3);

    expect(await due()).to.equal(0);
    expect(await all()).to.deep.equal([]);

    world.clock.turn(WRITE_OUT_MS);
    expect(await due()).to.equal(1);
    expect(await all()).to.deep.equal(queued);
    expect(await due()).to.equal(0);
    const [document] = await world.queue.find().toArray();
    expect(document).to.include({ written: true, open: true, next: 0 });
    expect(document).not.to.have.property('writeAt');
  });

  it('inserts what a carrier has claimed as `submitting`, as its claim left it', async () => {
    const queued = await world.put(5);
    const claimed = await world.claimer().claim(room(2));

    await writeOutAll(world.store.db);

    expect(await all()).to.deep.equal([...claimed, ...queued.slice(2)]);
  });

  it('the same of lines that are all claimed; then their claims may still be settled', async () => {
    await world.put(2);
    const { claim, claimer } = world.claimer();
    const claimed = await claim(room(2));

    await writeOutAll(world.store.db);

    expect(await all()).to.deep.equal(claimed);
    expect(claimed.every(({ _id }) => claimer.isUnborn(_id))).to.equal(true);
    claimer.stored(claimed.map(({ _id }) => _id));
    await claimer.removeEnded();
    expect(await world.queue.countDocuments()).to.equal(0);
  });

  it('changes nothing of what something became of', async () => {
    await world.put(3);
    const [first] = await world.claimer().claim(room(1));
    if (first === undefined) throw new Error('nothing was claimed');
    const sent: MessageDocument = { ...first, state: 'sent', v: 2 };
    await insertNew(world.store.db, 'messages', [sent]);

    await writeOutAll(world.store.db);
    await writeOutAll(world.store.db);

    expect((await all())[0]).to.deep.equal(sent);
    expect(await world.messages.countDocuments({ state: 'queued' })).to.equal(2);
  });

  it('what was claimed since its lines were read is inserted as `submitting`', async () => {
    await world.put(3);
    const early: MessageDocument[] = [];
    const claiming = once(async () => void early.push(...(await world.claimer().claim(room(2)))));
    world.clock.turn(WRITE_OUT_MS);

    await due(beforeCommand(world.store.db, 'update', 'queue', claiming));
    await due();

    expect(early).to.have.length(2);
    expect(await world.messages.countDocuments({ state: 'submitting' })).to.equal(2);
    expect(await world.messages.countDocuments({ state: 'queued' })).to.equal(1);
  });

  it('a process that dies between marking and inserting: another one inserts them some seconds later', async () => {
    const queued = await world.put(3);
    world.clock.turn(WRITE_OUT_MS);
    const dying = beforeCommand(world.store.db, 'insert', 'messages', () => Promise.reject(new Error('killed')));
    await due(dying).catch(() => undefined);
    expect(await all()).to.deep.equal([]);

    world.clock.turn(60_000);
    await due();

    expect(await all()).to.deep.equal(queued);
  });

  it('what a carrier claims of marked lines that are not inserted yet is inserted and claimed', async () => {
    const queued = await world.put(3);
    world.clock.turn(WRITE_OUT_MS);
    const dying = beforeCommand(world.store.db, 'insert', 'messages', () => Promise.reject(new Error('killed')));
    await due(dying).catch(() => undefined);

    const claimed = await world.claimer().claim(room(2));

    expect(ids(claimed)).to.deep.equal(ids(queued.slice(0, 2)));
    expect(await all()).to.deep.equal(claimed);
    world.clock.turn(60_000);
    await due();
    expect(await all()).to.deep.equal([...claimed, ...queued.slice(2)]);
  });

  it('several at once insert each message once', async () => {
    for (let i = 0; i < 10; i++) await world.put(20);
    await world.claimer().claim(room(50));

    await Promise.all([1, 2, 3].map(() => writeOutAll(world.store.db)));

    expect(await world.messages.countDocuments()).to.equal(200);
    expect(await world.messages.countDocuments({ state: 'submitting' })).to.equal(50);
    expect(await world.queue.countDocuments({ writeAt: { $exists: true } })).to.equal(0);
  });

  it('more messages than one step takes are all written out', async () => {
    for (let i = 0; i < 8; i++) await world.put(190);

    await writeOutAll(world.store.db);

    expect(await world.messages.countDocuments({ state: 'queued' })).to.equal(8 * 190);
  });

  it('lines that were put there again, because their first insert is uncertain, are inserted once', async () => {
    const account = newId('acc');
    const made = Array.from({ length: 3 }, () => makeMessage({ account, _id: newId('msg') }));
    const documents = ownDocuments(newId('grp'), made, now());
    await insertAgain(world.store.db, documents, now());
    await insertAgain(world.store.db, documents, now());

    await due();
    await due();

    expect(await all()).to.deep.equal(made);
  });

  const RUNS = 40;
  it(`at the same time as claims: each line is claimed once, or queued in \`messages\`, never both (${RUNS} runs)`, async () => {
    const first = Math.floor(Math.random() * 2 ** 31);
    for (let seed = first; seed < first + RUNS; seed++) {
      await world.clear();
      const random = new Prng(seed);
      const queued: MessageDocument[] = [];
      for (let i = 0; i <= random.below(3); i++) queued.push(...(await world.put(1 + random.below(12))));
      const claimers = ['a', 'b'].map((carrier) => world.claimer(undefined, carrier));
      const claimed: MessageDocument[] = [];
      const steps = Array.from({ length: 4 + random.below(8) }, () => ({
        afterMs: random.below(6),
        step: random.below(4) === 0 ? ('write out' as const) : (random.pick(claimers) ?? 'write out'),
        size: 1 + random.below(6),
      }));

      // A claimer makes one claim at a time.
      const busy = new Map<object, Promise<unknown>>();
      await Promise.all(
        steps.map(async ({ afterMs, step, size }) => {
          await new Promise((resolve) => setTimeout(resolve, afterMs));
          if (step === 'write out') return writeOut(world.store.db, now(), {});
          const mine = (busy.get(step) ?? Promise.resolve()).then(async () => {
            claimed.push(...(await step.claim(room(size))));
          });
          busy.set(step, mine);
          return mine;
        }),
      );

      const taken = new Set(ids(claimed));
      expect(taken.size, `seed ${seed}: claimed once`).to.equal(claimed.length);
      const stored = await all();
      const waitsInMessages = stored.filter(({ state }) => state === 'queued').map(({ _id }) => _id);
      expect(
        waitsInMessages.filter((id) => taken.has(id)),
        `seed ${seed}: claimed and queued`,
      ).to.deep.equal([]);
      const documents = await world.queue.find().toArray();
      const open = documents.flatMap(({ lines, next }) => unpackLines(lines).slice(next));
      expect([...taken, ...ids(open)].toSorted(), `seed ${seed}: claimed or a line`).to.deep.equal(
        ids(queued).toSorted(),
      );
      const decided = documents.filter(({ written, writeAt }) => written && writeAt === undefined);
      const written = decided.flatMap(({ lines, next }) => unpackLines(lines).slice(next));
      expect(waitsInMessages, `seed ${seed}: lines of written documents are stored`).to.include.members(ids(written));

      for (const one of claimers) {
        for (let more = await one.claim(room(9)); more.length > 0; more = await one.claim(room(9)))
          claimed.push(...more);
        world.clock.turn(51);
        claimed.push(...(await one.claim(room(100))));
      }
      expect(ids(claimed).toSorted(), `seed ${seed}: each is claimed once`).to.deep.equal(ids(queued).toSorted());
    }
  });
});

function once(work: () => Promise<void>): () => Promise<void> {
  let left: (() => Promise<void>) | undefined = work;
  return async () => {
    const now = left;
    left = undefined;
    await now?.();
  };
}

/** Runs `work` before each such command on the collection. If it fails, the command is not sent. */
function beforeCommand(db: Db, name: string, collection: string, work: () => Promise<unknown>): Db {
  return new Proxy(db, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property);
      if (typeof member !== 'function') return member;
      if (property !== 'command') return member.bind(target);
      return async (...args: unknown[]) => {
        const [command] = args;
        if (typeof command === 'object' && command !== null && Reflect.get(command, name) === collection) await work();
        return member.apply(target, args);
      };
    },
  });
}
