import { expect } from 'chai';
import { createSender } from '../../../../shared/carriers/sender-store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectFieldRefusal } from '../../../support/problem.ts';
import { smsWorld } from './world.ts';

const GOOD = { to: '919876543210', message: 'Your code is 1234', sender: 'HARKRA', route: 'transactional' };

describe('POST /v2/send', () => {
  const { store, send, tracesOf } = smsWorld('/v2/send');

  describe('an account with registered senders only', () => {
    let account: AccountId;
    let key: string;
    before(async () => {
      account = await makeAccount(store.db, 5, { senders: 'registered' });
      key = await makeKey(store.db, account);
      const routes = ['transactional'] as const;
      await createSender(store.db, systemClock, { account, sender: 'GOOD', routes, status: 'approved' });
      await createSender(store.db, systemClock, { account, sender: 'WAITING', routes, status: 'submitted' });
      const other = await makeAccount(store.db, 5);
      await createSender(store.db, systemClock, { account: other, sender: 'OTHER', routes, status: 'approved' });
    });

    it('sends as an approved sender', async () => {
      expect((await send(key, { ...GOOD, sender: 'GOOD' })).status).to.equal(200);
    });

    const refused: readonly [string, object][] = [
      ['an unknown sender', { sender: 'NOBODY' }],
      ['a sender that is not approved yet', { sender: 'WAITING' }],
      ["another account's sender", { sender: 'OTHER' }],
      ['another spelling', { sender: 'Good' }],
      ['another route than it is registered for', { sender: 'GOOD', route: 'promotional' }],
    ];
    for (const [what, body] of refused) {
      it(`sender_not_allowed: ${what}`, async () => {
        const before = await tracesOf(account);

        const answer = await send(key, { ...GOOD, ...body });

        expectFieldRefusal(answer, 'sender_not_allowed', 'sender');
        expect(await tracesOf(account)).to.equal(before);
      });
    }
  });
});
