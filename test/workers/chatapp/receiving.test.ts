import assert from 'node:assert/strict';
import { setPriceList } from '../../../shared/carriers/providers/price-list.ts';
import { chatMessageKey } from '../../../shared/carriers/providers/provider.ts';
import { eventBody } from '../../../shared/events/catalogue.ts';
import type { InboxItemDocument } from '../../../shared/messages/chat-inbox.ts';
import { conversationCollection, conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { eventually } from '../../support/eventually.ts';
import { silentLog } from '../../support/silent-log.ts';
import { inboxWorld } from './inbox-world.ts';
import { makeItem } from './make.ts';

describe('chatapp worker: receiving', () => {
  const { world, sent, item, workedOff } = inboxWorld();

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
    // Late statuses: the message is past these states already.
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

  it('a delivery that names no price has that of `sent`, and costs what the price list says', async () => {
    const account = await world.openAccount();
    const message = await sent(account, 1);
    const prices = [{ market: 'IN', category: 'service', price: '0.0014' }];
    await setPriceList(world.store.db, { _id: account.id, currency: 'USD', prices, changedAt: new Date() });
    const pricing = { billable: true, model: 'PMP', type: 'regular', category: 'service' };
    await world.post([item(account, { status: 'sent', pricing })]);
    await world.startWorker();
    await workedOff();
    expect(await world.read(message._id))
      .to.include({ v: 0 })
      .and.not.to.have.property('pricing');

    await world.post([item(account, { status: 'delivered' })]);

    const delivered = await world.until(message._id, ({ state }) => state === 'delivered');
    expect(delivered).to.deep.include({ pricing, cost: '0.0014 USD' });
  });

  it('what customers answer names our message: a quote, a reaction, a button; in the message and in the event', async () => {
    const [account, other] = [await world.openAccount(), await world.openAccount()];
    const ours = await sent(account, 7);
    await sent(other, 8);
    const wrote = (upstreamId: string, type: string, more: Readonly<Record<string, unknown>>) =>
      makeItem(account.id, {
        ...{ kind: 'message', number: account.number, upstreamId, from: '919876543210', sentAt: new Date() },
        ...{ type, body: type, more },
      });
    await world.post([
      wrote('wamid.a', 'text', { context: { id: 'wamid.7' } }),
      wrote('wamid.b', 'reaction', { reaction: { message_id: 'wamid.7', emoji: '👍' } }),
      wrote('wamid.c', 'button', { context: { id: 'wamid.7' }, button: { payload: 'YES', text: 'Yes' } }),
      wrote('wamid.d', 'foreign', { context: { id: 'wamid.8' } }),
      wrote('wamid.e', 'forwarded', { context: { forwarded: true } }),
    ]);
    await world.startWorker();
    await workedOff();

    const told = (await world.events(account)).map(({ type, reply_to }) => [type, reply_to]);
    expect(told).to.have.deep.members([
      ['text', ours._id],
      ['reaction', ours._id],
      ['button', ours._id],
      ['foreign', undefined],
      ['forwarded', undefined],
    ]);
    const stored = await world.store.db
      .collection('messages')
      .find({ account: account.id, direction: 'in', 'replyTo.message': ours._id })
      .toArray();
    expect(stored).to.have.length(3);
  });

  it('what a customer wants of marketing is kept, the newest wish, and told once', async () => {
    const account = await world.openAccount();
    const begun = Date.now();
    const at = (s: number) => new Date(begun - 10_000 + s * 1_000);
    const wish = (wanted: 'stopped' | 'resumed', toldAt: Date) =>
      makeItem(account.id, { kind: 'preference', customer: '919876543210', wish: wanted, toldAt });
    const stop = wish('stopped', at(2));
    await world.post([stop, wish('resumed', at(1))]);
    await world.startWorker();
    await workedOff();
    await world.store.db
      .collection<InboxItemDocument>('chat_inbox')
      .updateOne({ _id: stop._id }, { $set: { due: at(3) } });
    await workedOff();

    const key = conversationKey(account.id, '919876543210');
    const kept = await conversationCollection(world.store.db).findOne({ _id: key });
    expect(kept?.marketing).to.deep.equal({ stopped: true, at: at(2) });
    expect((await world.events(account)).map(({ event, customer }) => [event, customer]).sort()).to.deep.equal([
      ['marketing.resumed', '919876543210'],
      ['marketing.stopped', '919876543210'],
    ]);
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

  for (const together of [true, false]) {
    it(`its failure is told with the reason, ${together ? 'also when both are read at once' : 'and listed with it'}`, async () => {
      const account = await world.openAccount();
      const message = await sent(account, 1);
      const error = { code: 131_026, title: 'Undeliverable', details: 'No' };
      const items = [
        item(account, { status: 'failed', at: new Date(Date.now() - 2_000), error }),
        item(account, { status: 'delivered', at: new Date(Date.now() - 1_000) }),
      ];
      if (together) await world.post(items);
      await world.startWorker();
      for (const one of together ? [] : items) {
        await world.post([one]);
        await workedOff();
      }
      await workedOff();

      const delivered = await world.read(message._id);
      const why = { error_code: 'undeliverable', error_reason: '(131026) No' };
      const told = await world.events(account);
      expect(told.find(({ event }) => event === 'message.failed')).to.include(why);
      const entry = delivered.history.find(({ state }) => state === 'failed');
      assert(entry !== undefined);
      expect(JSON.parse(eventBody({ message: delivered, entry }))).to.include(why);
    });
  }

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
      {
        event: 'provider_trouble_told',
        account: account.id,
        number: account.number,
        code: 'provider_payment_problem',
      },
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

  it('a delivery that came too early is told before the reading that comes after it', async () => {
    const account = await world.openAccount();
    const message = await sent(account, 7);
    const early = item(account, { upstreamId: 'wamid.7', status: 'delivered' });
    // As it is after it fitted no message.
    await world.post([{ ...early, due: new Date(Date.now() + 3_600_000), tries: 3 }]);
    await world.startWorker();

    await world.post([item(account, { upstreamId: 'wamid.7', status: 'read' })]);

    const read = await world.until(message._id, ({ state }) => state === 'read');
    expect(read.history.map(({ state }) => state)).to.deep.equal(['sent', 'delivered', 'read']);
    await workedOff();
    expect((await world.events(account)).map(({ event }) => event)).to.have.members([
      'message.delivered',
      'message.read',
    ]);
  });

  it('a reading without any delivery is told alone', async () => {
    const account = await world.openAccount();
    const message = await sent(account, 7);
    await world.startWorker();

    await world.post([item(account, { upstreamId: 'wamid.7', status: 'read' })]);

    const read = await world.until(message._id, ({ state }) => state === 'read');
    expect(read.history.map(({ state }) => state)).to.deep.equal(['sent', 'read']);
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
});
