import { expect } from 'chai';
import { findAcceptedChat } from '../../../../gateway/endpoints/chatapp/send.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { topUp } from '../../../../shared/money/ledger/change.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { balanceOf } from '../../../support/balance.ts';
import { CHAT_PRICES, makeTemplateDraft } from '../../../support/chat.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { withCutStore } from '../../../support/mongo-wire/cut-store.ts';
import { cutBefore } from '../../../support/mongo-wire/faults.ts';
import { doneLate } from '../../../support/mongo-wire/undo.ts';
import { silentLog } from '../../../support/silent-log.ts';

describe('conversations/open: an attempt that is held up on its way to the store', () => {
  const site = withCutStore();

  /** Holds up the first attempt to pay, and spends the credits on something else meanwhile. Returns a function that sends it on. */
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
    // The decision is made anew, for a new debit. Its reads fail, so the store never hears of this debit: only the first may still pay.
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
