import { type Db, MongoNetworkError } from 'mongodb';
import type { StateChange } from '../../../../shared/events/catalogue.ts';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { unpackLines } from '../../../../shared/messages/queue/queue-document.ts';
import { queueOf, takeOverClaims } from '../../../../shared/messages/queue/queue-store.ts';
import { decideOutcome, type SubmitOutcome } from '../../../../shared/messages/settlement/decide-outcome.ts';
import { redoIntents } from '../../../../shared/messages/settlement/intents.ts';
import { type SettleItem, Settler } from '../../../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../../../shared/messages/settlement/settle-outcomes.ts';
import { type AccountId, type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { Claimer } from '../../../../workers/smpp/claim/claim.ts';
import { balanceOf } from '../../../support/balance.ts';
import { openGates } from '../../../support/gates.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { enqueue, writeOutAll } from '../../../support/queue.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

const LEASE = 'carrier:c';
const PATH = '@30:c>d';
const SENT: SubmitOutcome = { kind: 'sent', parts: [{ state: 'accepted', key: 'c:1' }] };
const UNKNOWN: SubmitOutcome = { kind: 'unknown', parts: [{ state: 'unknown' }] };
const REJECTED: SubmitOutcome = { kind: 'rejected', parts: [{ state: 'refused' }], code: '0x0B', reason: 'invalid' };
const REFUSAL = { code: '0x58', reason: 'too fast' };

describe('Settler: a message of which nothing had become yet', () => {
  const clock = new ManualClock();
  const store = useStore();
  let account: AccountId;
  let told: string[];
  let away: boolean;
  beforeEach(async () => {
    for (const name of ['messages', 'queue', 'intents']) await store.db.collection(name).deleteMany({});
    account = await makeAccount(store.db, 0);
    told = [];
    away = false;
  });

  const announcer = {
    announce: async (changes: readonly StateChange[]) => {
      if (away) throw new Error('the store is away');
      told.push(...changes.map(({ message, entry }) => `${message._id} ${entry.state}`));
    },
  };
  const messages = () => store.db.collection<MessageDocument>('messages');
  const idsOf = (some: readonly { readonly _id: string }[]) => some.map(({ _id }) => _id);
  const newClaimer = (epoch = 1, carrier = 'c') => {
    const { db } = store;
    const claimer = new Claimer({ db, clock, carrier, epoch, gates: openGates(db, clock), held: () => true });
    const paths = [PATH, '@30:d'];
    return { claimer, claim: () => claimer.claim({ messages: 100, segments: 100 }, { paths, fromLane: 0 }) };
  };
  /** Claims new lines, and makes that process's settler. */
  const claimed = async (count: number, db = store.db) => {
    const validUntil = new Date(clock.now().getTime() + 3_600_000);
    const lines = Array.from({ length: count }, () =>
      makeMessage({ account, path: PATH, validUntil, _id: newId('msg') }),
    );
    await enqueue(store.db, lines, clock.now());
    const { claimer, claim } = newClaimer();
    const settler = new Settler({
      ...{ db, announcer, lease: LEASE, epoch: 1, stream: 'outcomes' },
      isUnborn: (id) => claimer.isUnborn(id),
    });
    return { lines, claimer, settler, messages: await claim() };
  };
  const item = (message: MessageDocument, outcome: SubmitOutcome): SettleItem<MessageDocument> => ({
    message,
    decide: (now) => (message.claim ? decideOutcome(now, message.claim, outcome, clock.now(), 0.5) : undefined),
  });
  const waiting = async (): Promise<string[]> => {
    const open = await queueOf(store.db).find({ open: true }).toArray();
    return open.flatMap(({ lines, next }) => idsOf(unpackLines(lines).slice(next)));
  };

  it('is inserted as its outcome leaves it, and its event is told', async () => {
    const { messages: both, settler } = await claimed(2);

    const settled = await settler.settle(both.map((message) => item(message, SENT)));

    const stored = await messages().find().sort({ _id: 1 }).toArray();
    expect(settled).to.deep.equal(stored);
    expect(stored.map(({ state, v, claim }) => ({ state, v, claim }))).to.deep.equal(
      both.map(({ claim }) => ({ state: 'sent', v: 2, claim })),
    );
    expect(told).to.deep.equal(both.map(({ _id }) => `${_id} sent`));
  });

  it('is inserted beside others of its group that are stored already', async () => {
    const { messages: both, settler, lines } = await claimed(2);
    await messages().insertOne({ ...(both[0] as MessageDocument) });

    await settler.settle(both.map((message) => item(message, SENT)));

    expect(await messages().countDocuments({ state: 'sent', v: 2 })).to.equal(2);
    expect(told).to.have.members(lines.map(({ _id }) => `${_id} sent`));
  });

  it('is inserted as unknown when its answer does not come, without an event', async () => {
    const { messages: one, settler } = await claimed(1);

    await settler.settle(one.map((message) => item(message, UNKNOWN)));

    expect(await messages().findOne({})).to.deep.include({ state: 'submitting', outcome: 'unknown', v: 2 });
    expect(told).to.deep.equal([]);
  });

  it('is refunded once when it is rejected', async () => {
    const { messages: one, settler } = await claimed(1);

    await settler.settle(one.map((message) => item(message, REJECTED)));
    await redoIntents(store.db, announcer, LEASE, 2);

    expect(await messages().findOne({})).to.include({ state: 'rejected', errorCode: '0x0B' });
    expect(await balanceOf(store.db, account)).to.equal(1);
  });

  for (const again of ['the same group is settled again', 'nobody settles it again'] as const) {
    it(`an insert whose answer was lost is followed up once: ${again}`, async () => {
      const lossy = losingAnswerOf(store.db, 'insert', 'messages');
      const { messages: both, settler } = await claimed(2, lossy);
      const items = both.map((message) => item(message, REJECTED));

      const error = await settler.settle(items).catch((reason: unknown) => reason);
      clock.turn(100);
      if (again === 'nobody settles it again') await settler.finishFollowUps();
      else expect(idsOf((await settler.settle(items)).flatMap((one) => one ?? []))).to.deep.equal(idsOf(both));

      expect(error).to.be.instanceOf(MongoNetworkError);
      const stored = await messages().find().sort({ _id: 1 }).toArray();
      expect(idsOf(stored)).to.deep.equal(idsOf(both));
      expect(stored.every(({ state, history }) => state === 'rejected' && history.length === 1)).to.equal(true);
      expect(new Set(told)).to.deep.equal(new Set(both.map(({ _id }) => `${_id} rejected`)));
      expect(await balanceOf(store.db, account)).to.equal(2);
    });
  }

  it('was written out as `submitting` meanwhile: its outcome is settled there', async () => {
    const { messages: both, settler } = await claimed(2);
    await writeOutAll(store.db, clock.now());
    expect(await messages().countDocuments({ state: 'submitting' })).to.equal(2);

    const settled = await settler.settle(both.map((message) => item(message, REJECTED)));

    expect(settled.map((one) => one?.v)).to.deep.equal([2, 2]);
    expect(await messages().countDocuments({ state: 'rejected', v: 2 })).to.equal(2);
    expect(told).to.deep.equal(both.map(({ _id }) => `${_id} rejected`));
    expect(await balanceOf(store.db, account)).to.equal(2);
  });

  for (const [what, outcomes] of [
    ['its time ran out, then its answer came', [UNKNOWN, SENT]],
    ['its answer came, then its time ran out', [SENT, UNKNOWN]],
    ['twice the same', [SENT, SENT]],
  ] as const) {
    it(`two outcomes of it in one group: ${what}`, async () => {
      const { messages: one, settler } = await claimed(1);

      await settler.settle(one.flatMap((message) => outcomes.map((outcome) => item(message, outcome))));

      const stored = await messages().find().toArray();
      expect(stored).to.have.length(1);
      expect(stored[0]).to.deep.include({ state: 'sent', parts: [{ key: 'c:1', state: 'accepted' }] });
      expect(stored[0]).not.to.have.property('outcome');
      expect(stored[0]?.history.map(({ state }) => state)).to.deep.equal(['sent']);
      expect(new Set(told)).to.deep.equal(new Set(one.map(({ _id }) => `${_id} sent`)));
    });
  }

  for (const [what, outcome, path] of [
    ['nothing was written', { kind: 'requeue' }, PATH],
    ['throttled', { kind: 'throttled', ...REFUSAL }, PATH],
    ['refused by this carrier', { kind: 'failover', path: '@30:d', ...REFUSAL }, '@30:d'],
    ['refused for now once too often', { kind: 'retry', maxTries: 1, path: '@30:d', ...REFUSAL }, '@30:d'],
  ] as const) {
    it(`waits again with one line (${what})`, async () => {
      const { messages: three, settler, claimer } = await claimed(3);

      await settler.settle(three.map((message) => item(message, outcome)));

      expect(await messages().countDocuments({ state: 'queued', path, v: 2 })).to.equal(3);
      expect(await waiting()).to.have.members(idsOf(three));
      expect((await waiting()).length).to.equal(3);
      expect(told).to.deep.equal([]);
      claimer.stored(three.map(({ _id }) => _id));
      await claimer.removeEnded();
      const { claim } = newClaimer(1, 'd');
      expect(idsOf(await claim())).to.have.members(idsOf(three));
      expect(await claim()).to.deep.equal([]);
    });
  }

  it('waits for its next try without a line', async () => {
    const { messages: one, settler } = await claimed(1);

    await settler.settle(one.map((message) => item(message, { kind: 'retry', ...REFUSAL })));

    expect(await messages().findOne({})).to.include({ state: 'waiting', tries: 1 });
    expect(await waiting()).to.deep.equal([]);
  });

  it('one that cannot be settled holds up no other; the next holder finds it unknown', async () => {
    const { messages: three, settler, claimer } = await claimed(3);
    const [bad] = three;
    const outcomes = new OutcomeSettler({
      settler: {
        change: (items) => (items.some(({ message }) => message._id === bad?._id) ? refuse() : settler.change(items)),
        finishFollowUps: () => settler.finishFollowUps(),
      },
      ...{ clock, log: silentLog, onStored: (ids) => claimer.stored(ids), onKeys: () => {}, onGroup: () => {} },
    });

    await Promise.all(three.map((message) => outcomes.add(message, SENT)));
    await claimer.removeEnded();

    expect(await messages().countDocuments({ state: 'sent' })).to.equal(2);
    expect(three.filter(({ _id }) => claimer.isUnborn(_id)).map(({ _id }) => _id)).to.deep.equal([bad?._id]);
    expect(await takeOverClaims(store.db, 'c', 2, clock.now())).to.equal(1);
    expect(await messages().findOne({ _id: bad?._id as MessageId })).to.include({ outcome: 'unknown' });
  });

  it('its holder dies between the insert and the line: the next one puts the line there', async () => {
    const { messages: two, settler } = await claimed(2);
    const [back, sent] = two as [MessageDocument, MessageDocument];
    away = true;
    await settler.settle([item(back, { kind: 'requeue' }), item(sent, SENT)]).catch(() => undefined);
    expect(await waiting()).to.deep.equal([]);

    away = false;
    expect(await takeOverClaims(store.db, 'c', 2, clock.now())).to.equal(0);
    await redoIntents(store.db, announcer, LEASE, 2);
    await redoIntents(store.db, announcer, LEASE, 3);

    expect(new Set(told)).to.deep.equal(new Set([`${sent._id} sent`]));
    const { claim } = newClaimer(3);
    expect(idsOf(await claim())).to.deep.equal([back._id]);
    expect(await claim()).to.deep.equal([]);
  });

  it('its holder dies before the insert: it is unknown, and the intent tells nothing of it', async () => {
    const dying = losingAnswerOf(store.db, 'insert', 'messages', 'before');
    const { messages: one, settler } = await claimed(1, dying);
    await settler.settle(one.map((message) => item(message, REJECTED))).catch(() => undefined);

    expect(await takeOverClaims(store.db, 'c', 2, clock.now())).to.equal(1);
    await redoIntents(store.db, announcer, LEASE, 2);

    expect(await messages().findOne({})).to.deep.include({ state: 'submitting', outcome: 'unknown' });
    expect(told).to.deep.equal([]);
    expect(await balanceOf(store.db, account)).to.equal(0);
  });
});

const refuse = (): Promise<never> => Promise.reject(new TypeError('not storable'));

/** Does the first such command or not (`before`), and loses the answer. */
function losingAnswerOf(db: Db, name: string, collection: string, when: 'before' | 'after' = 'after'): Db {
  let lost = false;
  return new Proxy(db, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property);
      if (property !== 'command') return typeof member === 'function' ? member.bind(target) : member;
      return async (...[command, options]: Parameters<Db['command']>) => {
        const isIt = !lost && Reflect.get(command, name) === collection;
        lost ||= isIt;
        if (isIt && when === 'before') throw new MongoNetworkError('the connection broke');
        const answer = await target.command(command, options);
        if (isIt) throw new MongoNetworkError('the connection broke');
        return answer;
      };
    },
  });
}
