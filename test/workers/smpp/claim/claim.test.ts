import { expect } from 'chai';
import type { Db } from 'mongodb';
import { ClaimWorld, ids, room } from '../../../support/claim-world.ts';
import { openCountingDb } from '../../../support/counting-db.ts';

describe('Claimer', () => {
  let world: ClaimWorld;
  before(async () => {
    world = await ClaimWorld.open();
  });
  after(() => world.store.close());
  beforeEach(async () => {
    await world.messages.deleteMany({});
  });

  it('marks what it takes with carrier, epoch and a claim of its own, and returns it as stored', async () => {
    await world.put(2);

    const claimed = await world.claimer().claim(room(10));

    const stored = await world.messages.find().toArray();
    expect(claimed).to.have.deep.members(stored);
    expect(stored.every(({ state, v }) => state === 'submitting' && v === 1)).to.equal(true);
    expect(stored[0]?.claim).to.include({ carrier: 'c', epoch: 7 });
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
    expect(one.claimer.tookAll, 'as many as there was room for').to.equal(false);

    await world.put(5, { segments: 3 });
    const other = world.claimer();
    expect(await other.claim({ messages: 10, segments: 7 })).to.have.length(3);
    expect(other.claimer.tookAll, 'two did not fit').to.equal(false);
  });

  it('takes nothing when the lease ran out while it read', async () => {
    const counting = openCountingDb(world.store);
    const queued = await world.put(3);
    const one = world.claimer(undefined, undefined, counting.db, () => counting.sent('find', 'messages') === 0);

    const taken = await one.claim(room(10)).finally(() => counting.close());

    expect(taken).to.deep.equal([]);
    expect(one.claimer.tookAll).to.equal(false);
    expect(ids(await world.claimer().claim(room(10)))).to.deep.equal(ids(queued));
  });

  it('has not taken all when another claimer took a part of it', async () => {
    await world.put(6);
    const other = world.claimer();
    const late = aroundUpdates(world.store.db, { before: () => other.claim(room(4)) });
    const one = world.claimer(undefined, undefined, late);

    expect(await one.claim(room(10))).to.have.length(2);

    expect(one.claimer.tookAll).to.equal(false);
  });

  it('takes only from its paths', async () => {
    await world.put(3, { path: 'promotional' });

    expect(await world.claimer(['transactional']).claim(room(10))).to.deep.equal([]);
  });

  it('leaves alone what is not queued, and what has expired', async () => {
    await world.put(2, { state: 'waiting' });
    await world.put(2, { state: 'sent' });
    await world.put(2, { validUntil: world.clock.now() });

    expect(await world.claimer().claim(room(10))).to.deep.equal([]);
  });

  it('two claimers never get the same message, and together get all', async () => {
    const queued = await world.put(60);
    const [a, b] = [world.claimer(undefined, 'a'), world.claimer(undefined, 'b')];

    const taken = await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 === 0 ? a : b).claim(room(10))));
    for (let more = await a.claim(room(10)); more.length > 0; more = await a.claim(room(10))) taken.push(more);

    expect(ids(taken.flat())).to.have.length(60);
    expect(new Set(ids(taken.flat()))).to.deep.equal(new Set(ids(queued)));
  });

  it('a claim whose answer was lost is found again: its messages are not forgotten', async () => {
    const queued = await world.put(5);
    let lost = true;
    const worker = world.claimer(
      undefined,
      undefined,
      aroundUpdates(world.store.db, {
        after: () => {
          if (lost) throw new Error('the answer was lost');
        },
      }),
    );

    const failed = await worker.claim(room(5)).catch((error: unknown) => error);
    lost = false;
    const claimed = await worker.claim(room(5));

    expect(failed).to.be.instanceOf(Error);
    expect(ids(claimed)).to.have.members(ids(queued));
  });
});

/** A connection that does something before or after each `updateMany`. If `after` throws, the caller gets that as the answer. */
function aroundUpdates(db: Db, around: { before?(): Promise<unknown>; after?(): void }): Db {
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
              await around.before?.();
              const answer: unknown = await member.apply(inner, args);
              around.after?.();
              return answer;
            };
          },
        });
    },
  });
}
