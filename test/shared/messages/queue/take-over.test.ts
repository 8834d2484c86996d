import type { Db } from 'mongodb';
import type { Claim, MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { QueueDocument } from '../../../../shared/messages/queue/queue-document.ts';
import {
  claimLines,
  insertAgain,
  queueOf,
  takeOverClaims,
  takeQueued,
} from '../../../../shared/messages/queue/queue-store.ts';
import { decideOutcome, type SubmitOutcome } from '../../../../shared/messages/settlement/decide-outcome.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { takeOverUnknowns } from '../../../../shared/messages/settlement/unknowns.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { Claimer } from '../../../../workers/smpp/claim/claim.ts';
import { openGates } from '../../../support/gates.ts';
import { makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { enqueue, enqueueWritten, ownDocuments, writeOutAll } from '../../../support/queue.ts';
import { useStore } from '../../../support/store.ts';

const DAY_MS = 86_400_000;
const SENT: SubmitOutcome = { kind: 'sent', parts: [{ state: 'accepted', key: 'c:1' }] };
const UNKNOWN: SubmitOutcome = { kind: 'unknown', parts: [{ state: 'unknown' }] };

describe('what a dead holder of a lease has claimed', () => {
  const clock = new ManualClock();
  const store = useStore();
  beforeEach(async () => {
    for (const name of ['messages', 'queue', 'intents']) await store.db.collection(name).deleteMany({});
  });

  const messages = () => store.db.collection<MessageDocument>('messages');
  const all = () => messages().find().sort({ _id: 1 }).toArray();
  const make = (count: number): MessageDocument[] => {
    const account = newId('acc');
    return Array.from({ length: count }, () => makeMessage({ account, _id: newId('msg') }));
  };
  const claimOf = (epoch: number, carrier = 'c'): Claim => ({ id: newId('clm'), carrier, epoch, at: clock.now() });
  const idsOf = (some: readonly { readonly _id: string }[]) => some.map(({ _id }) => _id);
  /** Claims lines up to `to` of each document, as a holder that then dies. */
  const claim = async (claim: Claim, to: number): Promise<readonly QueueDocument[]> => {
    const heads = await queueOf(store.db).find({ open: true }).toArray();
    const ours = await claimLines(
      store.db,
      claim,
      heads.map((head) => ({ head, to: Math.min(to, head.n) })),
    );
    expect([...ours]).to.have.members(idsOf(heads));
    return heads;
  };
  const takeOver = (epoch: number, own = false, db: Db = store.db) => takeOverClaims(db, 'c', epoch, clock.now(), own);
  const claimerOf = (epoch: number) => {
    const { db } = store;
    const claimer = new Claimer({ db, clock, carrier: 'c', epoch, gates: openGates(db, clock), held: () => true });
    return () => claimer.claim({ messages: 100, segments: 100 }, { paths: ['transactional'], fromLane: 0 });
  };

  it('is unknown, with the new epoch, once; what nobody claimed still waits', async () => {
    const queued = make(3);
    await enqueue(store.db, queued);
    const old = claimOf(1);
    await claim(old, 2);

    expect(await takeOver(2)).to.equal(2);
    expect(await takeOver(2)).to.equal(0);

    const found = await all();
    expect(found).to.deep.equal(
      queued.slice(0, 2).map((message) => ({
        ...message,
        state: 'submitting',
        outcome: 'unknown',
        claim: { ...old, epoch: 2 },
        v: 2,
      })),
    );
    expect(await queueOf(store.db).findOne({})).to.deep.include({ next: 2, claims: [], open: true });
    expect(idsOf(await claimerOf(2)())).to.deep.equal(idsOf(queued.slice(2)));
  });

  it('a document that ended with it is removed', async () => {
    await enqueue(store.db, make(2));
    await claim(claimOf(1), 2);

    expect(await takeOver(2)).to.equal(2);

    expect(await queueOf(store.db).countDocuments()).to.equal(0);
    expect(await messages().countDocuments({ outcome: 'unknown', 'claim.epoch': 2 })).to.equal(2);
  });

  it('all of it is taken over, also from more documents than are looked at at once', async () => {
    for (let i = 0; i < 60; i++) await enqueue(store.db, make(2));
    await claim(claimOf(1), 1);
    await claim(claimOf(2), 2);

    expect(await takeOver(3)).to.equal(120);
    expect(await queueOf(store.db).countDocuments()).to.equal(0);
  });

  for (const [what, outcome] of [
    ['sent', SENT],
    ['unknown', UNKNOWN],
    ['nothing written', { kind: 'requeue' }],
  ] as const) {
    it(`an earlier holder that wakes up settles none of it (${what})`, async () => {
      const queued = make(2);
      await enqueue(store.db, queued);
      const old = claimOf(1);
      await claim(old, 2);
      await takeOver(2);
      const before = await all();
      const told: unknown[] = [];
      const settler = new Settler({
        ...{ db: store.db, announcer: { announce: async (changes) => void told.push(...changes) } },
        ...{ lease: 'carrier:c', epoch: 1, stream: 'outcomes', isUnborn: () => true },
      });

      const settled = await settler.settle(
        queued.map((line) => ({
          message: { ...line, state: 'submitting' as const, claim: old, v: 1 },
          decide: (message: MessageDocument) => decideOutcome(message, old, outcome, clock.now(), 0),
        })),
      );

      expect(settled).to.deep.equal([undefined, undefined]);
      expect(await all()).to.deep.equal(before);
      expect(told).to.deep.equal([]);
      expect(await queueOf(store.db).countDocuments()).to.equal(0);
    });
  }

  it('a claim that it stores in the middle of the take-over is taken over, too', async () => {
    await enqueue(store.db, make(4));
    await claim(claimOf(1), 2);
    let late: (() => Promise<unknown>) | undefined = () => claim(claimOf(1), 4);
    const meanwhile = beforeInsert(store.db, 'messages', async () => {
      const now = late;
      late = undefined;
      await now?.();
    });

    expect(await takeOver(2, false, meanwhile)).to.equal(4);

    expect(await messages().countDocuments({ outcome: 'unknown' })).to.equal(4);
    expect(await queueOf(store.db).countDocuments()).to.equal(0);
  });

  it('a claim that it stores after the take-over is there until the next: the rest of the document ends without it', async () => {
    await enqueue(store.db, make(4));
    const { db } = store;
    await claim(claimOf(1), 2);
    const claimer = new Claimer({ db, clock, carrier: 'c', epoch: 2, gates: openGates(db, clock), held: () => true });
    const claimed = await claimer.claim({ messages: 9, segments: 9 }, { paths: ['transactional'], fromLane: 0 });

    await messages().insertMany(claimed);
    claimer.stored(claimed.map(({ _id }) => _id));
    await claimer.removeEnded();

    expect(claimed).to.have.length(2);
    expect(await takeOver(2)).to.equal(2);
    expect(await messages().countDocuments({ outcome: 'unknown' })).to.equal(2);
    expect(await queueOf(store.db).countDocuments()).to.equal(0);
  });

  it('of messages that were written out after the claim nothing is inserted: they are unknown by their own state', async () => {
    await enqueue(store.db, make(2));
    await claim(claimOf(1), 2);
    await writeOutAll(store.db);

    expect(await takeOver(2)).to.equal(0);
    expect(await takeOverUnknowns(store.db, 'c', 2)).to.equal(2);

    expect(await messages().countDocuments({ outcome: 'unknown', 'claim.epoch': 2, v: 2 })).to.equal(2);
    expect(await queueOf(store.db).countDocuments()).to.equal(0);
  });

  it('what it settled before it died stays as it was settled', async () => {
    const [sent, other] = make(2);
    if (sent === undefined || other === undefined) throw new Error('two were made');
    await enqueue(store.db, [sent, other]);
    const old = claimOf(1);
    await claim(old, 2);
    const settled: MessageDocument = { ...sent, state: 'sent', claim: old, v: 2 };
    await messages().insertOne(settled);

    expect(await takeOver(2)).to.equal(1);

    const found = await all();
    expect(found[0]).to.deep.equal(settled);
    expect(found[1]).to.include({ _id: other._id, outcome: 'unknown' });
  });

  describe('of lines whose messages are stored', () => {
    it('what it did not get to waits again, and is sent once', async () => {
      const queued = make(3);
      await enqueueWritten(store.db, queued);
      const old = claimOf(1);
      await claim(old, 3);
      const [first] = await takeQueued<MessageDocument>(store.db, idsOf(queued).slice(0, 1) as never, old);

      expect(await takeOver(2)).to.equal(0);
      expect(await takeOverUnknowns(store.db, 'c', 2)).to.equal(1);

      const again = claimerOf(2);
      expect(first?._id).to.equal(queued[0]?._id);
      expect(idsOf(await again())).to.deep.equal(idsOf(queued.slice(1)));
      expect(await again()).to.deep.equal([]);
      expect(await takeQueued(store.db, idsOf(queued) as never, old), 'the old holder').to.deep.equal([]);
    });

    it('the same when the take-over was cut off before it closed the claims', async () => {
      const queued = make(2);
      await enqueueWritten(store.db, queued);
      await claim(claimOf(1), 2);
      const [document] = await queueOf(store.db).find().toArray();
      await takeOver(2);
      if (document !== undefined) await queueOf(store.db).insertOne(document); // unchanged

      await takeOver(2);

      const again = claimerOf(2);
      expect(idsOf(await again())).to.have.members(idsOf(queued));
      expect(await again()).to.deep.equal([]);
    });

    it('also of lines that were put there again and never written out', async () => {
      const queued = make(2);
      await insertAgain(store.db, ownDocuments(newId('grp'), queued, clock.now()), clock.now());
      await claim(claimOf(1), 2);

      expect(await takeOver(2)).to.equal(0);

      const again = claimerOf(2);
      expect(idsOf(await again())).to.have.members(idsOf(queued));
      expect(await again()).to.deep.equal([]);
    });
  });

  it('claims of its own epoch only when asked for, and never those of another carrier', async () => {
    await enqueue(store.db, make(6));
    await claim(claimOf(2), 2);
    await claim(claimOf(1, 'other'), 4);

    expect(await takeOver(2)).to.equal(0);
    expect(await takeOver(2, true)).to.equal(2);

    const [document] = await queueOf(store.db).find().toArray();
    expect(document?.claims.map(({ carrier }) => carrier)).to.deep.equal(['other']);
  });

  it('a document that is kept stays for a day, and is no more to be claimed', async () => {
    const documents = ownDocuments(newId('grp'), make(2), clock.now());
    await insertAgain(store.db, documents, clock.now());
    await writeOutAll(store.db);
    await claim(claimOf(1), 2);

    await takeOver(2);

    const kept = await queueOf(store.db).findOne({ keep: true });
    expect(kept).to.include({ _id: documents[0]?._id, next: 2 });
    expect(kept).not.to.have.property('open');
    expect(kept?.removeAt?.getTime()).to.equal(clock.now().getTime() + DAY_MS);
    expect(await queueOf(store.db).countDocuments({ keep: { $exists: false } }), 'their new lines').to.equal(1);
  });
});

function beforeInsert(db: Db, collection: string, work: () => Promise<unknown>): Db {
  return new Proxy(db, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'command') return member.bind(target);
      return async (...args: unknown[]) => {
        const [command] = args;
        if (typeof command === 'object' && command !== null && Reflect.get(command, 'insert') === collection) {
          await work();
        }
        return member.apply(target, args);
      };
    },
  });
}
