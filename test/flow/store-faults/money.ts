import type { Db } from 'mongodb';
import { batchCollection } from '../../../shared/messages/batch.ts';
import { queueOf } from '../../../shared/messages/queue/queue-store.ts';
import type { AccountDocument } from '../../../shared/money/accounts/account.ts';
import { conversationKey } from '../../../shared/money/conversations/conversation.ts';
import { createChatAccepter } from '../../../shared/money/conversations/open.ts';
import { refundMessages, topUp } from '../../../shared/money/ledger/change.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../shared/money/payment/accept.ts';
import { isStoreTrouble } from '../../../shared/platform/mongo/errors.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../../workers/maintenance/finish-pending.ts';
import { makeBatch, storeBatch } from '../../support/batches.ts';
import { CHAT_PRICES, chatMessagesOf, makeTemplateDraft } from '../../support/chat.ts';
import { makeAccount, makeDraft, makeMessage } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { claimAll } from '../../support/queue.ts';
import { silentLog } from '../../support/silent-log.ts';
import { type Scenario, untilDone } from './each-command.ts';

const CREDITS = 100;
const clock = systemClock;
const log = silentLog;

/** `nothing`: it threw a store error that means no effect. */
type Answer = 'accepted' | 'unknown' | 'nothing';

async function answerOf(outcome: Promise<{ readonly kind: string }>): Promise<Answer> {
  try {
    const { kind } = await outcome;
    expect(kind).to.be.oneOf(['accepted', 'outcome_unknown']);
    return kind === 'accepted' ? 'accepted' : 'unknown';
  } catch (error) {
    if (!isStoreTrouble(error) && !(error instanceof Error && error.name === 'MongoServerError')) throw error;
    return 'nothing';
  }
}

/** Finishes pending work by a clock so far ahead that no process can still be working on it. */
const recover = (db: Db) => finishPending(db, new ManualClock(new Date(Date.now() + 120_000)));

/** The ledger is whole, nothing is pending, and the account was charged this. */
async function expectCharged(db: Db, account: AccountId, charged: number): Promise<void> {
  const { problems, balance } = await verifyLedger(db, account);
  expect({ problems, charged: CREDITS - balance }).to.deep.equal({ problems: [], charged });
  const stored = await db.collection<AccountDocument>('accounts').findOne({ _id: account });
  expect(stored?.pending ?? {}, 'nothing is pending').to.deep.equal({});
}

/** Fails if the answer was wrong, or if the work is only partly paid for and stored. */
async function expectAnswered(
  db: Db,
  account: AccountId,
  answer: Answer,
  stored: number,
  whole: number,
  price = whole,
) {
  if (answer !== 'unknown') expect(stored, answer).to.equal(answer === 'accepted' ? whole : 0);
  expect(stored).to.be.oneOf([0, whole]);
  await expectCharged(db, account, stored === 0 ? 0 : price);
}

export const ACCEPTING: Scenario = {
  name: 'messages are accepted: the debit, the messages, the ledger',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    let answer: Answer = 'nothing';
    return {
      async act() {
        const accepter = new GroupAccepter({ db: faulty, clock, log });
        const drafts = Array.from({ length: 3 }, () => makeDraft());
        answer = await answerOf(accepter.accept(account, drafts));
        if (answer === 'accepted') await untilEntered(db, account);
      },
      async expectWhole() {
        await recover(db);
        const claimed = await claimAll(db, account);
        expect(new Set(claimed.map(({ _id }) => _id)).size, 'each is claimed once').to.equal(claimed.length);
        await expectAnswered(db, account, answer, claimed.length, 3);
      },
    };
  },
};

/** The ledger entry follows the answer. Its process retries for some seconds, then leaves it to the maintenance. */
const untilEntered = (db: Db, account: AccountId): Promise<unknown> =>
  untilDone(async () => expect(await db.collection('ledger').countDocuments({ account, reason: 'send' })).to.equal(1));

const batch: Scenario = {
  name: 'a batch is paid for',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    const stored = makeBatch(account, 40);
    await storeBatch(db, stored);
    let answer: Answer = 'nothing';
    return {
      async act() {
        const accepter = new GroupAccepter({ db: faulty, clock, log });
        const payBy = new Date(Date.now() + 60_000);
        answer = await answerOf(accepter.acceptBatch(account, { id: stored._id, total: 40 }, payBy));
        if (answer === 'accepted') await untilEntered(db, account);
      },
      async expectWhole() {
        await recover(db);
        const paid = (await batchCollection(db).findOne({ _id: stored._id }))?.state === 'paid';
        await expectAnswered(db, account, answer, paid ? 40 : 0, 40);
      },
    };
  },
};

const conversation: Scenario = {
  name: 'a conversation is opened',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    const draft = makeTemplateDraft();
    let answer: Answer = 'nothing';
    return {
      async act() {
        const accepter = createChatAccepter({ db: faulty, clock, log, prices: CHAT_PRICES });
        answer = await answerOf(accepter.accept(account, draft));
      },
      async expectWhole() {
        await untilDone(() => recover(db));
        const stored = (await chatMessagesOf(db, account)).length;
        const opened = await db.collection<{ _id: string }>('conversations').countDocuments({
          _id: conversationKey(account, draft.to),
        });
        expect(opened).to.equal(stored);
        await expectAnswered(db, account, answer, stored, 1, CHAT_PRICES.businessCredits);
      },
    };
  },
};

const credits: Scenario = {
  name: 'credits are added',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    const id = newId('req');
    return {
      act: async () => void (await untilDone(() => topUp(faulty, account, 7, id))),
      async expectWhole() {
        await recover(db);
        await expectCharged(db, account, -7);
      },
    };
  },
};

const refunds: Scenario = {
  name: 'messages that no carrier took are refunded',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    const messages = Array.from({ length: 3 }, () => makeMessage({ account, state: 'rejected' }));
    return {
      act: () => untilDone(() => refundMessages(faulty, messages)),
      async expectWhole() {
        await recover(db);
        await expectCharged(db, account, -3);
      },
    };
  },
};

const finishing: Scenario = {
  name: 'the maintenance finishes what a gateway left',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    await new GroupAccepter({ db, clock, log }).accept(account, [makeDraft(), makeDraft()]);
    await untilEntered(db, account);
    // As if the process had died right after the debit.
    await queueOf(db).deleteMany({ account });
    await db.collection('ledger').deleteMany({ account, reason: 'send' });
    return {
      act: async () => void (await untilDone(() => recover(faulty))),
      async expectWhole() {
        const claimed = await claimAll(db, account);
        expect(new Set(claimed.map(({ _id }) => _id)).size).to.equal(2);
        expect(claimed, 'each is claimed once').to.have.length(2);
        await expectCharged(db, account, 2);
      },
    };
  },
};

const finishingSent: Scenario = {
  name: 'the maintenance finishes what a gateway left, after a carrier took it: nothing is sent again',
  async open(db, faulty) {
    const account = await makeAccount(db, CREDITS);
    await new GroupAccepter({ db, clock, log }).accept(account, [makeDraft(), makeDraft()]);
    await untilEntered(db, account);
    // As if the process had died between lines and ledger, and both were sent before the maintenance ran.
    await db.collection('ledger').deleteMany({ account, reason: 'send' });
    const sent = (await claimAll(db, account)).map((message) => ({ ...message, state: 'sent' as const, v: 2 }));
    await insertNew(db, 'messages', sent);
    await queueOf(db).deleteMany({ account });
    return {
      act: async () => void (await untilDone(() => recover(faulty))),
      async expectWhole() {
        expect(await claimAll(db, account)).to.deep.equal([]);
        expect(await db.collection('messages').find({ account }).toArray()).to.have.deep.members(sent);
        await expectCharged(db, account, 2);
      },
    };
  },
};

export const MONEY: readonly Scenario[] = [batch, conversation, credits, refunds, finishing, finishingSent];
