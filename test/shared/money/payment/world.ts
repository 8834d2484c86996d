import type { Db } from 'mongodb';
import { queuedMessage } from '../../../../shared/messages/document/message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { type DebitRequest, debitAnswers, debitEach } from '../../../../shared/money/payment/debit.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { finishPending } from '../../../../workers/maintenance/finish-pending.ts';
import { balanceOf } from '../../../support/balance.ts';
import { makeDraft } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

/** For the body of a `describe`. */
export function debitWorld() {
  const store = useStore();
  return {
    store,
    accounts: () => store.db.collection<AccountDocument>('accounts'),
    balanceOf: (account: AccountId) => balanceOf(store.db, account),
    problemsOf: async (account: AccountId) => (await verifyLedger(store.db, account)).problems,
    debits:
      (db: Db = store.db) =>
      (requests: readonly DebitRequest[]) =>
        debitAnswers({ db, clock: systemClock, log: silentLog, capped: new Set() }, requests, {
          beganMs: systemClock.monotonicMs(),
          paid: debitEach(db, requests),
        }),
    /** The maintenance, as if a minute later: finishes what a gateway left. */
    recover: () => finishPending(store.db, new ManualClock(new Date(Date.now() + 60_000))),
    makeRequest(account: AccountId, overrides: Partial<DebitRequest> = {}): DebitRequest {
      const group = newId('grp');
      const messages = [queuedMessage(account, group, makeDraft())];
      return { account, group, messages, today: '2026-11-21', done: [], ...overrides };
    },
  };
}
