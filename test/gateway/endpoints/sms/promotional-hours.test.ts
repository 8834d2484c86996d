import { expect } from 'chai';
import request from 'supertest';
import { createSender } from '../../../../shared/carriers/sender-store.ts';
import type { MessageDocument, Route } from '../../../../shared/messages/document/message.ts';
import { HOURS_LANE, laneOf } from '../../../../shared/messages/document/routing.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { MessageId } from '../../../../shared/platform/runtime/ids.ts';
import { createTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { makeKey, openGateway, TEST_CONFIG, type TestGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { smsWorld } from './world.ts';

const OTP_ID = '1107160000000000001';
const ENTITY = '1101160000000000009';

describe('POST /v2/send of accounts with DLT', () => {
  // No caching: a decision about a template takes effect at once.
  const { store } = smsWorld('/v2/send', { config: { ...TEST_CONFIG, keyCacheMs: 0 } });

  async function messageOf(id: MessageId): Promise<MessageDocument | null> {
    return store.db.collection<MessageDocument>('messages').findOne({ _id: id });
  }

  describe('promotional hours', () => {
    const clock = new ManualClock();
    let timed: TestGateway;
    before(async () => {
      timed = await openGateway(store.db, { clock });
    });
    after(async () => {
      await timed.close();
      // Ledger entries are written after the answers. An entry that finds the store closed is retried until its time, by this clock, is
      // over.
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
     * Time of the request (UTC; India is 5:30 ahead), DLT, route, when the message may leave (undefined: at once). The times are
     * later than the store's clock, by which the store decides whether a payment came too late.
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
});
