import { expect } from 'chai';
import { findAcceptedChat } from '../../../gateway/chatapp/find-accepted.ts';
import type { AccountDocument } from '../../../shared/accounts/account.ts';
import { type ConversationDocument, conversationKey } from '../../../shared/conversations/conversation.ts';
import { type ChatAccepter, createChatAccepter, wouldOpen } from '../../../shared/conversations/open.ts';
import { topUp } from '../../../shared/ledger/change.ts';
import type { LedgerEntryDocument } from '../../../shared/ledger/entry.ts';
import { verifyLedger } from '../../../shared/ledger/verify.ts';
import { GroupAccepter } from '../../../shared/payment/accept.ts';
import { type Clock, systemClock } from '../../../shared/runtime/clock.ts';
import type { AccountId } from '../../../shared/runtime/ids.ts';
import { silentLog } from '../../../shared/runtime/log.ts';
import { CHAT_PRICES, chatMessagesOf, customerWrites, makeTemplateDraft, makeTextDraft } from '../../support/chat.ts';
import { makeAccount, makeDraft } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { openTestStore, type TestStore } from '../../support/store.ts';

const CUSTOMER = '919876543210';
const HOUR_MS = 3_600_000;

describe('conversations/open', () => {
  let store: TestStore;
  before(async () => {
    store = await openTestStore();
  });
  after(() => store.close());

  const newAccepter = (clock: Clock = systemClock): ChatAccepter =>
    createChatAccepter({ db: store.db, clock, log: silentLog, prices: CHAT_PRICES });
  const accountOf = async (account: AccountId): Promise<AccountDocument> => {
    const found = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    if (found === null) throw new Error('no such account');
    return found;
  };
  const conversationOf = (account: AccountId, customer = CUSTOMER) =>
    store.db.collection<ConversationDocument>('conversations').findOne({ _id: conversationKey(account, customer) });
  const chargesOf = (account: AccountId): Promise<LedgerEntryDocument[]> =>
    store.db.collection<LedgerEntryDocument>('ledger').find({ account, reason: 'conversation' }).toArray();
  const expectWholeLedger = async (account: AccountId): Promise<void> => {
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  };

  it('charges the business price for the first template outside a session and stores message, conversation and ledger', async () => {
    const account = await makeAccount(store.db, 10);
    const draft = makeTemplateDraft({ reference: 'order 7' });

    const outcome = await newAccepter().accept(account, draft);

    if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
    expect(outcome).to.include({ credits: 2, balance: 8 });
    const [message] = await chatMessagesOf(store.db, account);
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

  it('charges the user price inside the session, also for a template, and nothing for what follows', async () => {
    const account = await makeAccount(store.db, 10);
    await customerWrites(store.db, account, CUSTOMER);
    const accepter = newAccepter();

    const first = await accepter.accept(account, makeTemplateDraft());
    const second = await accepter.accept(account, makeTextDraft());
    const third = await newAccepter().accept(account, makeTextDraft());

    expect(first).to.include({ kind: 'accepted', credits: 1, balance: 9 });
    expect(second).to.include({ kind: 'accepted', credits: 0 });
    expect(third).to.include({ kind: 'accepted', credits: 0 });
    const messages = await chatMessagesOf(store.db, account);
    expect(new Set(messages.map(({ conversation }) => conversation)).size).to.equal(1);
    expect((await conversationOf(account))?.current?.by).to.equal('user');
    expect((await accountOf(account)).balance).to.equal(9);
    await expectWholeLedger(account);
  });

  it('opens a new conversation at the user price when the session outlives the old one', async () => {
    const clock = new ManualClock(new Date());
    const account = await makeAccount(store.db, 10);
    const accepter = newAccepter(clock);
    await accepter.accept(account, makeTemplateDraft());
    clock.turn(20 * HOUR_MS);
    await customerWrites(store.db, account, CUSTOMER, clock.now());
    const inside = await accepter.accept(account, makeTextDraft());
    clock.turn(4 * HOUR_MS);

    const after = await accepter.accept(account, makeTextDraft());

    expect(inside).to.include({ kind: 'accepted', credits: 0 });
    expect(after).to.include({ kind: 'accepted', credits: 1, balance: 7 });
    expect(await chargesOf(account)).to.have.lengthOf(2);
    await expectWholeLedger(account);
  });

  it('refuses free-form text outside the session, says when it closed, and stores and charges nothing', async () => {
    const account = await makeAccount(store.db, 10);
    const accepter = newAccepter();

    const never = await accepter.accept(account, makeTextDraft());
    const wrote = new Date(Date.now() - 25 * HOUR_MS);
    await customerWrites(store.db, account, CUSTOMER, wrote);
    const late = await accepter.accept(account, makeTextDraft());

    expect(never).to.deep.equal({ kind: 'session_closed', closedAt: undefined });
    expect(late).to.deep.equal({ kind: 'session_closed', closedAt: new Date(wrote.getTime() + 24 * HOUR_MS) });
    expect(await chatMessagesOf(store.db, account)).to.deep.equal([]);
    expect((await accountOf(account)).balance).to.equal(10);
  });

  for (const { name, credits, overrides, outcome } of [
    {
      name: 'without the credits',
      credits: 1,
      overrides: {},
      outcome: { kind: 'insufficient_credits', balance: 1, required: 2 },
    },
    {
      name: 'of a suspended account',
      credits: 5,
      overrides: { status: 'suspended' as const },
      outcome: { kind: 'account_suspended' },
    },
    {
      name: 'of an account whose credits have expired',
      credits: 5,
      overrides: { expiryDate: '2020-01-01' },
      outcome: { kind: 'credits_expired', expiryDate: '2020-01-01' },
    },
  ]) {
    it(`stores and charges nothing for a message ${name}`, async () => {
      const account = await makeAccount(store.db, credits, overrides);

      const refused = await newAccepter().accept(account, makeTemplateDraft());

      expect(refused).to.deep.equal(outcome);
      expect(await chatMessagesOf(store.db, account)).to.deep.equal([]);
      expect(await conversationOf(account)).to.equal(null);
      expect((await accountOf(account)).balance).to.equal(credits);
      await expectWholeLedger(account);
    });
  }

  it('charges nothing for what customers write, also with 0 credits, and the session opens', async () => {
    const account = await makeAccount(store.db, 0);

    await customerWrites(store.db, account, CUSTOMER);

    expect((await accountOf(account)).balance).to.equal(0);
    expect(await newAccepter().accept(account, makeTextDraft())).to.include({ kind: 'insufficient_credits' });
    expect((await conversationOf(account))?.lastInboundAt).to.be.instanceOf(Date);
  });

  it('rides in an open conversation with 0 credits left', async () => {
    const account = await makeAccount(store.db, 2);
    const accepter = newAccepter();
    await accepter.accept(account, makeTemplateDraft());

    expect(await accepter.accept(account, makeTemplateDraft())).to.include({ kind: 'accepted', credits: 0 });
    expect(await chatMessagesOf(store.db, account)).to.have.lengthOf(2);
  });

  it('gives the last credits to exactly one of many customers, each with its own exact answer', async () => {
    const account = await makeAccount(store.db, 60);
    const accepter = newAccepter();
    const customers = Array.from({ length: 50 }, (_, i) => `9198765432${String(i).padStart(2, '0')}`);

    const outcomes = await Promise.all(customers.map((to) => accepter.accept(account, makeTemplateDraft({ to }))));

    expect(outcomes.filter(({ kind }) => kind === 'accepted')).to.have.lengthOf(30);
    expect(outcomes.filter(({ kind }) => kind === 'insufficient_credits')).to.have.lengthOf(20);
    expect(await chatMessagesOf(store.db, account)).to.have.lengthOf(30);
    expect(await chargesOf(account)).to.have.lengthOf(30);
    expect((await accountOf(account)).balance).to.equal(0);
    await expectWholeLedger(account);
  });

  it('opens 50 conversations at once with a ledger entry of its own for each', async () => {
    const account = await makeAccount(store.db, 100);
    const gateways = [newAccepter(), newAccepter()];
    const customers = Array.from({ length: 50 }, (_, i) => `9198765432${String(i).padStart(2, '0')}`);

    const outcomes = await Promise.all(
      customers.flatMap((to) => gateways.map((gateway) => gateway.accept(account, makeTemplateDraft({ to })))),
    );

    expect(outcomes.every(({ kind }) => kind === 'accepted')).to.equal(true);
    const charges = await chargesOf(account);
    const opened = await store.db.collection<ConversationDocument>('conversations').find({ account }).toArray();
    expect(charges.map(({ reference }) => reference).sort()).to.deep.equal(
      opened.map(({ current }) => current?.id).sort(),
    );
    expect((await accountOf(account)).balance).to.equal(0);
    await expectWholeLedger(account);
  });

  it('opens one conversation and charges once when two gateways accept the first message at once, 200 times', async function () {
    this.timeout(120_000);
    const account = await makeAccount(store.db, 400);
    const gateways = [newAccepter(), newAccepter()];

    for (let i = 0; i < 200; i++) {
      const to = `9198765${String(i).padStart(5, '0')}`;
      const outcomes = await Promise.all(gateways.map((gateway) => gateway.accept(account, makeTemplateDraft({ to }))));
      const credits = outcomes.map((outcome) => (outcome.kind === 'accepted' ? outcome.credits : outcome.kind));
      expect(credits.sort(), to).to.deep.equal([0, 2]);
    }

    const messages = await chatMessagesOf(store.db, account);
    const charges = await chargesOf(account);
    expect(messages).to.have.lengthOf(400);
    expect(charges).to.have.lengthOf(200);
    for (const { reference } of charges) {
      const within = messages.filter(({ conversation }) => conversation === reference);
      expect(within).to.have.lengthOf(2);
      expect(within.filter(({ opened }) => opened !== undefined)).to.have.lengthOf(1);
    }
    expect((await accountOf(account)).balance).to.equal(0);
    await expectWholeLedger(account);
  });

  it('lets four gateways of one account through that all open conversations without a pause', async function () {
    this.timeout(60_000);
    const account = await makeAccount(store.db, 400);
    const gateways = Array.from({ length: 4 }, () => newAccepter());

    await Promise.all(
      gateways.map(async (gateway, g) => {
        for (let i = 0; i < 50; i++) {
          const to = `91987${g}${String(i).padStart(6, '0')}`;
          expect(await gateway.accept(account, makeTemplateDraft({ to }))).to.include({ kind: 'accepted', credits: 2 });
        }
      }),
    );

    expect((await accountOf(account)).balance).to.equal(0);
    expect(await chargesOf(account)).to.have.lengthOf(200);
    await expectWholeLedger(account);
  });

  it('keeps the ledger whole at every moment while SMS, conversations and top-ups change one balance', async function () {
    this.timeout(60_000);
    const account = await makeAccount(store.db, 200);
    const sms = new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog });
    const gateways = [newAccepter(), newAccepter()];
    let flowing = true;
    const watch = async (): Promise<void> => {
      do await expectWholeLedger(account);
      while (flowing);
    };
    const flow = async (): Promise<void> => {
      await Promise.all([
        ...Array.from({ length: 60 }, () => sms.accept(account, [makeDraft()])),
        ...gateways.flatMap((gateway, g) =>
          Array.from({ length: 30 }, (_, i) =>
            gateway.accept(account, makeTemplateDraft({ to: `91987654${g}${String(i).padStart(3, '0')}` })),
          ),
        ),
        ...Array.from({ length: 10 }, (_, i) => topUp(store.db, account, 1, `more-${i}`)),
      ]);
      flowing = false;
    };

    await Promise.all([watch(), flow()]);

    expect((await accountOf(account)).balance).to.equal(200 - 60 - 120 + 10);
    expect(await chargesOf(account)).to.have.lengthOf(60);
    await expectWholeLedger(account);
  });

  it('loses neither when customer and business write at once', async () => {
    for (let i = 0; i < 50; i++) {
      const account = await makeAccount(store.db, 10);
      const [, outcome] = await Promise.all([
        customerWrites(store.db, account, CUSTOMER),
        newAccepter().accept(account, makeTemplateDraft()),
      ]);

      if (outcome.kind !== 'accepted') throw new Error(outcome.kind);
      const conversation = await conversationOf(account);
      expect(conversation?.lastInboundAt).to.be.instanceOf(Date);
      expect(conversation?.current?.id).to.equal(outcome.conversation);
      expect(conversation?.current?.credits).to.equal(conversation?.current?.by === 'user' ? 1 : 2);
      expect(await chargesOf(account)).to.have.lengthOf(1);
    }
  });

  it('says beforehand what a message would cost, and charges and stores nothing', async () => {
    const account = await makeAccount(store.db, 2);
    const ask = (draft = makeTemplateDraft()) => wouldOpen(store.db, account, draft, new Date(), CHAT_PRICES);

    const outside = await ask();
    const text = await ask(makeTextDraft());
    await customerWrites(store.db, account, CUSTOMER);
    const inside = await ask(makeTextDraft());

    expect(outside).to.deep.equal({ kind: 'would_accept', credits: 2 });
    expect(text).to.deep.equal({ kind: 'session_closed', closedAt: undefined });
    expect(inside).to.deep.equal({ kind: 'would_accept', credits: 1 });
    expect((await accountOf(account)).balance).to.equal(2);
    expect(await chatMessagesOf(store.db, account)).to.deep.equal([]);
  });

  describe('with a time to pay by', () => {
    const late = () => new Date(Date.now() - 1);

    it('opens nothing after it, whatever else it is asked together with', async () => {
      const account = await makeAccount(store.db, 10);
      const accepter = newAccepter();

      const outcomes = await Promise.all([
        accepter.accept(account, makeTemplateDraft({ to: '919876543211' }), late()),
        accepter.accept(account, makeTemplateDraft({ to: '919876543212' })),
        accepter.accept(account, makeTemplateDraft({ to: '919876543213' }), new Date(Date.now() + 60_000)),
        accepter.accept(account, makeTemplateDraft({ to: '919876543214' }), late()),
      ]);

      expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['too_late', 'accepted', 'accepted', 'too_late']);
      expect((await accountOf(account)).balance).to.equal(6);
      expect(await chatMessagesOf(store.db, account)).to.have.lengthOf(2);
    });

    it('lets nothing ride after it, also when this process believes that it has time', async () => {
      const account = await makeAccount(store.db, 10);
      await newAccepter().accept(account, makeTemplateDraft());
      const asleep = newAccepter(new ManualClock(new Date(Date.now() - 2 * HOUR_MS)));
      const draft = makeTemplateDraft();

      const refused = await asleep.accept(account, draft, late());
      const inTime = await asleep.accept(account, makeTemplateDraft(), new Date(Date.now() + 60_000));

      expect(refused).to.deep.equal({ kind: 'too_late' });
      expect(inTime).to.include({ kind: 'accepted', credits: 0 });
      expect(await findAcceptedChat(store.db, account, draft._id)).to.equal(undefined);
      expect(await chatMessagesOf(store.db, account)).to.have.lengthOf(2);
    });

    it('stores a riding message like any other', async () => {
      const account = await makeAccount(store.db, 10);
      const accepter = newAccepter();
      await accepter.accept(account, makeTemplateDraft());
      const [plain, timed] = [makeTemplateDraft({ reference: '$v' }), makeTemplateDraft({ reference: '$v' })];

      await accepter.accept(account, { ...plain, validUntil: timed.validUntil });
      await accepter.accept(account, timed, new Date(Date.now() + 60_000));

      const [, first, second] = await chatMessagesOf(store.db, account);
      expect({ ...second, _id: plain._id }).to.deep.equal(first);
    });
  });
});
