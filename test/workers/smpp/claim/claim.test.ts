import type { Db } from 'mongodb';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { MessageId } from '../../../../shared/platform/runtime/ids.ts';
import { ClaimWorld, ids, room } from '../../../support/claim-world.ts';
import { openCountingDb } from '../../../support/counting-db.ts';
import { writeOutAll } from '../../../support/queue.ts';
import { use } from '../../../support/use.ts';

describe('Claimer', () => {
  const world = use(() => ClaimWorld.open());
  beforeEach(async () => {
    await world.clear();
  });

  it('marks lines that it takes with carrier, epoch and a claim of its own; their messages are nowhere else', async () => {
    await world.put(3);

    const claimed = await world.claimer().claim(room(2));

    const [document] = await world.queue.find().toArray();
    const { claim } = claimed[0] ?? {};
    expect(claim).to.include({ carrier: 'c', epoch: 7 });
    expect(document).to.deep.include({ next: 2, open: true, claims: [{ ...claim, from: 0, to: 2 }] });
    expect(claimed.every(({ state, v }) => state === 'submitting' && v === 1)).to.equal(true);
    expect(await world.messages.countDocuments()).to.equal(0);
  });

  it('marks messages that were written out, and returns them as stored', async () => {
    await world.put(2);
    await writeOutAll(world.store.db);

    const claimed = await world.claimer().claim(room(10));

    const stored = await world.messages.find().toArray();
    expect(claimed).to.have.deep.members(stored);
    expect(stored.every(({ state, v }) => state === 'submitting' && v === 1)).to.equal(true);
    expect(stored[0]?.claim).to.include({ carrier: 'c', epoch: 7 });
  });

  it('takes nothing of written lines whose messages are not queued on their path any more', async () => {
    const [cancelled, moved, free] = ids(await world.put(3));
    await writeOutAll(world.store.db);
    await world.messages.updateOne({ _id: cancelled as MessageId }, { $set: { state: 'rejected' } });
    await world.messages.updateOne({ _id: moved as MessageId }, { $set: { path: 'promotional' } });

    const claimed = await world.claimer().claim(room(10));

    expect(ids(claimed)).to.deep.equal([free]);
  });

  it('removes a document when all its messages are stored, not before', async () => {
    await world.put(3);
    const { claimer, claim } = world.claimer();
    const claimed = await claim(room(10));

    claimer.stored(claimed.slice(1).map(({ _id }) => _id));
    await claimer.removeEnded();
    expect(await world.queue.countDocuments()).to.equal(1);

    claimer.stored(claimed.map(({ _id }) => _id));
    await claimer.removeEnded();
    expect(await world.queue.countDocuments()).to.equal(0);
  });

  it('a document from which two carriers claimed is removed by the last of them', async () => {
    await world.put(6);
    const [a, b] = [world.claimer(undefined, 'a'), world.claimer(undefined, 'b')];
    const [first, rest] = [await a.claim(room(2)), await b.claim(room(10))];

    b.claimer.stored(rest.map(({ _id }) => _id));
    await b.claimer.removeEnded();
    expect(await world.queue.countDocuments()).to.equal(1);

    a.claimer.stored(first.map(({ _id }) => _id));
    world.clock.turn(3_001);
    await a.claimer.removeEnded();
    expect(await world.queue.countDocuments()).to.equal(0);
  });

  it('takes no more than there is room for, the oldest of an account first', async () => {
    const queued = await world.put(10);

    const claimed = await world.claimer().claim(room(4));

    expect(ids(claimed)).to.deep.equal(ids(queued.slice(0, 4)));
  });

  it('counts segments; only the last message may be longer than what is left', async () => {
    await world.put(10, { segments: 3 });

    const claimed = await world.claimer().claim({ messages: 7, segments: 7 });

    expect(claimed).to.have.length(3);
  });

  it('says when it took all that waited, and only then', async () => {
    const one = world.claimer();
    expect(await one.claim(room(10))).to.have.length(0);
    expect(one.claimer.tookAll, 'nothing waited').to.equal(true);

    await world.put(4);
    expect(await one.claim(room(10))).to.have.length(4);
    expect(one.claimer.tookAll, 'four waited').to.equal(true);

    await world.put(10);
    await one.claim(room(10));
    expect(one.claimer.tookAll, 'as many as there was room for').to.equal(true);

    await world.put(11);
    await one.claim(room(10));
    expect(one.claimer.tookAll, 'one more than there was room for').to.equal(false);
    await one.claim(room(10));

    await world.put(5, { segments: 3 });
    const other = world.claimer();
    expect(await other.claim({ messages: 10, segments: 7 })).to.have.length(3);
    expect(other.claimer.tookAll, 'two did not fit').to.equal(false);
  });

  it('takes nothing when the lease ran out while it read', async () => {
    const counting = openCountingDb(world.store);
    const queued = await world.put(3);
    const one = world.claimer(undefined, undefined, counting.db, () => counting.sent('find', 'queue') === 0);

    const taken = await one.claim(room(10)).finally(() => counting.close());

    expect(taken).to.deep.equal([]);
    expect(one.claimer.tookAll).to.equal(false);
    expect(ids(await world.claimer().claim(room(10)))).to.deep.equal(ids(queued));
  });

  it('has not taken all when another claimer took a part of it', async () => {
    const queued = [...(await world.put(4)), ...(await world.put(2))];
    const other = world.claimer();
    const early: MessageDocument[] = [];
    const before = async () => early.push(...(await other.claim(room(4))));
    const one = world.claimer(undefined, undefined, aroundClaims(world.store.db, { before }));

    const late = await one.claim(room(10));

    expect(one.claimer.tookAll).to.equal(false);
    expect(early).to.have.length(4);
    const rest = [...late, ...(await one.claim(room(10)))];
    expect(ids([...early, ...rest])).to.have.members(ids(queued));
  });

  it('takes only from its paths', async () => {
    await world.put(3, { path: 'promotional' });

    expect(await world.claimer(['transactional']).claim(room(10))).to.deep.equal([]);
  });

  it('leaves alone what is not queued; what has expired goes to `messages`, for the maintenance', async () => {
    await world.put(2, { state: 'waiting' });
    await world.put(2, { state: 'sent' });
    const expired = await world.put(2, { validUntil: world.clock.now() });

    expect(await world.claimer().claim(room(10))).to.deep.equal([]);

    const left = { _id: { $in: expired.map(({ _id }) => _id) }, state: 'queued' } as const;
    expect(await world.messages.countDocuments(left)).to.equal(2);
  });

  it('two claimers never get the same message, and together get all', async () => {
    const queued = await world.put(60);
    const [a, b] = [world.claimer(undefined, 'a'), world.claimer(undefined, 'b')];

    const taken = await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? a : b).claim(room(10))));
    // An empty claim proves nothing, because its read may be out of date; a claim that got all that waited does.
    do taken.push(await a.claim(room(10)));
    while (!a.claimer.tookAll);

    expect(ids(taken.flat())).to.have.length(60);
    expect(new Set(ids(taken.flat()))).to.deep.equal(new Set(ids(queued)));
  });

  for (const [what, written] of [
    ['lines', false],
    ['written lines', true],
  ] as const) {
    it(`a claim of ${what} whose answer was lost is found again: its messages are not forgotten`, async () => {
      const queued = await world.put(5);
      if (written) await writeOutAll(world.store.db);
      let lost = true;
      const after = () => {
        if (lost) throw new Error('the answer was lost');
      };
      const worker = world.claimer(undefined, undefined, aroundClaims(world.store.db, { after }));

      const failed = await worker.claim(room(5)).catch((error: unknown) => error);
      lost = false;
      const claimed = await worker.claim(room(5));

      expect(failed).to.be.instanceOf(Error);
      expect(ids(claimed)).to.have.members(ids(queued));
      expect(await worker.claim(room(5))).to.deep.equal([]);
    });
  }

  it('what was written out between its read and its claim is claimed in `messages`', async () => {
    const queued = await world.put(5);
    let before: (() => Promise<unknown>) | undefined = () => writeOutAll(world.store.db);
    const once = async () => {
      const now = before;
      before = undefined;
      await now?.();
    };
    const worker = world.claimer(undefined, undefined, aroundClaims(world.store.db, { before: once }));

    expect(await worker.claim(room(5))).to.deep.equal([]);
    expect(ids(await worker.claim(room(5)))).to.have.members(ids(queued));
    expect(await world.messages.countDocuments({ state: 'submitting' })).to.equal(5);
  });
});

/** Runs something before or after each update of the queue. If `after` throws, the caller gets that error. */
function aroundClaims(db: Db, around: { before?(): Promise<unknown>; after?(): void }): Db {
  return new Proxy(db, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'command') return member.bind(target);
      return async (...args: unknown[]) => {
        const [command] = args;
        const isClaim = typeof command === 'object' && command !== null && Reflect.get(command, 'update') === 'queue';
        if (isClaim) await around.before?.();
        const answer: unknown = await member.apply(target, args);
        if (isClaim) around.after?.();
        return answer;
      };
    },
  });
}
