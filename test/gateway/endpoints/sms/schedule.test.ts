import { expect } from 'chai';
import request from 'supertest';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { isScheduleId } from '../../../../shared/platform/runtime/ids.ts';
import { DueTurns } from '../../../../workers/schedules/due-turns.ts';
import { releaseDue } from '../../../../workers/schedules/release.ts';
import { openGateway } from '../../../support/gateway.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { schemaFault } from '../../../support/openapi.ts';
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
});
