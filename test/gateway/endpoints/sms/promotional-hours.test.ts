import request from 'supertest';
import { addRoute, removeRoute } from '../../../../shared/carriers/routing/store.ts';
import { createSender } from '../../../../shared/carriers/sender.ts';
import type { MessageDocument, Route } from '../../../../shared/messages/document/message.ts';
import { HOURS_LANE, laneOf } from '../../../../shared/messages/document/routing.ts';
import { updateAccount } from '../../../../shared/money/accounts/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { MessageId } from '../../../../shared/platform/runtime/ids.ts';
import { createTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey, openGateway, TEST_CONFIG } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { expectProblem } from '../../../support/problem.ts';
import { use } from '../../../support/use.ts';
import { smsWorld } from './world.ts';

const OTP_ID = '1107160000000000001';
const ENTITY = '1101160000000000009';

describe('POST /v2/send of accounts with DLT', () => {
  // No caching: a decision about a template takes effect at once.
  const { store, balanceOf } = smsWorld('/v2/send', { config: { ...TEST_CONFIG, keyCacheMs: 0 } });

  async function messageOf(id: MessageId): Promise<MessageDocument | null> {
    return store.db.collection<MessageDocument>('messages').findOne({ _id: id });
  }

  describe('promotional hours', () => {
    const clock = new ManualClock();
    const timed = use(() => openGateway(store.db, { clock }));
    after(async () => {
      // A ledger entry that finds the store closed is retried until its time is over by this clock.
      clock.turn(3_600_000);
    });

    async function promoter(dlt: 'on' | 'off'): Promise<string> {
      const account = await makeAccount(store.db, 5, { dlt, entityId: ENTITY });
      const routes = ['transactional', 'promotional'] as const;
      await createSender(store.db, systemClock, { account, sender: '600123', routes, status: 'approved' });
      const offer = makeTemplate({ dltId: OTP_ID, senders: ['600123'], routes, content: '{#var#} off' });
      await createTemplate(store.db, systemClock, account, offer);
      return makeKey(store.db, account);
    }
    const timedPost = (path: string, key: string, to: string | readonly string[], route: string): request.Test =>
      request(timed.url)
        .post(path)
        .set('Authorization', `Bearer ${key}`)
        .send({ to, message: '20 % off', sender: '600123', route });

    /**
     * Time of the request (UTC; India is 5:30 ahead), DLT, route, time of leaving (undefined: at once). The times are
     * later than the store's clock, which decides whether a payment is late.
     */
    const rows: readonly [string, 'on' | 'off', Route, string | undefined][] = [
      ['2098-11-21T15:30:00Z', 'on', 'promotional', '2098-11-22T04:30:00+00:00'],
      ['2098-11-22T04:29:59Z', 'on', 'promotional', '2098-11-22T04:30:00+00:00'],
      ['2098-11-22T04:30:00Z', 'on', 'promotional', undefined],
      ['2098-11-22T16:00:00Z', 'on', 'transactional', undefined],
      ['2098-11-22T16:00:01Z', 'off', 'promotional', undefined],
    ];
    for (const [now, dlt, route, until] of rows) {
      it(`${now}, DLT ${dlt}, ${route}: deferred until ${until ?? 'nothing'}`, async () => {
        const key = await promoter(dlt);
        clock.turn(new Date(now).getTime() - clock.now().getTime());

        const single = await timedPost('/v2/send', key, '919876543210', route);
        const bulk = await timedPost('/v2/send-bulk', key, ['919876543210', '919876543211'], route);

        for (const answer of [single, bulk]) {
          expect(answer.status, answer.text).to.equal(200);
          expect(answer.body.deferred_until).to.equal(until);
        }
        const lane = dlt === 'on' && route === 'promotional' ? HOURS_LANE : laneOf(route);
        expect(await messageOf(single.body.message_id)).to.include({ lane, state: 'queued' });
      });
    }
  });

  describe("a recipient's daytime", () => {
    const clock = new ManualClock();
    const timed = use(() => openGateway(store.db, { clock }));
    before(async () => {
      clock.turn(new Date('2098-11-21T20:00:00Z').getTime() - clock.now().getTime());
    });
    after(async () => {
      clock.turn(3_600_000);
    });
    const OPENING = '2098-11-22T03:30:00+00:00';
    const INDIA = '919876543210';
    const DUBAI = '971501234567';

    it('is said before and with the send, and what would expire before it is refused before the debit', async () => {
      const account = await makeAccount(store.db, 20);
      const daytime = { from: '09:00', to: '21:00', countries: ['IN'] };
      await updateAccount(store.db, account, { daytime });
      const key = await makeKey(store.db, account, ['send', 'read', 'otp']);
      const call = async (path: string, body: object): Promise<request.Response> =>
        request(timed.url)
          .post(path)
          .set('Authorization', `Bearer ${key}`)
          .send({ message: 'We open at nine', sender: 'HARKRA', ...body });
      const schedule_time = '2098-11-21T21:00:00Z';
      const soon = { valid_until: '2098-11-22T03:30:00Z' };

      for (const [path, body, until] of [
        ['/v2/send', { to: INDIA }, OPENING],
        ['/v2/send', { to: INDIA, dry_run: true }, OPENING],
        ['/v2/send', { to: DUBAI }, undefined],
        ['/v2/send', { to: INDIA, priority: 'otp', ...soon }, undefined],
        ['/v2/send-bulk', { to: [DUBAI, INDIA] }, OPENING],
        ['/v2/send-bulk', { to: [DUBAI, INDIA], dry_run: true }, OPENING],
        ['/v2/schedule', { to: INDIA, schedule_time, dry_run: true }, OPENING],
      ] as const) {
        const { body: answer, text } = await call(path, body);
        expect(answer.status, text).to.equal('success');
        expect(answer.deferred_until, `${path} ${JSON.stringify(body)}`).to.equal(until);
      }
      const before = await balanceOf(account);
      for (const [path, body, field] of [
        ['/v2/send', { to: INDIA }, 'to'],
        ['/v2/send', { to: INDIA, dry_run: true }, 'to'],
        ['/v2/send-bulk', { to: [DUBAI, INDIA] }, 'to[1]'],
        ['/v2/schedule', { to: INDIA, schedule_time }, 'to'],
      ] as const) {
        const answer = await call(path, { ...body, ...soon });
        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field, code: 'out_of_range' });
        expect(answer.body.errors[0].detail).to.include(`from 09:00 to 21:00 there, next on ${OPENING}`);
      }
      expect(await balanceOf(account)).to.equal(before);
    });

    it('of the route holds too, and says so when it never begins', async () => {
      const account = await makeAccount(store.db, 20);
      await updateAccount(store.db, account, { daytime: { from: '09:00', to: '21:00' } });
      const route = { _id: 'night', match: { accounts: [account] }, groups: [[{ carrier: 'sim', weight: 1 }]] };
      const daytime = { from: '22:00', to: '06:00' };
      await addRoute(store.db, systemClock, { ...route, order: 0, waitSeconds: 30, daytime });
      // The gateway reads routes again after a second of its clock.
      clock.turn(2_000);
      const key = await makeKey(store.db, account);
      const answer = await eventually(async () => {
        const told = await request(timed.url)
          .post('/v2/send')
          .set('Authorization', `Bearer ${key}`)
          .send({ to: INDIA, message: 'Good night', sender: 'HARKRA' });
        if (told.status !== 400) throw new Error(told.text);
        return told;
      }, 'the route is known');
      await removeRoute(store.db, 'night');

      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors[0].detail).to.include('at no time so in all of its time zones');
    });
  });
});
