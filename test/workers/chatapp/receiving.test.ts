import { expect } from 'chai';
import type { InboundItem, InboxItemDocument, StatusItem } from '../../../shared/chat-inbox/inbox-item.ts';
import { Lease } from '../../../shared/leases/lease.ts';
import type { ChatMessageDocument, InboundMessageDocument } from '../../../shared/messages/chat-message.ts';
import { chatMessageKey } from '../../../shared/providers/message-key.ts';
import { pauseProvider } from '../../../shared/providers/store.ts';
import { systemClock as clock } from '../../../shared/runtime/clock.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import { Metrics } from '../../../shared/runtime/metrics.ts';
import { MessageLog } from '../../../shared/settlement/log-store.ts';
import { createAnnouncer } from '../../../shared/webhooks/announce.ts';
import { takePartition } from '../../../workers/chatapp/held-partition.ts';
import { createChatMetrics } from '../../../workers/chatapp/metrics.ts';
import { decideUnknownsOf } from '../../../workers/chatapp/unknowns.ts';
import { PROVIDER } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { makeItem, makeStatus } from './make.ts';
import { type ChatAccount, chatWorld, customers } from './world.ts';

const ASHA = '919999999999';

describe('chatapp worker: receiving', function () {
  this.timeout(60_000);
  const world = chatWorld();

  /** A message that the provider has accepted as `wamid.<n>`. */
  async function sent(
    account: ChatAccount,
    n: number,
    overrides: Partial<ChatMessageDocument> = {},
  ): Promise<ChatMessageDocument> {
    const at = new Date();
    const [message] = await world.queue(account, {
      state: 'sent',
      claim: { id: newId('clm'), carrier: 'chatapp:0', epoch: 1, at },
      parts: [{ key: chatMessageKey(account.id, `wamid.${n}`), state: 'accepted' }],
      history: [{ state: 'sent', at }],
      ...overrides,
    });
    if (message === undefined) throw new Error('one was queued');
    return message;
  }

  function item({ id }: ChatAccount, status: Partial<StatusItem>, receivedAt?: Date): InboxItemDocument {
    return makeItem(id, makeStatus(status), receivedAt);
  }

  const due = () => world.store.db.collection('chat_inbox').countDocuments({ due: { $exists: true } });
  const workedOff = () => eventually(async () => (await due()) === 0, 'the inbox is worked off');

  it('statuses in any order, twice and skipped, settle each message once for each state', async () => {
    const account = await world.openAccount();
    const messages = await Promise.all([1, 2, 3].map((n) => sent(account, n)));
    const at = (s: number) => new Date(Date.now() - 10_000 + s * 1_000);
    await world.post([
      item(account, { upstreamId: 'wamid.1', status: 'read', at: at(3) }),
      item(account, { upstreamId: 'wamid.1', status: 'delivered', at: at(2) }),
      item(account, { upstreamId: 'wamid.1', status: 'sent', at: at(1) }),
      item(account, { upstreamId: 'wamid.2', status: 'read', at: at(3) }),
      item(account, { upstreamId: 'wamid.3', status: 'delivered', at: at(2) }),
      item(account, { upstreamId: 'wamid.3', status: 'delivered', at: at(2) }),
    ]);
    await world.startWorker();
    await workedOff();
    // Late: what they say is behind the message already.
    await world.post([
      item(account, { upstreamId: 'wamid.2', status: 'delivered', at: at(2) }),
      item(account, { upstreamId: 'wamid.3', status: 'failed', at: at(4), error: { code: 131_026, title: 'x' } }),
    ]);
    await workedOff();

    const stored = await Promise.all(messages.map(({ _id }) => world.read(_id)));
    expect(stored.map(({ history }) => history.map(({ state }) => state))).to.deep.equal([
      ['sent', 'delivered', 'read'],
      ['sent', 'read'],
      ['sent', 'delivered'],
    ]);
    const told = (await world.events(account)).map(({ event, message_id }) => `${message_id} ${event}`);
    expect(told.sort()).to.deep.equal(
      [
        `${messages[0]?._id} message.delivered`,
        `${messages[0]?._id} message.read`,
        `${messages[1]?._id} message.read`,
        `${messages[2]?._id} message.delivered`,
      ].sort(),
    );
  });

  it('a failure, then a delivery after all', async () => {
    const account = await world.openAccount();
    const message = await sent(account, 1);
    await world.startWorker();
    await world.post([
      item(account, { status: 'failed', error: { code: 131_026, title: 'Undeliverable', details: 'No' } }),
    ]);
    const failed = await world.until(message._id, ({ state }) => state === 'failed');
    expect(failed).to.include({ errorCode: 'undeliverable', errorReason: '(131026) No' });

    await world.post([item(account, { status: 'delivered' })]);

    const delivered = await world.until(message._id, ({ state }) => state === 'delivered');
    expect(delivered).not.to.have.property('errorCode');
  });

  it('a failure for a reason that a person must mend is told to the operator, once for an account', async () => {
    const account = await world.openAccount();
    const messages = [await sent(account, 1), await sent(account, 2), await sent(account, 3)];
    const codes = [131_042, 131_042, 131_026];
    await world.post(
      codes.map((code, i) =>
        item(account, { upstreamId: `wamid.${i + 1}`, status: 'failed', error: { code, title: 'x' } }),
      ),
    );
    const told: unknown[] = [];

    await world.startWorker({
      log: { ...silentLog, error: (event, fields) => void told.push({ event, ...fields }) },
    });

    for (const { _id } of messages) await world.until(_id, ({ state }) => state === 'failed');
    await workedOff();
    expect(told).to.deep.equal([
      { event: 'provider_trouble_told', account: account.id, code: 'provider_payment_problem' },
    ]);
  });

  it('a status that comes before its send’s answer is stored waits for it', async () => {
    const account = await world.openAccount();
    await world.startWorker();
    await world.post([item(account, { upstreamId: 'wamid.7', status: 'delivered' })]);
    const inbox = world.store.db.collection<InboxItemDocument>('chat_inbox');
    await eventually(async () => (await inbox.findOne({ tries: { $gte: 1 } })) !== null, 'it is put off');

    const message = await sent(account, 7);

    await world.until(message._id, ({ state }) => state === 'delivered');
    await workedOff();
  });

  it('a status that fits nothing is kept after five minutes, and not tried any more', async () => {
    const account = await world.openAccount();
    const old = new Date(Date.now() - 6 * 60_000);
    await world.post([item(account, { upstreamId: 'wamid.none' }, old)]);
    await world.startWorker();

    await workedOff();

    expect(await world.store.db.collection('chat_inbox').countDocuments({})).to.equal(1);
  });

  it('a status of one account says nothing about another’s message', async () => {
    const account = await world.openAccount();
    const other = await world.openAccount();
    const message = await sent(account, 1);
    const old = new Date(Date.now() - 6 * 60_000);
    await world.post([
      item(other, { upstreamId: 'wamid.1' }, old),
      item(other, { upstreamId: 'x', ours: message._id }, old),
    ]);
    await world.startWorker();

    await workedOff();

    expect((await world.read(message._id)).state).to.equal('sent');
  });

  it('a send whose answer never came is settled by the message id that its status gives back', async () => {
    const account = await world.openAccount(() => {}, { timeoutMs: 100 });
    const [message] = await world.queue(account, {});
    await world.startWorker();
    const unknown = await world.until(message?._id ?? 'msg_', ({ outcome }) => outcome === 'unknown');
    expect(unknown.state).to.equal('submitting');

    await world.post([item(account, { upstreamId: 'wamid.9', ours: unknown._id, status: 'sent' })]);
    const known = await world.until(unknown._id, ({ state }) => state === 'sent');
    await world.post([item(account, { upstreamId: 'wamid.9', status: 'read' })]);

    await world.until(unknown._id, ({ state }) => state === 'read');
    expect(known.parts).to.deep.equal([{ key: chatMessageKey(account.id, 'wamid.9'), state: 'accepted' }]);
    expect(account.provider.sends).to.have.length(1);
  });

  for (const [policy, state] of [
    ['assume_sent', 'sent'],
    ['resend', 'queued'],
  ] as const) {
    it(`after the provider's waiting time an unknown send is ${state}, by its policy ${policy}`, async () => {
      const { db } = world.store;
      const account = await world.openAccount(undefined, { unknownPolicy: policy, unknownWaitMs: 60_000 });
      const lease = new Lease({ name: 'chatapp:0', db, clock, identity: { machine: 'b', pid: 1, startedAt: '1' } });
      await lease.keep();
      const metrics = createChatMetrics(new Metrics());
      const partition = await takePartition({
        db,
        clock,
        log: silentLog,
        metrics,
        announcer: createAnnouncer({ db, clock }),
        messageLog: new MessageLog({ db, clock, log: silentLog, days: 30 }),
        lease,
      });
      const claimed = (minutes: number) => ({
        state: 'submitting' as const,
        outcome: 'unknown' as const,
        claim: {
          id: newId('clm'),
          carrier: 'chatapp:0',
          epoch: lease.epoch,
          at: new Date(Date.now() - minutes * 60_000),
        },
      });
      const [old, young] = await world.queue(account, claimed(2), claimed(0));
      const provider = await db.collection('providers').findOne({ _id: account.id as never });

      const { decided } = await decideUnknownsOf(db, clock, partition, () => provider as never);

      expect([...decided]).to.deep.equal([[policy, 1]]);
      expect((await world.read(old?._id ?? 'msg_')).state).to.equal(state);
      expect((await world.read(young?._id ?? 'msg_')).state).to.equal('submitting');
      await lease.release();
    });
  }

  const INBOUND: readonly Pick<InboundItem, 'type' | 'body' | 'more'>[] = [
    { type: 'text', body: 'hi' },
    {
      type: 'image',
      body: 'my cat',
      more: { image: { id: '1', mime_type: 'image/jpeg', sha256: 'x', caption: 'my cat' } },
    },
    { type: 'audio', body: '', more: { audio: { id: '2', mime_type: 'audio/ogg' } } },
    { type: 'video', body: '', more: { video: { id: '3' } } },
    { type: 'document', body: '', more: { document: { id: '4', filename: 'a.pdf' } } },
    { type: 'sticker', body: '', more: { sticker: { id: '5' } } },
    { type: 'location', body: '', more: { location: { latitude: 1.5, longitude: 2 } } },
    { type: 'contacts', body: '', more: { contacts: [{ name: { formatted_name: 'B' } }] } },
    { type: 'reaction', body: '👍', more: { reaction: { message_id: 'wamid.1', emoji: '👍' } } },
    { type: 'button', body: 'Yes', more: { button: { payload: 'YES', text: 'Yes' } } },
    { type: 'interactive', body: 'Yes', more: { interactive: { button_reply: { id: 'yes', title: 'Yes' } } } },
    { type: 'order', body: '', more: { order: { product_items: [] } } },
    { type: 'unsupported', body: '', more: { errors: [{ code: 131_051 }] } },
    { type: 'hologram', body: '', more: { hologram: { anything: { at: ['all'] } } } },
  ];
  it('customers’ messages of every type are stored and told once, at the provider’s time', async () => {
    const account = await world.openAccount();
    const sentAt = new Date('2026-11-21T09:00:00Z');
    const received = INBOUND.map((content, n): InboundItem => {
      return { kind: 'message', upstreamId: `wamid.in${n}`, from: n === 3 ? null : ASHA, sentAt, ...content };
    });
    await world.post(received.map((what) => makeItem(account.id, what)));
    // The provider delivers again; the callback's ids make it one item, here it is another one.
    await world.post(received.map((what) => makeItem(account.id, what)));
    await world.startWorker();
    await workedOff();

    const stored = await world.store.db
      .collection<InboundMessageDocument>('messages')
      .find({ account: account.id, direction: 'in' })
      .toArray();
    expect(stored).to.have.length(INBOUND.length);
    const byUpstream = new Map(stored.map((message) => [message.upstreamId, message]));
    for (const what of received) {
      const { type, body, more } = what;
      expect(byUpstream.get(what.upstreamId)).to.deep.include({
        from: what.from,
        to: PROVIDER.displayNumber,
        state: 'received',
        inbound: { type, body, ...(more === undefined ? {} : { more }) },
        history: [{ state: 'received', at: sentAt }],
      });
    }
    const events = await world.events(account);
    expect(events).to.have.length(INBOUND.length);
    expect(events.find(({ type }) => type === 'text')).to.deep.equal({
      event: 'message.received',
      from: ASHA,
      message_id: byUpstream.get('wamid.in0')?._id,
      type: 'text',
      body: 'hi',
      timestamp: '2026-11-21T09:00:00+00:00',
    });
    expect(events.find(({ type }) => type === 'image')).to.deep.equal({
      event: 'message.received',
      from: ASHA,
      message_id: byUpstream.get('wamid.in1')?._id,
      type: 'image',
      body: 'my cat',
      timestamp: '2026-11-21T09:00:00+00:00',
      image: { id: '1', mime_type: 'image/jpeg', sha256: 'x', caption: 'my cat' },
    });
  });

  it('a customer’s message comes in also while the channel is paused', async () => {
    const account = await world.openAccount();
    await pauseProvider(world.store.db, account.id);
    await world.startWorker();
    const what: InboundItem = {
      kind: 'message',
      upstreamId: 'a',
      from: ASHA,
      sentAt: new Date(),
      type: 'text',
      body: 'hi',
    };
    await world.post([makeItem(account.id, what)]);

    await eventually(async () => (await world.events(account)).length === 1, 'its event');
  });

  it('an item that cannot be stored holds up no other', async () => {
    const account = await world.openAccount();
    const good = await sent(account, 1);
    const odd: InboundItem = {
      kind: 'message',
      upstreamId: 'odd',
      from: ASHA,
      // No date can be made of it.
      sentAt: new Date(Number.NaN),
      type: 'text',
      body: 'hi',
    };
    await world.store.db
      .collection('chat_inbox')
      .insertMany([
        { ...makeItem(account.id, odd), what: { ...odd, sentAt: 'never' } } as never,
        item(account, { upstreamId: 'wamid.1', status: 'delivered' }) as never,
      ]);
    await world.startWorker();

    await world.until(good._id, ({ state }) => state === 'delivered');
    await eventually(
      async () => (await world.store.db.collection('chat_inbox').findOne({ tries: { $gte: 1 } })) !== null,
      'the odd one is put off',
    );
  });

  it('a flood of one account’s stands before nobody else’s', async () => {
    const flooded = await world.openAccount();
    const quiet = await world.openAccount();
    const ago = new Date(Date.now() - 60_000);
    await world.post(Array.from({ length: 3_000 }, (_, n) => item(flooded, { upstreamId: `wamid.f${n}` }, ago)));
    const message = await sent(quiet, 1);
    await world.post([item(quiet, { upstreamId: 'wamid.1' })]);
    await world.startWorker();

    await world.until(message._id, ({ state }) => state === 'delivered');

    const inbox = world.store.db.collection<InboxItemDocument>('chat_inbox');
    expect(await inbox.countDocuments({ account: flooded.id, tries: 0 })).to.be.above(1_000);
  });

  it('works off a thousand statuses of several accounts', async () => {
    const accounts = await Promise.all([1, 2, 3].map(() => world.openAccount()));
    const items: InboxItemDocument[] = [];
    for (const account of accounts) {
      const at = new Date();
      await world.queue(
        account,
        ...customers(334).map((to, n) => ({
          to,
          state: 'sent' as const,
          parts: [{ key: chatMessageKey(account.id, `wamid.${n}`), state: 'accepted' as const }],
          history: [{ state: 'sent' as const, at }],
        })),
      );
      for (let n = 0; n < 334; n++) items.push(item(account, { upstreamId: `wamid.${n}`, status: 'delivered', at }));
    }
    await world.post(items);
    await world.startWorker();

    await workedOff();

    expect(await world.messages.countDocuments({ state: 'delivered' })).to.equal(1_002);
  });
});
