import { expect } from 'chai';
import request from 'supertest';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import { isoTimestamp } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime, type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeKey, useGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { useStore } from '../../../support/store.ts';

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/;

describe('GET /v2/status/{message_id}', () => {
  const store = useStore();
  const gateway = useGateway(store);
  let account: AccountId;
  let key: string;
  before(async () => {
    account = await makeAccount(store.db, 100);
    key = await makeKey(store.db, account);
  });

  function get(id: string, as = key): request.Test {
    return request(gateway.url).get(`/v2/status/${id}`).set('Authorization', `Bearer ${as}`);
  }

  async function sent(changes: Partial<MessageDocument> = {}): Promise<MessageId> {
    const answer = await request(gateway.url)
      .post('/v2/send')
      .set('Authorization', `Bearer ${key}`)
      .send({ to: '919876543210', message: 'a secret text', sender: 'HARKRA' });
    const id: MessageId = answer.body.message_id;
    if (Object.keys(changes).length > 0) {
      await store.db.collection<MessageDocument>('messages').updateOne({ _id: id }, { $set: changes });
    }
    return id;
  }

  describe('200', () => {
    it('shows a new message as queued, with null for what is not known yet', async () => {
      const id = await sent();

      const answer = await get(id);

      expect(answer.status).to.equal(200);
      const { timeline, ...rest } = answer.body;
      expect(rest).to.deep.equal({
        message_id: id,
        to: '919876543210',
        status: 'queued',
        delivered_at: null,
        operator: null,
        segments: 1,
      });
      expect(timeline).to.have.length(1);
      expect(timeline[0].status).to.equal('queued');
      expect(timeline[0].at).to.match(STAMP);
      // Compared with the id, not with the clock: a test that turns its own clock ahead moves the ids of this process ahead.
      expect(timeline[0].at).to.equal(isoTimestamp(idTime(id)));
    });

    it('shows a delivered message with its time, operator and timeline', async () => {
      const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, seconds, 500));
      const id = await sent({
        state: 'delivered',
        deliveredAt: at(4),
        operator: 'Simulated Carrier',
        history: [
          { state: 'sent', at: at(1) },
          { state: 'delivered', at: at(5) },
        ],
      });

      const { body } = await get(id);

      expect(body).to.include({
        status: 'delivered',
        delivered_at: '2026-11-21T10:00:04+00:00',
        operator: 'Simulated Carrier',
      });
      expect(body.timeline.slice(1)).to.deep.equal([
        { status: 'sent', at: '2026-11-21T10:00:01+00:00' },
        { status: 'delivered', at: '2026-11-21T10:00:05+00:00' },
      ]);
    });

    it('tells why a message failed', async () => {
      const id = await sent({
        state: 'failed',
        errorCode: 'carrier_69',
        errorReason: 'Submit failed',
        reference: 'order 7',
        history: [{ state: 'failed', at: new Date() }],
      });

      const { body } = await get(id);

      expect(body).to.include({
        status: 'failed',
        error_code: 'carrier_69',
        error_reason: 'Submit failed',
        reference: 'order 7',
        delivered_at: null,
      });
    });

    for (const state of ['submitting', 'waiting'] as const) {
      it(`shows ${state} as queued`, async () => {
        const id = await sent({ state });

        expect((await get(id)).body.status).to.equal('queued');
      });
    }

    it('shows an unknown outcome', async () => {
      const id = await sent({ state: 'submitting', outcome: 'unknown' });

      expect((await get(id)).body).to.include({ status: 'queued', outcome: 'unknown' });
    });

    it('never shows the text or whose it is', async () => {
      const { text } = await get(await sent());

      expect(text).not.to.include('secret');
      expect(text).not.to.include(account);
    });
  });

  describe('404', () => {
    it("answers for another account's message as for one that never was", async () => {
      const id = await sent();
      const stranger = await makeKey(store.db, await makeAccount(store.db, 0));

      const strange = await get(id, stranger);
      const never = await get(newId('msg'), stranger);

      expectProblem(strange, 'message_not_found');
      expectProblem(never, 'message_not_found');
      const { request_id: _one, ...first } = strange.body;
      const { request_id: _two, ...second } = never.body;
      expect(first).to.deep.equal(second);
    });

    const malformed = [
      'x',
      'msg_',
      `${newId('msg')}0`,
      newId('acc'),
      '%00',
      '..%2f..',
      '%24gt',
      'msg_%F0%9F%98%80',
      '[object]',
    ];
    for (const id of malformed) {
      it(`message_not_found for ${id}`, async () => {
        expectProblem(await get(id), 'message_not_found');
      });
    }

    for (const path of ['', '%ff', `${newId('msg')}/more`]) {
      it(`not_found for /v2/status/${path}`, async () => {
        expectProblem(await get(path), 'not_found');
      });
    }
  });
});
