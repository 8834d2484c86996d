import request from 'supertest';
import { findMessageStatus } from '../../../../gateway/endpoints/messages/status.ts';
import { type MessageDocument, queuedMessage } from '../../../../shared/messages/document/message.ts';
import { claimedMessage, claimLines, insertFirst, writeOut } from '../../../../shared/messages/queue/queue-store.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import { isoTimestamp, systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, idTime, type MessageId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { CHAT_PRICES, makeTemplateDraft } from '../../../support/chat.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey, openGateway, type TestGateway, useGateway } from '../../../support/gateway.ts';
import { holdInserts } from '../../../support/held-inserts.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { ownDocuments } from '../../../support/queue.ts';
import { silentLog } from '../../../support/silent-log.ts';
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
      // Compared with the id, because another test's clock may have moved this process's ids ahead.
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

describe('findMessageStatus', () => {
  const store = useStore();

  it('shows a line of the queue as queued until its message is stored, claimed or not, however old it is', async () => {
    const account = await makeAccount(store.db, 0);
    const group = newId('grp');
    const ids = [newId('msg'), newId('msg'), newId('msg', Date.now() - 86_400_000)] as const;
    const made = ids.map((_id) => queuedMessage(account, group, makeDraft({ _id, text: 'a secret' })));
    const documents = ownDocuments(group, made, new Date());
    await insertFirst(store.db, documents);
    const shown = () => Promise.all(ids.map((id) => findMessageStatus(store.db, account, id)));
    const states = async () => (await shown()).map((status) => status?.state);

    expect(await states()).to.deep.equal(['queued', 'queued', 'queued']);
    expect(JSON.stringify(await shown())).not.to.include('secret');
    expect(await findMessageStatus(store.db, newId('acc'), ids[0])).to.equal(undefined);

    const claim = { id: newId('clm'), carrier: 'airtel', epoch: 1, at: new Date() };
    for (const head of documents) await claimLines(store.db, claim, [{ head, to: 2 }]);
    expect(await states()).to.deep.equal(['queued', 'queued', 'queued']);

    const [first] = made;
    if (first === undefined) throw new Error('made above');
    const sent = { ...claimedMessage(first, claim), state: 'sent' } as const;
    await insertNew(store.db, 'messages', [sent]);
    expect(await states()).to.deep.equal(['sent', 'queued', 'queued']);

    await writeOut(store.db, new Date(), { account });
    expect(await states()).to.deep.equal(['sent', 'submitting', 'queued']);
    expect(await findMessageStatus(store.db, account, newId('msg', Date.now() - 10))).to.equal(undefined);
  });
});

describe('a message right after its 200, which is paid and not stored yet', () => {
  const store = useStore();
  let gateway: TestGateway;
  let key: string;
  let others: string;
  let id: string;
  before(async () => {
    const { db } = holdInserts(holdInserts(store.db, 'messages').db, 'queue');
    gateway = await openGateway(store.db, {
      accepter: new GroupAccepter({ db, clock: systemClock, log: silentLog }),
    });
    const account = await makeAccount(store.db, 100);
    key = await makeKey(store.db, account);
    others = await makeKey(store.db, await makeAccount(store.db, 100));
    const body = { to: '919876543210', message: 'a secret text', sender: 'HARKRA', reference: 'order 7' };
    const sent = await request(gateway.url).post('/v2/send').set('Authorization', `Bearer ${key}`).send(body);
    expect(sent.status).to.equal(200);
    id = sent.body.message_id;
    expect(await store.db.collection('messages').countDocuments({ account })).to.equal(0);
  });
  after(() => gateway.close());
  const get = (path: string, as = key) => request(gateway.url).get(path).set('Authorization', `Bearer ${as}`);

  it('is queued by its status', async () => {
    const { status, body, text } = await get(`/v2/status/${id}`);

    expect(status).to.equal(200);
    expect(body).to.include({ message_id: id, status: 'queued', reference: 'order 7', segments: 1 });
    expect(text).to.not.include('secret');
  });

  it('is shown whole, with what it cost', async () => {
    const { status, body } = await get(`/v2/messages/${id}`);

    expect(status).to.equal(200);
    expect(body.timeline.map(({ what }: { what: string }) => what)).to.include.members(['accepted', 'paid']);
    expect(body).to.include({ text: 'a secret text', text_shown: 'whole' });
  });

  it('is queued by its status when it is of the chat app and opened a conversation', async () => {
    const { db, release } = holdInserts(store.db, 'messages');
    const account = await makeAccount(store.db, 100);
    const accepter = createChatAccepter({ db, clock: systemClock, log: silentLog, prices: CHAT_PRICES });
    const draft = makeTemplateDraft();
    const accepting = accepter.accept(account, draft);
    const accounts = store.db.collection<AccountDocument>('accounts');
    await eventually(async () => (await accounts.findOne({ _id: account }))?.opening !== undefined, 'paid');
    const as = await makeKey(store.db, account);

    for (const path of ['/v2/status', '/v2/messages']) {
      const { status, body } = await get(`${path}/${draft._id}`, as);
      expect(status, path).to.equal(200);
      expect(body, path).to.include({ message_id: draft._id, status: 'queued' });
    }
    expect(await store.db.collection('messages').countDocuments({ account })).to.equal(0);
    release();
    expect((await accepting).kind).to.equal('accepted');
  });

  it('has no events yet', async () => {
    expect((await get(`/v2/events?message_id=${id}`)).body.data).to.deep.equal([]);
  });

  it('is not found by others, nor is an id of the same moment that nobody made', async () => {
    for (const path of ['/v2/status', '/v2/messages']) {
      expect((await get(`${path}/${id}`, others)).status).to.equal(404);
      expect((await get(`${path}/${newId('msg')}`)).status).to.equal(404);
    }
  });
});
