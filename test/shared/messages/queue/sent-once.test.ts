import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { QueueDocument } from '../../../../shared/messages/queue/queue-document.ts';
import {
  claimLines,
  findInQueue,
  insertAgain,
  insertFirst,
  queueOf,
  requeue,
  writeOut,
} from '../../../../shared/messages/queue/queue-store.ts';
import type { SubmitOutcome } from '../../../../shared/messages/settlement/decide-outcome.ts';
import { Settler } from '../../../../shared/messages/settlement/settle.ts';
import { OutcomeSettler } from '../../../../shared/messages/settlement/settle-outcomes.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { Claimer } from '../../../../workers/smpp/claim/claim.ts';
import { eventually } from '../../../support/eventually.ts';
import { openGates } from '../../../support/gates.ts';
import { makeMessage } from '../../../support/make.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { cutAfter } from '../../../support/mongo-wire/faults.ts';
import { readsUndone } from '../../../support/mongo-wire/undo.ts';
import { enqueue, ownDocuments, writeOutAll } from '../../../support/queue.ts';
import { silentLog } from '../../../support/silent-log.ts';

const clock = systemClock;
const SENT: SubmitOutcome = { kind: 'sent', parts: [{ state: 'accepted', key: 'c:1' }] };
const DAY_MS = 86_400_000;

describe('lines that are inserted more than once', () => {
  const site = withCutStore();
  let account: AccountId;
  let lines: readonly MessageDocument[];
  let documents: readonly QueueDocument[];
  beforeEach(() => {
    account = newId('acc');
    const path = `path ${account}`;
    lines = Array.from({ length: 5 }, () => makeMessage({ account, path, _id: newId('msg') }));
    documents = ownDocuments(newId('grp'), lines, clock.now());
  });

  const db = () => site.store.db;
  const messages = () => db().collection<MessageDocument>('messages').find({ account }).sort({ _id: 1 }).toArray();
  const queued = () => queueOf(db()).find({ account }).toArray();
  const idsOf = (some: readonly { readonly _id: string }[]) => some.map(({ _id }) => _id);
  /** A holder of the carrier's lease that claims what waits and settles it. */
  const holder = (through = db()) => {
    const gates = openGates(db(), clock);
    const claimer = new Claimer({ db: through, clock, carrier: 'c', epoch: 1, gates, held: () => true });
    const announcer = { announce: async () => {} };
    const settler = new Settler({
      ...{ db: db(), announcer, lease: `carrier:${account}`, epoch: 1, stream: 'outcomes' },
      isUnborn: (id) => claimer.isUnborn(id),
    });
    const none = { onKeys: () => {}, onGroup: () => {} };
    const outcomes = new OutcomeSettler({
      ...{ settler, clock, log: silentLog, onStored: (ids) => claimer.stored(ids), ...none },
    });
    return {
      claimer,
      outcomes,
      claim: (count = 100) =>
        claimer.claim({ messages: count, segments: count }, { paths: [`path ${account}`], fromLane: 0 }),
    };
  };
  const sendAll = async (): Promise<readonly MessageDocument[]> => {
    const { claim, claimer, outcomes } = holder();
    const claimed = await claim();
    await Promise.all(claimed.map((message) => outcomes.add(message, SENT)));
    await claimer.removeEnded();
    return claimed;
  };

  it('again after all was sent and its document removed: nothing is sent twice', async () => {
    await insertFirst(db(), documents);
    expect(idsOf(await sendAll())).to.deep.equal(idsOf(lines));
    expect(await queued()).to.deep.equal([]);
    const sent = await messages();

    await insertAgain(db(), documents, clock.now());
    const again = await sendAll();
    await writeOutAll(db());

    expect(again).to.deep.equal([]);
    expect(sent.map(({ state }) => state)).to.deep.equal(lines.map(() => 'sent'));
    expect(await messages()).to.deep.equal(sent);
  });

  it('again while some are with a carrier: they and the others are sent once', async () => {
    await insertFirst(db(), documents);
    const first = holder();
    const early = await first.claim(2);

    await insertAgain(db(), documents, clock.now());
    const late = await sendAll();
    await Promise.all(early.map((message) => first.outcomes.add(message, SENT)));

    expect([...idsOf(early), ...idsOf(late)]).to.deep.equal(idsOf(lines));
    expect((await messages()).map(({ state }) => state)).to.deep.equal(lines.map(() => 'sent'));
  });

  it('again when the first insert never came: they are sent once, and written out before if they wait', async () => {
    await insertAgain(db(), documents, clock.now());
    await writeOut(db(), clock.now(), { account });
    expect(await messages()).to.deep.equal(lines);

    const claimed = await sendAll();
    await insertAgain(db(), documents, clock.now());

    expect(idsOf(claimed)).to.deep.equal(idsOf(lines));
    expect(await sendAll()).to.deep.equal([]);
  });

  it('a first insert that comes after a repeat is refused, also after the end of its document', async () => {
    await insertAgain(db(), documents, clock.now());
    await insertFirst(db(), documents);
    expect((await queued()).map(({ written, keep }) => ({ written, keep }))).to.deep.equal([
      { written: true, keep: true },
    ]);
    expect(idsOf(await sendAll())).to.deep.equal(idsOf(lines));

    await insertFirst(db(), documents);

    const [kept] = await queued();
    expect(kept?.removeAt?.getTime()).to.be.within(
      clock.now().getTime() + DAY_MS - 60_000,
      clock.now().getTime() + DAY_MS,
    );
    expect(await sendAll()).to.deep.equal([]);
    expect((await messages()).every(({ state }) => state === 'sent')).to.equal(true);
  });

  it('messages that come back get lines again as often as is asked for, and are claimed once', async () => {
    await insertFirst(db(), documents);
    await writeOutAll(db());
    const stored = await messages();
    await requeue(db(), stored);
    await requeue(db(), stored.slice(1));

    expect(idsOf(await sendAll())).to.have.members(idsOf(lines));
    expect(await sendAll()).to.deep.equal([]);
    await eventually(async () => (await queued()).length === 0, 'all lines are removed');
  });

  it('what comes back leaves before what its account has accepted since', async () => {
    const [old, ...others] = lines as [MessageDocument, ...MessageDocument[]];
    await enqueue(db(), others);
    await db().collection<MessageDocument>('messages').insertOne(old);
    await requeue(db(), [old]);

    expect(idsOf(await holder().claim(1))).to.deep.equal([old._id]);
  });

  it('a claim whose answer was lost is found on a majority: a primary that was just replaced does not show it', async () => {
    await insertFirst(db(), documents);
    const { claim } = holder(site.cut.db);
    site.proxy.inject({ command: 'update', collection: 'queue', happens: cutAfter });
    const error = await claim(5).catch((reason: unknown) => reason);
    const before = readsUndone(db(), 'queue', { account }, { $set: { claims: [], next: 0, open: true } });
    const old = site.proxy.inject({ command: 'find', collection: 'queue', happens: before });

    const claimed = await claim(5);
    old.end();

    expect(error).to.be.instanceOf(Error);
    expect(idsOf(claimed)).to.deep.equal(idsOf(lines));
  });

  it('of two claims of the same lines one is told that they are its own, also when both are repeated', async () => {
    await insertFirst(db(), documents);
    const [head] = await queued();
    if (head === undefined) throw new Error('nothing waits');
    const claims = ['a', 'b'].map((carrier) => ({ id: newId('clm'), carrier, epoch: 1, at: clock.now() }));
    const tell = (sure: boolean) =>
      Promise.all(claims.map(async (claim) => (await claimLines(db(), claim, [{ head, to: 3 }], sure)).size));

    const first = await tell(false);

    expect([...first].sort()).to.deep.equal([0, 1]);
    expect(await tell(true)).to.deep.equal(first);
    expect((await queued())[0]?.claims).to.have.length(1);
  });

  it('a line is found by its id until its message is inserted', async () => {
    await insertFirst(db(), documents);
    const [first, second] = lines as [MessageDocument, MessageDocument];
    await holder().claim(1);

    expect(await findInQueue(db(), account, first._id), 'with a carrier').to.deep.equal(first);
    expect(await findInQueue(db(), account, second._id)).to.deep.equal(second);
    expect(await findInQueue(db(), newId('acc'), second._id), 'of another account').to.equal(undefined);
    expect(await findInQueue(db(), account, newId('msg'))).to.equal(undefined);
    await writeOutAll(db());
    expect(await findInQueue(db(), account, second._id)).to.equal(undefined);
  });
});
