import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import type { ConversationDocument } from '../../../../shared/money/conversations/conversation.ts';
import { findAcceptedChat } from '../../../../shared/money/conversations/include.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { topUp } from '../../../../shared/money/ledger/change.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { balanceOf } from '../../../support/balance.ts';
import {
  CHAT_PRICES,
  chatMessagesOf,
  customerWrites,
  makeTemplateDraft,
  makeTextDraft,
} from '../../../support/chat.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { cutBefore } from '../../../support/mongo-wire/faults.ts';
import { doneLate } from '../../../support/mongo-wire/undo.ts';
import { CUSTOMER, HOUR_MS, openingWorld } from '../../../support/opening-world.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('conversations/open', () => {
  const world = openingWorld();
  const { newAccepter, accountOf, conversationOf, chargesOf, expectWholeLedger } = world;

  it('charges the business price for the first template outside a session and stores message, conversation and ledger', async () => {
    const account = await makeAccount(world.store.db, 10);
    const draft = makeTemplateDraft({ reference: 'order 7' });

    const outcome = await newAccepter().accept(account, draft);

    if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
    expect(outcome).to.include({ credits: 2, balance: 8 });
    const [message] = await chatMessagesOf(world.store.db, account);
    expect(message).to.deep.include({
      _id: draft._id,
      channel: 'chatapp',
      direction: 'out',
      conversation: outcome.conversation,
      content: draft.content,
      reference: 'order 7',
      state: 'queued',
      v: 0,
      due: draft.validUntil,
    });
    expect(message?.opened).to.include({ credits: 2 });
    const conversation = await conversationOf(account);
    expect(conversation?.current).to.include({
      id: outcome.conversation,
      by: 'business',
      credits: 2,
      opener: draft._id,
      group: message?.opened?.group,
    });
    const [entry, ...more] = await chargesOf(account);
    expect(entry).to.include({
      amount: -2,
      balanceAfter: 8,
      reference: outcome.conversation,
      change: message?.opened?.group,
    });
    expect(more).to.deep.equal([]);
    await expectWholeLedger(account);
  });

  it('stores no more messages of a conversation than its account allows, from however many gateways they come', async () => {
    const { db } = world.store;
    const account = await makeAccount(db, 10);
    await db.collection<AccountDocument>('accounts').updateOne({ _id: account }, { $set: { conversationMessages: 7 } });
    const gateways = Array.from({ length: 4 }, () => newAccepter());
    await gateways[0]?.accept(account, makeTemplateDraft());

    const outcomes = await Promise.all(
      gateways.flatMap((one) => Array.from({ length: 10 }, () => one.accept(account, makeTemplateDraft()))),
    );

    const accepted = outcomes.filter(({ kind }) => kind === 'accepted');
    expect(accepted).to.have.length(6);
    const refused = outcomes.filter((one) => !accepted.includes(one));
    expect(new Set(refused.map(({ kind }) => kind))).to.deep.equal(new Set(['conversation_limit_reached']));
    expect(await chatMessagesOf(db, account)).to.have.length(7);
    expect(await balanceOf(db, account)).to.equal(8);
  });

  it('opens a new conversation at the user price when the session outlives the old one', async () => {
    const clock = new ManualClock(new Date());
    const account = await makeAccount(world.store.db, 10);
    const accepter = newAccepter(clock);
    await accepter.accept(account, makeTemplateDraft());
    clock.turn(20 * HOUR_MS);
    await customerWrites(world.store.db, account, CUSTOMER, clock.now());
    const inside = await accepter.accept(account, makeTextDraft());
    clock.turn(4 * HOUR_MS);

    const after = await accepter.accept(account, makeTextDraft());

    expect(inside).to.include({ kind: 'accepted', credits: 0 });
    expect(after).to.include({ kind: 'accepted', credits: 1, balance: 7 });
    expect(await chargesOf(account)).to.have.lengthOf(2);
    await expectWholeLedger(account);
  });

  it('gives the last credits to exactly one of many customers, each with its own exact answer', async () => {
    const account = await makeAccount(world.store.db, 60);
    const accepter = newAccepter();
    const customers = Array.from({ length: 50 }, (_, i) => `9198765432${String(i).padStart(2, '0')}`);

    const outcomes = await Promise.all(customers.map((to) => accepter.accept(account, makeTemplateDraft({ to }))));

    expect(outcomes.filter(({ kind }) => kind === 'accepted')).to.have.lengthOf(30);
    expect(outcomes.filter(({ kind }) => kind === 'insufficient_credits')).to.have.lengthOf(20);
    expect(await chatMessagesOf(world.store.db, account)).to.have.lengthOf(30);
    expect(await chargesOf(account)).to.have.lengthOf(30);
    expect((await accountOf(account)).balance).to.equal(0);
    await expectWholeLedger(account);
  });

  it('opens 50 conversations at once with a ledger entry of its own for each', async () => {
    const account = await makeAccount(world.store.db, 100);
    const gateways = [newAccepter(), newAccepter()];
    const customers = Array.from({ length: 50 }, (_, i) => `9198765432${String(i).padStart(2, '0')}`);

    const outcomes = await Promise.all(
      customers.flatMap((to) => gateways.map((gateway) => gateway.accept(account, makeTemplateDraft({ to })))),
    );

    expect(outcomes.every(({ kind }) => kind === 'accepted')).to.equal(true);
    const charges = await chargesOf(account);
    const opened = await world.store.db.collection<ConversationDocument>('conversations').find({ account }).toArray();
    expect(charges.map(({ reference }) => reference).sort()).to.deep.equal(
      opened.map(({ current }) => current?.id).sort(),
    );
    expect((await accountOf(account)).balance).to.equal(0);
    await expectWholeLedger(account);
  });
});

describe('conversations/open: an attempt that is held up on its way to the store', () => {
  const site = withCutStore();

  /** Delays the first payment while the credits are spent otherwise. The returned function sends it on. */
  function holdUp(account: AccountId): () => Promise<unknown> {
    let work: (() => Promise<unknown>) | undefined;
    const late = doneLate(site.store.db, (held) => {
      work = held;
    });
    site.proxy.inject({
      command: 'findAndModify',
      collection: 'accounts',
      happens: async (command, link) => {
        await new GroupAccepter({ db: site.store.db, clock: systemClock, log: silentLog }).accept(account, [
          makeDraft(),
        ]);
        await late(command, link);
      },
    });
    return async () => work?.();
  }

  const accept = (account: AccountId, draft: ReturnType<typeof makeTemplateDraft>, payBy: Date) =>
    createChatAccepter({ db: site.cut.db, clock: systemClock, log: silentLog, prices: CHAT_PRICES }).accept(
      account,
      draft,
      payBy,
    );
  const inAnHour = () => new Date(Date.now() + 3_600_000);

  it('may pay after the caller was refused, and the refusal says so', async () => {
    const account = await makeAccount(site.store.db, CHAT_PRICES.businessCredits);
    const draft = makeTemplateDraft();
    const sendOn = holdUp(account);

    const outcome = await accept(account, draft, inAnHour());
    await topUp(site.store.db, account, 1, `late-${account}`);
    await sendOn();

    expect(outcome).to.include({ kind: 'insufficient_credits', mayStillPay: true });
    expect(await findAcceptedChat(site.store.db, account, draft._id), 'it has paid').to.include({ _id: draft._id });
    expect(await balanceOf(site.store.db, account)).to.equal(0);
  });

  it('is unknown when nothing more can be learned after it', async () => {
    const account = await makeAccount(site.store.db, CHAT_PRICES.businessCredits);
    holdUp(account);
    // A new decision leads to a new debit, but its reads fail, so only the first debit may still pay.
    const refused = site.proxy.inject({
      command: 'find',
      collection: 'accounts',
      after: 1,
      times: 2,
      happens: cutBefore,
    });

    const outcome = await accept(account, makeTemplateDraft(), inAnHour());

    expect(refused.met).to.equal(2);
    expect(outcome).to.deep.equal({ kind: 'outcome_unknown' });
  });

  it('leaves a refusal final that came without one', async () => {
    const account = await makeAccount(site.store.db, 0);

    expect(await accept(account, makeTemplateDraft(), inAnHour())).not.to.have.property('mayStillPay');
  });
});

describe('conversations/open: with a time to pay by', () => {
  const world = openingWorld();
  const { newAccepter, accountOf } = world;

  const late = () => new Date(Date.now() - 1);

  it('opens nothing after it, whatever else it is asked together with', async () => {
    const account = await makeAccount(world.store.db, 10);
    const accepter = newAccepter();

    const outcomes = await Promise.all([
      accepter.accept(account, makeTemplateDraft({ to: '919876543211' }), late()),
      accepter.accept(account, makeTemplateDraft({ to: '919876543212' })),
      accepter.accept(account, makeTemplateDraft({ to: '919876543213' }), new Date(Date.now() + 60_000)),
      accepter.accept(account, makeTemplateDraft({ to: '919876543214' }), late()),
    ]);

    expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['too_late', 'accepted', 'accepted', 'too_late']);
    expect((await accountOf(account)).balance).to.equal(6);
    expect(await chatMessagesOf(world.store.db, account)).to.have.lengthOf(2);
  });

  it('lets nothing go after it, also when this process believes that it has time', async () => {
    const account = await makeAccount(world.store.db, 10);
    await newAccepter().accept(account, makeTemplateDraft());
    const asleep = newAccepter(new ManualClock(new Date(Date.now() - 2 * HOUR_MS)));
    const draft = makeTemplateDraft();

    const refused = await asleep.accept(account, draft, late());
    const inTime = await asleep.accept(account, makeTemplateDraft(), new Date(Date.now() + 60_000));

    expect(refused).to.deep.equal({ kind: 'too_late' });
    expect(inTime).to.include({ kind: 'accepted', credits: 0 });
    expect(await findAcceptedChat(world.store.db, account, draft._id)).to.equal(undefined);
    expect(await chatMessagesOf(world.store.db, account)).to.have.lengthOf(2);
  });

  it('stores an included message like any other', async () => {
    const account = await makeAccount(world.store.db, 10);
    const accepter = newAccepter();
    await accepter.accept(account, makeTemplateDraft());
    const [plain, timed] = [makeTemplateDraft({ reference: '$v' }), makeTemplateDraft({ reference: '$v' })];

    await accepter.accept(account, { ...plain, validUntil: timed.validUntil });
    await accepter.accept(account, timed, new Date(Date.now() + 60_000));

    const [, first, second] = await chatMessagesOf(world.store.db, account);
    expect({ ...second, _id: plain._id }).to.deep.equal(first);
  });
});
