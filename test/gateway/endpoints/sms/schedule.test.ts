import request from 'supertest';
import type { KeyClaimDocument } from '../../../../gateway/http/idempotency/key-store.ts';
import type { ProblemSlug } from '../../../../gateway/http/problem.ts';
import type { BatchDocument } from '../../../../shared/messages/batch.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { topUp } from '../../../../shared/money/ledger/change.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, isScheduleId } from '../../../../shared/platform/runtime/ids.ts';
import { DueTurns, releaseDue } from '../../../../workers/schedules/release.ts';
import { openGateway } from '../../../support/gateway.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { schemaFault } from '../../../support/openapi.ts';
import { expectProblem } from '../../../support/problem.ts';
import { DAY_MS, good, inDays, scheduleGateway } from '../../../support/schedule-gateway.ts';

describe('POST /v2/schedule', () => {
  const world = scheduleGateway();
  const { schedules, messages, schedule, balanceOf, makeCustomer, tracesOf } = world;

  describe('200', () => {
    it('answers exactly the three fields, debits one credit and sends nothing yet', async () => {
      const { account, key } = await makeCustomer(5);
      const body = good();

      const answer = await schedule(key, body);

      expect(answer.status, answer.text).to.equal(200);
      const { schedule_id: id } = answer.body;
      expect(answer.body).to.deep.equal({ status: 'success', schedule_id: id, scheduled_for: body.schedule_time });
      expect(isScheduleId(id)).to.equal(true);
      expect(await schedules().findOne({ _id: id })).to.deep.include({
        account,
        state: 'scheduled',
        at: new Date(body.schedule_time),
        due: new Date(body.schedule_time),
      });
      expect(await messages().countDocuments({ account })).to.equal(0);
      expect(await verifyLedger(world.store.db, account)).to.deep.include({ balance: 4, problems: [] });
    });

    const times: readonly [string, () => string, ((given: string) => string)?][] = [
      ['in another offset', () => inDays(2, '-08:00')],
      ['with Z', () => `${inDays(2, '+00:00').slice(0, 19)}Z`, (given) => given.replace('Z', '+00:00')],
      ['with milliseconds', () => inDays(2).replace('+', '.250+')],
      ['almost 35 days ahead', () => inDays(34.9)],
      ['a few seconds ahead', () => inDays(5 / 86_400)],
    ];
    for (const [what, time, expected] of times) {
      it(`takes a time ${what}`, async () => {
        const { account, key } = await makeCustomer(1);
        const given = time();

        const answer = await schedule(key, { ...good(), schedule_time: given });

        expect(answer.body).to.include({ scheduled_for: expected?.(given) ?? given });
        const { at } = (await schedules().findOne({ account })) ?? {};
        expect(at).to.deep.equal(new Date(given));
      });
    }

    it('takes every field of a send, and the message has them at its time', async () => {
      const { account, key } = await makeCustomer(1, ['send', 'read', 'otp']);
      const validUntil = inDays(3);
      const extras = { route: 'transactional', priority: 'otp', reference: 'order 7', valid_until: validUntil };
      const answer = await schedule(key, { ...good(), ...extras, dry_run: false });
      expect(answer.status, answer.text).to.equal(200);

      const { db } = world.store;
      const later = new Date(Date.now() + 2 * DAY_MS);
      await releaseDue({ db, clock: new ManualClock(later), turns: new DueTurns(db) }, later);

      const [message] = await messages().find({ account }).toArray();
      expect(message).to.deep.include({
        to: '919876543210',
        sender: 'HARKRA',
        text: 'Your appointment is at 5',
        route: 'transactional',
        lane: 0,
        reference: 'order 7',
        validUntil: new Date(validUntil),
        state: 'queued',
      });
    });

    it('a dry run leaves no trace', async () => {
      const { account, key } = await makeCustomer(1);
      const body = good();

      const answer = await schedule(key, { ...body, dry_run: true });

      expect(answer.status).to.equal(200);
      expect(answer.body).to.deep.equal({
        status: 'success',
        dry_run: true,
        credits_used: 0,
        credits_required: 1,
        segments: 1,
        encoding: 'GSM7',
        units: 24,
        unicode_characters: [],
        template_id: null,
        scheduled_for: body.schedule_time,
      });
      const { scheduled_for: _, ...timeless } = answer.body;
      expect(schemaFault('#/components/schemas/ScheduleDryRun', timeless)).to.include('scheduled_for');
      expect(await tracesOf(account)).to.equal(0);
      expect(await balanceOf(account)).to.equal(1);
    });

    it('gives each of many requests at the same time its own schedule', async () => {
      const { account, key } = await makeCustomer(50);

      const answers = await Promise.all(Array.from({ length: 40 }, () => schedule(key, good())));

      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      expect(new Set(answers.map(({ body }) => body.schedule_id)).size).to.equal(40);
      expect(await verifyLedger(world.store.db, account)).to.deep.include({ balance: 10, problems: [] });
    });
  });

  it('books with the clock of the gateway', async () => {
    const clock = new ManualClock(new Date('2030-01-01T00:00:00Z'));
    const other = await openGateway(world.store.db, { clock });
    const { key } = await makeCustomer(2);
    const ask = (time: string) =>
      request(other.url)
        .post('/v2/schedule')
        .set('Authorization', `Bearer ${key}`)
        .send({ ...good(), schedule_time: time });

    const answers = [await ask('2030-01-01T05:30:01+05:30'), await ask('2030-01-01T05:30:00+05:30')];
    await other.close();

    expect(answers.map(({ status }) => status)).to.deep.equal([200, 400]);
    expect(systemClock.now().getFullYear()).to.be.below(2030);
  });

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
      ['to is an empty list', () => ({ ...good(), to: [] }), ['to wrong_count']],
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
    const rows: readonly [slug: ProblemSlug, credits: number, overrides: Partial<AccountDocument>][] = [
      ['insufficient_credits', 0, {}],
      ['account_suspended', 1, { status: 'suspended' }],
      ['credits_expired', 1, { expiryDate: '2020-01-01' }],
      ['sender_not_allowed', 1, { senders: 'registered' }],
    ];
    for (const [slug, credits, overrides] of rows) {
      it(`${slug}, of a dry run too: charges and stores nothing`, async () => {
        const { account, key } = await makeCustomer(credits, ['send'], overrides);

        expectProblem(await schedule(key, good()), slug);
        expectProblem(await schedule(key, { ...good(), dry_run: true }), slug);
        expect(await tracesOf(account)).to.equal(0);
      });
    }

    it('scope_missing: of a key that may not send, and of otp without that scope', async () => {
      const [reader, sender] = [await makeCustomer(1, ['read']), await makeCustomer(1, ['send'])];

      expectProblem(await schedule(reader.key, good()), 'scope_missing');
      expectProblem(await schedule(sender.key, { ...good(), priority: 'otp' }), 'scope_missing');
    });
  });

  describe('with an Idempotency-Key', () => {
    const claimOf = async (account: AccountId) => {
      const all = await world.store.db.collection<KeyClaimDocument>('idempotency').find({}).toArray();
      return all.find(({ _id }) => _id.startsWith(account));
    };

    it('books once and answers the same again', async () => {
      const { account, key } = await makeCustomer(5);
      const body = good();

      const first = await schedule(key, body, 'k-1');
      const again = await schedule(key, body, 'k-1');

      expect(again.text).to.equal(first.text);
      expect(again.headers).to.include({ 'idempotency-replayed': 'true' });
      expect(await schedules().countDocuments({ account })).to.equal(1);
      expect(await balanceOf(account)).to.equal(4);
    });

    it('remembers it until 24 hours after the time it is booked for', async () => {
      const { account, key } = await makeCustomer(5);
      const body = { ...good(), schedule_time: inDays(20) };

      await schedule(key, body, 'k-1');

      const claim = await claimOf(account);
      expect(claim?.expiresAt).to.deep.equal(new Date(Date.parse(body.schedule_time) + DAY_MS));
    });

    for (const to of ['919876543210', ['919876543210', '919876543211']]) {
      const what = typeof to === 'string' ? 'a message' : 'a bulk request';
      it(`finds ${what} again that was booked by a process that died before its answer`, async () => {
        const { account, key } = await makeCustomer(5);
        const body = { ...good(), to };
        const first = await schedule(key, body, 'k-1');
        const claim = await claimOf(account);
        await world.store.db
          .collection<KeyClaimDocument>('idempotency')
          .updateOne(
            { _id: claim?._id ?? `${account}:` },
            { $unset: { answer: '' }, $set: { expiresAt: new Date(Date.now() + DAY_MS) } },
          );

        const again = await schedule(key, body, 'k-1');

        expect(again.text).to.equal(first.text);
        expect((await claimOf(account))?.expiresAt).to.deep.equal(claim?.expiresAt);
        expect(await schedules().countDocuments({ account })).to.equal(1);
      });
    }

    it('is free again when the request was refused', async () => {
      const { account, key } = await makeCustomer(0);
      const body = good();
      expectProblem(await schedule(key, body, 'k-1'), 'insufficient_credits');
      await topUp(world.store.db, account, 1, 'more');

      const answer = await schedule(key, body, 'k-1');

      expect(answer.status).to.equal(200);
    });
  });

  describe('200, for many recipients', () => {
    const entries = (count: number) => Array.from({ length: count }, (_, i) => `9190${String(i).padStart(8, '0')}`);

    it('debits all of them at once and stores the batch, which waits', async () => {
      const { account, key } = await makeCustomer(2_000);

      const answer = await schedule(key, { ...good(), to: entries(1_500), reference: 'news' });

      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body).to.have.all.keys('status', 'schedule_id', 'scheduled_for');
      const stored = await schedules().findOne({ account });
      expect(stored).to.include({ _id: answer.body.schedule_id, credits: 1_500 });
      const batch = await world.store.db.collection<BatchDocument>('batches').findOne({ account });
      expect(batch).to.include({ _id: stored?.batch, state: 'booked', total: 1_500, reference: 'news' });
      expect(stored?.content).to.include({ sender: 'HARKRA', route: 'transactional', reference: 'news' });
      expect(await verifyLedger(world.store.db, account)).to.deep.include({ balance: 500, problems: [] });
    });

    it('drops equal entries with dedupe, as a bulk request does', async () => {
      const { account, key } = await makeCustomer(10);
      const [one = '', two = ''] = entries(2);

      const answer = await schedule(key, { ...good(), to: [one, two, one], dedupe: true });

      expect(answer.status, answer.text).to.equal(200);
      expect(await balanceOf(account)).to.equal(8);
    });

    it('names every bad entry by its index, beside what is wrong with the time', async () => {
      const { account, key } = await makeCustomer(10);

      const answer = await schedule(key, { ...good(), to: ['919876543210', '+1', 5], schedule_time: 'soon' });

      expectProblem(answer, 'invalid_request');
      const found = answer.body.errors.map((one: { field: string; code: string }) => `${one.field} ${one.code}`);
      expect(found).to.have.members(['to[1] invalid_phone', 'to[2] wrong_type', 'schedule_time invalid_time']);
      expect(await tracesOf(account)).to.equal(0);
    });

    it('stores nothing when the credits are not enough', async () => {
      const { account, key } = await makeCustomer(10);
      const chunks = () => world.store.db.collection('batch_chunks').countDocuments({});
      const before = await chunks();

      const answer = await schedule(key, { ...good(), to: entries(11) });

      expectProblem(answer, 'insufficient_credits');
      expect(await tracesOf(account)).to.equal(0);
      expect(await chunks()).to.equal(before);
      expect(await balanceOf(account)).to.equal(10);
    });

    it('a dry run leaves no trace', async () => {
      const { account, key } = await makeCustomer(10);
      const body = good();

      const answer = await schedule(key, { ...body, to: entries(3), dry_run: true });

      expect(answer.body).to.deep.include({ dry_run: true, total: 3, credits_used: 0, credits_required: 3 });
      expect(answer.body).to.include({ scheduled_for: body.schedule_time });
      expect(await tracesOf(account)).to.equal(0);
    });
  });
});
