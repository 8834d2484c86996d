import { expect } from 'chai';
import request from 'supertest';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { CHAT_PRICES, makeTemplateDraft } from '../../../support/chat.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeKey, openGateway, type TestGateway } from '../../../support/gateway.ts';
import { holdInserts } from '../../../support/held-inserts.ts';
import { makeAccount } from '../../../support/make.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

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
