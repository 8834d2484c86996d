import { pauseProvider } from '../../../shared/carriers/providers/store.ts';
import type { StatusItem } from '../../../shared/messages/chat-inbox.ts';
import type { ChatMessageDocument, FallbackSms } from '../../../shared/messages/document/chat-message.ts';
import { findInQueue } from '../../../shared/messages/queue/queue-store.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { createChatAccepter } from '../../../shared/money/conversations/open.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { systemClock as clock } from '../../../shared/platform/runtime/clock.ts';
import { type MessageId, newId } from '../../../shared/platform/runtime/ids.ts';
import { balanceOf } from '../../support/balance.ts';
import { eventually } from '../../support/eventually.ts';
import { silentLog } from '../../support/silent-log.ts';
import { inboxWorld } from './inbox-world.ts';
import type { ChatAccount } from './world.ts';

const SMS: FallbackSms = {
  ...{ sender: 'HARKRA', route: 'transactional', lane: 1, text: 'Your order has left.', encoding: 'GSM7', segments: 1 },
};
const CREDITS = 1_000;
/** Prices of the conversation and of the SMS in its place. */
const [CONVERSATION, ONE_SMS] = [2, 1];
const SOON_MS = 300;
const LATER_MS = 3_600_000;

describe('chatapp worker: the SMS in place of a message', () => {
  const { world, item } = inboxWorld();

  async function accept(
    { id: account, number: from }: ChatAccount,
    dueInMs: number,
    sms: Partial<FallbackSms> = {},
  ): Promise<MessageId> {
    const { db } = world.store;
    const prices = { userCredits: 1, businessCredits: CONVERSATION };
    const _id = newId('msg');
    const due = new Date(Date.now() + dueInMs);
    const outcome = await createChatAccepter({ db, clock, log: silentLog, prices }).accept(account, {
      ...{ _id, from, to: '919999999999', content: { kind: 'template', name: 'hello', language: 'en', params: [] } },
      validUntil: new Date(Date.now() + 2 * LATER_MS),
      reference: 'order 7',
      fallback: { afterSeconds: 60, sms: { ...SMS, ...sms }, due },
    });
    expect(outcome.kind).to.equal('accepted');
    return _id;
  }
  const says = ({ id }: ChatAccount, status: StatusItem['status'], ours: MessageId) =>
    world.post([item({ id } as ChatAccount, { status, ours, upstreamId: 'wamid.1' })]);
  const ended = (id: MessageId) => world.until(id, ({ fallback }) => fallback?.due === undefined);
  const smsOf = async ({ id: account }: ChatAccount, { fallback }: ChatMessageDocument) => {
    const sms = fallback?.ended?.kind === 'sent' ? fallback.ended.message : undefined;
    return sms === undefined ? undefined : findInQueue(world.store.db, account, sms, true);
  };
  async function costs({ id }: ChatAccount, credits: number): Promise<void> {
    const { db } = world.store;
    await eventually(async () => (await balanceOf(db, id)) === CREDITS - credits, `it costs ${credits}`);
    expect((await verifyLedger(db, id)).problems).to.deep.equal([]);
  }

  it('fails: the SMS goes at once, is told, and is all that is paid', async () => {
    const account = await world.openAccount();
    await world.startWorker();
    const id = await accept(account, LATER_MS);
    await world.until(id, ({ state }) => state === 'sent');

    await says(account, 'failed', id);

    const message = await ended(id);
    expect(message).to.deep.include({ state: 'failed' });
    expect(message.fallback?.decided?.because).to.equal('failed');
    const sms = await smsOf(account, message);
    expect(sms).to.deep.include({
      to: message.to,
      text: SMS.text,
      sender: SMS.sender,
      fallbackOf: id,
      reference: 'order 7',
    });
    await costs(account, ONE_SMS);
    const events = await eventually(async () => {
      const all = await world.events(account);
      expect(all.map(({ event }) => event)).to.have.members(['message.sent', 'message.failed', 'message.fallback']);
      return all;
    }, 'its events');
    const told = events.find(({ event }) => event === 'message.fallback');
    expect(told).to.include({ message_id: id, fallback_message_id: sms?._id, because: 'failed', error_code: null });
  });

  it('arrives: no SMS, and the conversation is paid', async () => {
    const account = await world.openAccount();
    await world.startWorker();
    const id = await accept(account, LATER_MS);
    await world.until(id, ({ state }) => state === 'sent');

    await says(account, 'delivered', id);

    const { fallback } = await ended(id);
    expect([fallback?.decided, fallback?.ended]).to.deep.equal([undefined, undefined]);
    await costs(account, CONVERSATION);
  });

  it('is not delivered in time: the SMS goes; that it arrives later is told, and costs nothing', async () => {
    const account = await world.openAccount();
    await world.startWorker();
    const id = await accept(account, SOON_MS);

    const message = await ended(id);
    expect(message.fallback?.decided?.because).to.equal('not_delivered');
    await costs(account, ONE_SMS);
    await says(account, 'delivered', id);

    const late = await world.until(id, ({ state }) => state === 'delivered');
    expect(late.history.map(({ state }) => state)).to.deep.equal(['sent', 'fallback', 'delivered']);
    await costs(account, ONE_SMS);
  });

  it('has not left in time: it does not leave any more', async () => {
    const account = await world.openAccount();
    await pauseProvider(world.store.db, account.number);
    await world.startWorker();

    const message = await ended(await accept(account, SOON_MS));

    expect(message).to.include({ state: 'expired', errorCode: 'overtaken' });
    expect(account.provider.sends).to.have.length(0);
    await costs(account, ONE_SMS);
  });

  it('cannot be paid: no SMS, why is told, and the message may still arrive for what it cost', async () => {
    const account = await world.openAccount();
    await world.startWorker();
    const id = await accept(account, SOON_MS, { credits: 5_000 });

    const message = await ended(id);

    expect(message).to.deep.nested.include({ state: 'sent', 'fallback.ended.kind': 'refused' });
    expect(message.history.at(-1)?.error).to.deep.include({ code: 'insufficient_credits' });
    await costs(account, CONVERSATION);
  });

  it('a process that died between the steps leaves each of them to the next: one SMS, paid once', async () => {
    const account = await world.openAccount();
    await world.startWorker();
    const id = await accept(account, SOON_MS);
    const first = await ended(id);

    // As it was before the message knew what became of its SMS.
    await world.messages.updateOne(
      { _id: id },
      { $set: { 'fallback.due': new Date(), history: [] }, $unset: { 'fallback.ended': '' }, $inc: { v: 1 } },
    );

    const again = await ended(id);
    expect(again.fallback).to.deep.equal(first.fallback);
    await costs(account, ONE_SMS);
  });

  it('of an account on hold waits', async () => {
    const account = await world.openAccount();
    const other = await world.openAccount();
    const { db } = world.store;
    await db.collection<AccountDocument>('accounts').updateOne({ _id: account.id }, { $set: { held: true } });
    const held = await accept(account, 0);
    await world.startWorker();

    await ended(await accept(other, 0));

    expect((await world.read(held)).fallback).to.not.have.property('decided');
  });
});
