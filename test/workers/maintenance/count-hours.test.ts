import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { WRITE_OUT_MS } from '../../../shared/messages/queue/queue-document.ts';
import { insertFirst, writeOut } from '../../../shared/messages/queue/queue-store.ts';
import {
  ALL,
  type Counter,
  countedHourCollection,
  hourCollection,
  readHours,
} from '../../../shared/messages/statistics.ts';
import { giveBackRefused } from '../../../shared/money/conversations/charge.ts';
import { neverStore } from '../../../shared/money/conversations/include.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { type CountDeps, HourCounter } from '../../../workers/maintenance/count-hours.ts';
import { Died, dyingDb } from '../../support/dying-db.ts';
import { makeAccount, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { ownDocuments } from '../../support/queue.ts';
import { useStore } from '../../support/store.ts';

const MINUTE_MS = 60_000;

describe('maintenance: what became of the messages of each hour', () => {
  const store = useStore();
  let db: Db;
  let clock: ManualClock;
  let account: AccountId;
  before(async () => {
    db = store.db;
  });
  beforeEach(async () => {
    clock = new ManualClock(new Date('2026-11-21T10:30:00Z'));
    account = newId('acc');
    for (const name of ['messages', 'queue', 'statistics', 'counted_hours']) await db.collection(name).deleteMany({});
  });

  const counter = (overrides: Partial<CountDeps> = {}) =>
    new HourCounter({ db, clock, messageDays: 90, held: () => true, ...overrides });
  const put = (...messages: AnyMessage[]) => db.collection<AnyMessage>('messages').insertMany(messages);
  const made = (minutesAgo: number, overrides: Partial<MessageDocument> = {}): MessageDocument =>
    makeMessage({ _id: newId('msg', clock.now().getTime() - minutesAgo * MINUTE_MS), account, ...overrides });
  const delivered = (minutesAgo: number, seconds: number, operator = 'alpha'): MessageDocument => {
    const sent = clock.now().getTime() - minutesAgo * MINUTE_MS;
    const history = [
      { state: 'sent' as const, at: new Date(sent) },
      { state: 'delivered' as const, at: new Date(sent + seconds * 1_000) },
    ];
    return made(minutesAgo, { state: 'delivered', operator, history, parts: [{ state: 'delivered' }] });
  };
  const chat = (state: AnyMessage['state'], more: Partial<ChatMessageDocument> = {}) => {
    const { sender: _, ...base } = made(1, { state });
    return {
      ...base,
      ...{ channel: 'chatapp', direction: 'out', conversation: newId('cnv'), path: 'chatapp', lane: 0 },
      content: { kind: 'text', text: 'x' },
      ...more,
    } as ChatMessageDocument;
  };
  const trafficOf = async (counter: Counter) =>
    (await hourCollection(db).findOne({ _id: `${counter}:2026-11-21T10` }))?.traffic ?? [];
  const hours = () => readHours(db, account, new Date(0));

  it('waits while accepted messages are lines only, after the maintenance was away, and then counts them all', async () => {
    await put(made(2));
    const lines = [made(70), made(5)];
    await insertFirst(db, ownDocuments(newId('grp'), lines, clock.now()));
    clock.turn(WRITE_OUT_MS + 5_001);

    await counter().run();
    expect(await hours()).to.deep.equal([]);

    await writeOut(db, clock.now(), { account });
    await counter().run();
    expect((await hours()).map(({ states }) => states.sms)).to.deep.equal([{ queued: 1 }, { queued: 2 }]);
  });

  it('does not mix a carrier of SMS that is named like the chat-app channel with that channel', async () => {
    await put(delivered(10, 4, 'chatapp'), chat('read', { from: '918000000001' }), chat('failed'));

    await counter().run();

    const [hour] = await hours();
    expect(hour?.operators.map(({ name, channel, ended }) => [name, channel, ended])).to.deep.equal([
      ['chatapp', 'chatapp', 2],
      ['chatapp', 'sms', 1],
    ]);
    const senders = (await trafficOf(account)).map(({ sender }) => sender);
    expect(senders, 'a chat-app message has its number').to.include('918000000001');
  });

  it('counts by hour, state, carrier and error, what it cost, and how long it took', async () => {
    // Receipts have a carrier's name, claims have its id.
    await db.collection<{ _id: string; name: string }>('carriers').insertOne({ _id: 'beta', name: 'beta telecom' });
    const claim = { id: newId('clm'), carrier: 'beta', epoch: 1, at: clock.now() };
    await put(
      made(5),
      delivered(10, 4),
      delivered(10, 0.5),
      delivered(20, 100_000, 'beta telecom'),
      made(10, { state: 'failed', claim, errorCode: '0x45', parts: [{ state: 'failed' }] }),
      made(10, { state: 'rejected', errorCode: 'sender_not_registered' }),
      made(70),
      makeMessage({ account: newId('acc'), _id: newId('msg', clock.now().getTime()) }),
    );

    await counter().run();

    const [earlier, now, ...more] = await hours();
    expect(more).to.deep.equal([]);
    expect(earlier).to.deep.include({ _id: `${account}:2026-11-21T09`, states: { sms: { queued: 1 }, chatapp: {} } });
    expect(now).to.deep.include({
      _id: `${account}:2026-11-21T10`,
      countedAt: clock.now(),
      states: { sms: { queued: 1, delivered: 3, failed: 1, rejected: 1 }, chatapp: {} },
      credits: 5, // the rejected one was refunded
    });
    expect(now?.errors).to.have.deep.members([
      { code: '0x45', messages: 1 },
      { code: 'sender_not_registered', messages: 1 },
    ]);
    const [alpha, beta] = now?.operators ?? [];
    expect(alpha).to.deep.include({ name: 'alpha', channel: 'sms', ended: 2, delivered: 2 });
    expect(alpha?.within).to.deep.equal([1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(beta).to.deep.include({ name: 'beta telecom', channel: 'sms', ended: 2, delivered: 1 });
    expect(beta?.within.at(-1)).to.equal(1);
  });

  it('counts traffic by what reports group by, with credits, prices and costs, for each account and for all together', async () => {
    const claim = { id: newId('clm'), carrier: 'beta', epoch: 1, at: clock.now() };
    const routed = { route: 'india', price: '0.12 INR', costs: { beta: '0.05 INR', gamma: '1' } };
    const own = { claim, routed, to: '919876543210', sender: 'HARKRA', segments: 2 };
    const copy = { ...claim, carrier: 'gamma', parts: [{ state: 'unknown' as const }] };
    await put(
      made(5, { ...own, state: 'delivered', parts: [{ state: 'delivered' }, { state: 'delivered' }], earlier: [copy] }),
      made(5, { ...own, state: 'rejected', errorCode: '0x45', parts: [{ state: 'refused' }, { state: 'refused' }] }),
      made(5, { ...own, state: 'delivered', operator: 'Airtel', template: '1107' }),
      made(5, { to: '447400123456' }),
    );

    await counter().run();

    const kind = { half: 0, channel: 'sms', route: 'transactional', rule: 'india', carrier: 'beta', country: 'IN' };
    const traffic = await trafficOf(account);
    expect(traffic).to.deep.include({
      ...kind,
      ...{ sender: 'HARKRA', states: { delivered: 1, rejected: 1 }, segments: 4, credits: 1, refunded: 1 },
      ...{ errors: [{ code: '0x45', messages: 1 }], sales: { INR: 120_000 }, costs: { INR: 100_000, none: 2_000_000 } },
    });
    expect(traffic.map(({ country, operator }) => [country, operator])).to.have.deep.members([
      ['IN', undefined],
      ['IN', 'Airtel'],
      ['GB', undefined],
    ]);
    const together = (await trafficOf(ALL)).find(
      ({ carrier, operator }) => carrier === 'beta' && operator === undefined,
    );
    expect(together).to.deep.include({ ...kind, account, credits: 1 });
    expect(together).not.to.have.property('sender');
  });

  it('counts what is too different together, so that no document grows without end', async () => {
    await put(...Array.from({ length: 250 }, (_, i) => made(5, { sender: `S${i}` })), made(5, { sender: 'S7' }));

    await counter().run();

    const traffic = await trafficOf(account);
    expect(traffic).to.have.lengthOf(201);
    expect(traffic[0]).to.deep.include({ sender: 'S7', states: { queued: 2 } });
    expect(traffic.at(-1)).to.deep.include({
      half: 0,
      channel: 'sms',
      other: true,
      states: { queued: 50 },
      credits: 50,
    });
    const all = await trafficOf(ALL);
    expect(all).to.have.lengthOf(1);
    expect(all[0]).to.deep.include({ account, states: { queued: 251 } });
  });

  it('counts the chat-app channel, and what conversations cost without those that were given back', async () => {
    account = await makeAccount(db, 10);
    const opened = { group: newId('grp'), credits: 2 };
    const passedOn = newId('cnv');
    const refused = [
      chat('rejected', { opened }),
      chat('expired', { opened }),
      chat('failed', { opened, parts: [{ state: 'refused' }] }),
      chat('rejected', { opened, conversation: passedOn }),
    ];
    await put(chat('read', { opened }), chat('delivered', { conversation: passedOn }), ...refused);
    await giveBackRefused(db, refused);

    await counter().run();

    expect((await hours())[0]).to.deep.include({
      states: { sms: {}, chatapp: { read: 1, delivered: 1, rejected: 2, expired: 1, failed: 1 } },
      credits: 4,
      conversations: 2,
    });
  });

  it('counts nothing of what holds the place of a message that came too late', async () => {
    await put(made(5));
    await neverStore(db, newId('msg', clock.now().getTime() - 4 * MINUTE_MS));

    await counter().run();

    expect((await hours())[0]?.states).to.deep.equal({ sms: { queued: 1 }, chatapp: {} });
    expect(await hourCollection(db).countDocuments()).to.equal(2); // the account's, and the total
  });

  it('counts the running hour again and again, and an hour that is over with growing pauses', async () => {
    const counting = counter();
    await put(made(5));
    await counting.run();
    const first = async () => (await countedHourCollection(db).findOne({ _id: '2026-11-21T10' }))?.countedAt;
    expect(await first()).to.deep.equal(clock.now());

    await db.collection('messages').updateMany({}, { $set: { state: 'sent' } });
    clock.turn(14_000);
    await counting.run();
    expect((await hours())[0]?.states.sms).to.deep.equal({ queued: 1 });
    clock.turn(10_000);
    await counting.run();
    expect((await hours())[0]?.states.sms).to.deep.equal({ sent: 1 });

    const times: number[] = [];
    let known = await first();
    let minute = 0;
    for (const step of [...Array(36).fill(10), ...Array(50).fill(360)]) {
      clock.turn(step * MINUTE_MS);
      minute += step;
      await counting.run();
      const now = await first();
      if (now?.getTime() !== known?.getTime()) times.push(minute);
      known = now;
    }
    // Two more counts while the hour ran. Then 3 minutes (40), 3 hours (210), 1 day (1800), 6 days (9000) and 11 days
    // (16200) after its end.
    expect(times).to.deep.equal([10, 20, 40, 210, 1800, 9000, 16200]);
  });

  it('counts what ends in the last hours of the longest validity', async () => {
    const counting = counter();
    await put(made(5));
    clock.turn(6.2 * 24 * 60 * MINUTE_MS);
    await counting.run();

    await db.collection('messages').updateMany({}, { $set: { state: 'expired' } });
    clock.turn(5 * 24 * 60 * MINUTE_MS);
    await counting.run();

    expect((await hours())[0]?.states.sms).to.deep.equal({ expired: 1 });
  });

  it('counts the past month after an update, but no hour of which messages were removed', async () => {
    await put(made(29 * 24 * 60), made(20 * 24 * 60));

    await counter({ messageDays: 14 }).run();
    expect(await hours()).to.deep.equal([]);
    await counter().run();
    expect(await hours()).to.have.lengthOf(2);
  });

  it('a process that dies at any command leaves no wrong count, and the next one counts', async () => {
    await put(delivered(10, 1), delivered(70, 1));
    for (let command = 1; command < 10; command++) {
      for (const when of ['before', 'after'] as const) {
        const dying = counter({ db: dyingDb(db, command, when) });
        await dying.run().catch((error: unknown) => expect(error).to.be.instanceOf(Died));
        for (const { states } of await hours()) expect(states.sms).to.deep.equal({ delivered: 1 });
      }
    }

    await counter().run();
    expect((await hours()).map(({ states }) => states.sms)).to.deep.equal([{ delivered: 1 }, { delivered: 1 }]);
    await counter().run();
    expect(await hourCollection(db).countDocuments({ account })).to.equal(2);
  });

  it('writes nothing without the lease', async () => {
    await put(made(5));

    await counter({ held: () => false }).run();
    let asked = 0;
    await counter({ held: () => asked++ === 0 }).run();

    expect(await hours()).to.deep.equal([]);
  });

  it('a slice of many messages ends nowhere', async () => {
    const many = Array.from({ length: 1_200 }, () => made(5));
    await put(...many);

    await counter().run();

    expect((await hours())[0]?.states.sms).to.deep.equal({ queued: 1_200 });
    expect((await countedHourCollection(db).findOne({ _id: '2026-11-21T10' }))?.messages).to.equal(1_200);
  });
});
