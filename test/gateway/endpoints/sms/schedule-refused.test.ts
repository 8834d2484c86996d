import { expect } from 'chai';
import { setAccountStatus } from '../../../../shared/money/accounts/store.ts';
import type { AccountId } from '../../../../shared/platform/runtime/ids.ts';
import { expectFieldRefusal, expectProblem } from '../../../support/problem.ts';
import { good, inDays, scheduleGateway } from '../../../support/schedule-gateway.ts';

describe('POST /v2/schedule: refused', () => {
  const world = scheduleGateway();
  const { schedule, balanceOf, makeCustomer, tracesOf } = world;

  describe('400', () => {
    let account: AccountId;
    let key: string;
    before(async () => {
      ({ account, key } = await makeCustomer(5));
    });
    afterEach('stores nothing and charges nothing', async () => {
      expect(await tracesOf(account)).to.equal(0);
      expect(await balanceOf(account)).to.equal(5);
    });

    const without = (field: string): object =>
      Object.fromEntries(Object.entries(good()).filter(([name]) => name !== field));
    const rows: readonly [string, () => object | string, readonly string[]][] = [
      [
        'nothing in it',
        () => ({}),
        ['to missing_field', 'message missing_field', 'sender missing_field', 'schedule_time missing_field'],
      ],
      ['no time', () => without('schedule_time'), ['schedule_time missing_field']],
      ['the time is null', () => ({ ...good(), schedule_time: null }), ['schedule_time wrong_type']],
      ['the time is a number', () => ({ ...good(), schedule_time: 1_900_000_000 }), ['schedule_time wrong_type']],
      ['the time is an operator', () => ({ ...good(), schedule_time: { $gt: '' } }), ['schedule_time wrong_type']],
      ['the time is empty', () => ({ ...good(), schedule_time: '' }), ['schedule_time invalid_time']],
      ['the time is a word', () => ({ ...good(), schedule_time: 'tomorrow' }), ['schedule_time invalid_time']],
      [
        'the time has no offset',
        () => ({ ...good(), schedule_time: inDays(1).slice(0, 19) }),
        ['schedule_time invalid_time'],
      ],
      [
        'the day does not exist',
        () => ({ ...good(), schedule_time: '2099-02-30T10:00:00+05:30' }),
        ['schedule_time invalid_time'],
      ],
      ['the time is over', () => ({ ...good(), schedule_time: inDays(-1 / 86_400) }), ['schedule_time out_of_range']],
      [
        'the time is now',
        () => ({ ...good(), schedule_time: new Date().toISOString() }),
        ['schedule_time out_of_range'],
      ],
      ['the time is 36 days ahead', () => ({ ...good(), schedule_time: inDays(36) }), ['schedule_time out_of_range']],
      ['to has a plus', () => ({ ...good(), to: '+919876543210' }), ['to invalid_phone']],
      ['to is an empty list', () => ({ ...good(), to: [] }), ['to wrong_count']],
      ['the sender is bad', () => ({ ...good(), sender: '' }), ['sender invalid_sender']],
      ['the message is too long', () => ({ ...good(), message: 'a'.repeat(1_531) }), ['message too_long']],
      ['the route is unknown', () => ({ ...good(), route: 'otp' }), ['route invalid_value']],
      ['a typo', () => ({ ...good(), shedule_time: inDays(1) }), ['shedule_time unknown_field']],
      [
        'it is valid only until before its time',
        () => ({ ...good(), valid_until: inDays(0.5) }),
        ['valid_until out_of_range'],
      ],
      [
        'it is valid until its time, and no longer',
        () => {
          const body = good();
          return { ...body, valid_until: body.schedule_time };
        },
        ['valid_until out_of_range'],
      ],
      [
        'it is valid for more than 7 days after its time',
        () => ({ ...good(), valid_until: inDays(8.01) }),
        ['valid_until out_of_range'],
      ],
      [
        'all at once',
        () => ({ to: '1', message: '', sender: '?', schedule_time: '', valid_until: '', extra: 1 }),
        [
          'to invalid_phone',
          'message too_short',
          'sender invalid_sender',
          'schedule_time invalid_time',
          'valid_until invalid_time',
          'extra unknown_field',
        ],
      ],
    ];
    for (const [what, body, problems] of rows) {
      it(`names every problem: ${what}`, async () => {
        const answer = await schedule(key, body());

        expectProblem(answer, 'invalid_request');
        const found = answer.body.errors.map((one: { field: string; code: string }) => `${one.field} ${one.code}`);
        expect(found).to.have.members(problems);
      });
    }

    it('takes a validity that counts from the time it is booked for: 7 days after it', async () => {
      const answer = await schedule(key, { ...good(), valid_until: inDays(7.99), dry_run: true });

      expect(answer.status, answer.text).to.equal(200);
    });
  });

  describe('403', () => {
    it('insufficient_credits: charges and stores nothing', async () => {
      const { account, key } = await makeCustomer(0);

      expectProblem(await schedule(key, good()), 'insufficient_credits');
      expect(await tracesOf(account)).to.equal(0);
    });

    it('insufficient_credits also of a dry run', async () => {
      const { key } = await makeCustomer(0);

      expectProblem(await schedule(key, { ...good(), dry_run: true }), 'insufficient_credits');
    });

    it('account_suspended', async () => {
      const { account, key } = await makeCustomer(1);
      await setAccountStatus(world.store.db, account, 'suspended');

      expectProblem(await schedule(key, good()), 'account_suspended');
      expect(await tracesOf(account)).to.equal(0);
    });

    it('credits_expired', async () => {
      const { key } = await makeCustomer(1, ['send'], { expiryDate: '2020-01-01' });

      expectProblem(await schedule(key, good()), 'credits_expired');
    });

    it('sender_not_allowed', async () => {
      const { account, key } = await makeCustomer(1, ['send'], { senders: 'registered' });

      expectFieldRefusal(await schedule(key, good()), 'sender_not_allowed', 'sender');
      expect(await tracesOf(account)).to.equal(0);
    });

    it('scope_missing: of a key that may not send, and of otp without that scope', async () => {
      const [reader, sender] = [await makeCustomer(1, ['read']), await makeCustomer(1, ['send'])];

      expectProblem(await schedule(reader.key, good()), 'scope_missing');
      expectProblem(await schedule(sender.key, { ...good(), priority: 'otp' }), 'scope_missing');
    });
  });
});
