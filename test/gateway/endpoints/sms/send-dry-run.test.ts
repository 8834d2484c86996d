import { expect } from 'chai';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { smsWorld } from './world.ts';

const GOOD = { to: '919876543210', message: 'Your code is 1234', sender: 'HARKRA', route: 'transactional' };

describe('POST /v2/send', () => {
  const { store, send, balanceOf, tracesOf } = smsWorld('/v2/send');

  describe('a dry run', () => {
    const dry = { ...GOOD, dry_run: true };

    it('says what it would take, stores nothing and charges nothing', async () => {
      const account = await makeAccount(store.db, 5);

      const answer = await send(await makeKey(store.db, account), { ...dry, message: 'नमस्ते '.repeat(12) });

      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({
        status: 'success',
        dry_run: true,
        credits_used: 0,
        credits_required: 1,
        segments: 2,
        encoding: 'UCS2',
        units: 84,
        unicode_characters: ['न', 'म', 'स', '्', 'त', 'े'],
        template_id: null,
      });
      expect(await tracesOf(account)).to.equal(0);
      expect(await balanceOf(account)).to.equal(5);
    });

    const refusals: readonly [string, number, Partial<AccountDocument>][] = [
      ['insufficient_credits', 0, {}],
      ['account_suspended', 5, { status: 'suspended' }],
      ['credits_expired', 5, { expiryDate: '2020-01-31' }],
      ['sender_not_allowed', 5, { senders: 'registered' }],
    ];
    for (const [slug, credits, overrides] of refusals) {
      it(`is refused as the real thing would be: ${slug}`, async () => {
        const account = await makeAccount(store.db, credits, overrides);
        const key = await makeKey(store.db, account);

        const dryAnswer = await send(key, dry);
        const real = await send(key, GOOD);

        expect(dryAnswer.body.code).to.equal(slug);
        const { request_id: _a, ...told } = dryAnswer.body;
        const { request_id: _b, ...toldInEarnest } = real.body;
        expect(told).to.deep.equal(toldInEarnest);
      });
    }
  });
});
