import { findOrphans, orphanPlace } from '../../../../gateway/endpoints/traffic/unclaimed.ts';
import { addNumber } from '../../../../shared/carriers/numbers/store.ts';
import { noteTrouble, stopProvider } from '../../../../shared/carriers/providers/store.ts';
import { createSender } from '../../../../shared/carriers/sender.ts';
import type { InboundDocument } from '../../../../shared/messages/inbound.ts';
import { insertFirst } from '../../../../shared/messages/queue/queue-store.ts';
import type { OrphanDocument } from '../../../../shared/messages/settlement/message-log.ts';
import { insertNew } from '../../../../shared/platform/mongo/insert-new.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { createTemplateRequest } from '../../../../shared/templates/sms/request-store.ts';
import { findTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeProvider } from '../../../support/chatapp.ts';
import { lookedAt } from '../../../support/looked-at.ts';
import { makeAccount, makeDraft, makeMessage } from '../../../support/make.ts';
import { ownDocuments } from '../../../support/queue.ts';
import { operatorAtGateway } from '../operators-world.ts';

describe('what waits and what does not fit, for operators', () => {
  const world = operatorAtGateway(100);

  it('queues: by path and lane, with the oldest waiting and whose it is', async () => {
    const [early, late] = [await makeAccount(world.db, 0), await makeAccount(world.db, 0)].sort();
    const waiting = (account: AccountId, minutes: number, lane: number, path = 'transactional') =>
      makeMessage({ ...makeDraft({ lane, path }), account, _id: newId('msg', Date.now() - minutes * 60_000) });
    // The oldest message belongs to the account that sorts last.
    const lines = [
      waiting(early as AccountId, 1, 1),
      waiting(late as AccountId, 20, 1),
      waiting(late as AccountId, 2, 1),
      waiting(early as AccountId, 3, 0),
      waiting(early as AccountId, 3, 1, '@30:airtel>jio'),
    ];
    await insertFirst(world.db, ownDocuments(newId('grp'), lines, new Date()));
    await insertNew(world.db, 'messages', [{ ...waiting(early as AccountId, 4, 0, 'chatapp'), channel: 'chatapp' }]);

    const { queues } = (await world.get('/queues')).body;
    const lanes = queues.map(({ path, lane, waiting: count, accounts }: Record<string, unknown>) => [
      path,
      lane,
      count,
      accounts,
    ]);
    expect(lanes).to.deep.equal([
      ['@30:airtel>jio', 'transactional', 1, 1],
      ['chatapp', 'otp', 1, 1],
      ['transactional', 'otp', 1, 1],
      ['transactional', 'transactional', 3, 2],
    ]);
    expect(queues[0].carriers).to.deep.equal(['airtel', 'jio']);
    expect(queues[3]).to.include({ oldest_account_id: late, more: false });
  });

  const orphans = () => world.db.collection<OrphanDocument>('orphans');
  const insertOrphans = (ages: readonly number[]) => {
    const at = Date.now();
    const made = ages.map((age) => ({
      ...{ _id: `airtel:${age}`, carrier: 'airtel', keys: [`airtel:8a${age}`], from: '919876543210', to: 'HARKRA' },
      ...{ part: { state: 'delivered' }, excerpt: `id:8a${age} stat:DELIVRD`, at: new Date(at - age) },
      expiresAt: new Date(at - age + 259_200_000),
    }));
    return orphans().insertMany(made as unknown as OrphanDocument[]);
  };

  it('receipts that fit nothing, page by page, newest first', async () => {
    await insertOrphans([1, 2, 3]);

    const first = (await world.get('/unmatched-receipts?limit=2')).body;
    const next = (await world.get(`/unmatched-receipts?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)).body;
    const ids = [...first.data, ...next.data].map((one: { carrier_message_id: string }) => one.carrier_message_id);
    expect(ids).to.deep.equal(['8a1', '8a2', '8a3']);
    expect(next).to.deep.include({ has_more: false, next_cursor: null });
    expect((await world.get('/unmatched-receipts?carrier_id=jio')).body.data).to.deep.equal([]);
  });

  it('the store looks at a page of them, however many there are', async () => {
    await orphans().deleteMany({});
    await insertOrphans(Array.from({ length: 300 }, (_, age) => age));
    const shown = await findOrphans(world.db, { carrier: undefined, after: undefined }).limit(100).toArray();

    for (const after of [undefined, ...shown.slice(-1).map(orphanPlace)]) {
      const page = findOrphans(world.db, { carrier: undefined, after }).limit(20);
      const { found, documents } = await lookedAt(world.db, page);
      expect(found).to.equal(20);
      expect(documents).to.be.at.most(21); // includes the one shown last
    }
  });

  it('received SMS of nobody; what they say only to who asks', async () => {
    const stray = { from: '919876543210', to: '919000000001', type: 'text', body: 'Where is it?' };
    const kept = {
      _id: newId('inb'),
      carrier: 'airtel',
      at: new Date(),
      unassigned: stray,
      expiresAt: new Date(Date.now() + 1e8),
    };
    await world.db.collection<InboundDocument>('inbound').insertOne(kept as unknown as InboundDocument);

    expect((await world.get('/unassigned-sms')).body.data[0]).to.deep.include({ from: stray.from, text: null });
    expect((await world.get('/unassigned-sms?text=yes')).body.data[0].text).to.equal('Where is it?');
    expect((await world.get('/unassigned-sms?text=maybe')).status).to.equal(400);
  });

  it('numbers, SMS of nobody and chat-app numbers are read page by page', async () => {
    await world.db.collection('providers').deleteMany({});
    await world.db.collection('inbound').deleteMany({});
    const expiresAt = new Date(Date.now() + 1e8);
    for (let n = 0; n < 5; n++) {
      const account = await makeAccount(world.db, 0);
      await makeProvider(world.db, account);
      await addNumber(world.db, systemClock, { number: '56789', keyword: `शब्द${n}`, account });
      const stray = { from: '919876543210', to: '919000000001', type: 'text', body: 'Hi' } as const;
      await world.db.collection<InboundDocument>('inbound').insertOne({
        ...{ _id: newId('inb'), carrier: 'airtel', at: new Date(), from: stray.from, fromTon: 1, to: stray.to },
        ...{ dataCoding: 0, octets: 'SGk=', fingerprint: String(n), unassigned: stray, expiresAt },
      });
    }
    for (const [path, name] of [
      ['/numbers', 'keyword'],
      ['/unassigned-sms', 'unassigned_id'],
      ['/providers', 'account_id'],
    ] as const) {
      const seen: unknown[] = [];
      let cursor = '';
      do {
        const { body } = await world.get(`${path}?limit=2${cursor}`);
        expect(body.data.length, path).to.be.within(1, 2);
        seen.push(...body.data.map((one: Record<string, unknown>) => one[name]));
        expect(body.has_more).to.equal(body.next_cursor !== null);
        cursor = body.has_more ? `&cursor=${body.next_cursor}` : '';
      } while (cursor !== '');
      expect(new Set(seen).size, path).to.equal(5);
      expect(seen, path).to.have.length(5);
      expect((await world.get(`${path}?cursor=abc`)).status, path).to.equal(400);
    }
    for (const name of ['numbers', 'providers', 'inbound']) await world.db.collection(name).deleteMany({});
  });

  it('numbers: given to an account, once, and taken away', async () => {
    const given = { number: '+91 9000 000 001', account_id: world.account, keyword: 'Join!' };
    const added = await world.post('/numbers', given);

    expect(added.body.number).to.include({ number: '919000000001', keyword: 'join', account_id: world.account });
    expect((await world.post('/numbers', given)).body.errors[0].detail).to.match(/belongs to acc_/);
    expect((await world.get(`/numbers?account_id=${world.account}`)).body.data).to.have.length(1);
    expect((await world.delete('/numbers/919000000001')).body.code).to.equal('number_not_found');
    expect((await world.delete('/numbers/919000000001?keyword=join')).status).to.equal(200);
    expect(await world.lastAudit()).to.deep.include({ action: 'number.remove', account: world.account });
    const unknown = { number: '919000000002', account_id: `acc_${'0'.repeat(26)}` };
    expect((await world.post('/numbers', unknown)).body.errors[0].field).to.equal('account_id');
  });

  it('chat-app numbers: with what fails, and started again', async () => {
    const made = await makeProvider(world.db, world.account);
    await noteTrouble(world.db, made.provider._id, 'templates', {
      at: new Date(),
      reason: 'the provider answered 503',
    });
    const { body, text } = await world.get(`/providers?account_id=${world.account}`);

    const [provider] = body.data;
    expect(provider).to.include({ account_id: world.account, condition: 'failing' });
    expect(provider.troubles[0].words).to.equal('copying the templates: the provider answered 503');
    expect(text).not.to.match(/v1\.|verify/);
    await stopProvider(world.db, made.provider._id, 'the token is not valid');
    const resumed = await world.post(`/providers/${made.provider._id}/status`, { status: 'active' });
    expect(resumed.body.provider.stopped_reason).to.equal(null);
    expect((await world.post('/providers/918000000999/status', { status: 'paused' })).body.code).to.equal(
      'provider_not_found',
    );
  });

  it('senders that wait: approved, or rejected with the reason', async () => {
    for (const sender of ['HARKRA', 'A/B C']) {
      const wanted = { account: world.account, sender, routes: ['transactional'], status: 'submitted' } as const;
      await createSender(world.db, systemClock, wanted);
    }
    const path = (sender: string) => `/accounts/${world.account}/senders/${encodeURIComponent(sender)}/decision`;
    const waiting = async () => (await world.get('/approvals')).body.data;

    const counted = async () => (await world.get('/overview')).body.approvals;

    expect(await waiting()).to.have.length(2);
    expect((await world.get(`/approvals?account_id=${world.account}&limit=1`)).body).to.include({ has_more: true });
    expect((await world.get(`/approvals?account_id=${await makeAccount(world.db, 0)}`)).body.data).to.deep.equal([]);
    for (const bad of ['account_id=1', 'limit=0', 'cursor=abc', `account_id=${world.account}&cursor=abc`]) {
      expect((await world.get(`/approvals?${bad}`)).body.code, bad).to.equal('invalid_request');
    }
    expect(await counted()).to.deep.equal({ senders: 2, ctas: 0, templates: 0 });
    expect((await world.post(path('HARKRA'), { decision: 'rejected' })).body.errors[0].field).to.equal('reason');
    const rejected = await world.post(path('HARKRA'), { decision: 'rejected', reason: 'Another brand' });
    expect(rejected.body).to.include({ decision: 'rejected', reason: 'Another brand' });
    expect((await world.post(path('A/B C'), { decision: 'approved' })).status).to.equal(200);
    expect(await waiting()).to.deep.equal([]);
    expect(await counted()).to.deep.equal({ senders: 0, ctas: 0, templates: 0 });
    const { senders } = (await world.get(`/accounts/${world.account}`)).body;
    expect(senders).to.deep.include({
      sender: 'HARKRA',
      status: 'rejected',
      routes: ['transactional'],
      reason: 'Another brand',
    });
    expect(await world.lastAudit()).to.deep.include({ action: 'sender.approve', account: world.account });
    expect((await world.post(path('harkra'), { decision: 'approved' })).body.code).to.equal('sender_not_found');
  });

  it('templates that wait: a request gets its id with the approval; another text than was read is not approved', async () => {
    const wanted = { account: world.account, name: 'Order', senders: ['HARKRA'], routes: ['transactional'] } as const;
    const made = await createTemplateRequest(world.db, systemClock, {
      ...{ ...wanted, _id: newId('tpr'), content: 'Order {#var#} has left.', category: 'service_implicit' },
    });
    const path = `/accounts/${world.account}/templates/${made._id}/decision`;
    const [waiting] = (await world.get('/approvals')).body.data;
    expect((await world.get('/overview')).body.approvals).to.deep.equal({ senders: 0, ctas: 0, templates: 1 });

    expect(waiting).to.deep.include({ kind: 'template', account_id: world.account, account_name: 'Test' });
    expect((await world.post(path, { decision: 'approved' })).body.errors[0].field).to.equal('dlt_id');
    const approval = { decision: 'approved', dlt_id: '1107160000000012345' };
    expect((await world.post(path, approval)).body.errors[0].field).to.equal('version');
    expect((await world.post(path, { ...approval, version: '0123456789ab' })).body.code).to.equal('template_changed');
    const approved = await world.post(path, { ...approval, version: waiting.template.version });
    expect(approved.body).to.include({ template_id: '1107160000000012345', decision: 'approved' });
    const stored = await findTemplate(world.db, world.account, '1107160000000012345');
    expect(stored).to.include({ status: 'approved', name: 'Order' });
    const again = `/accounts/${world.account}/templates/1107160000000012345/decision`;
    expect((await world.post(again, { decision: 'rejected', reason: 'Withdrawn by TRAI' })).status).to.equal(200);
    expect(await world.lastAudit()).to.deep.include({ action: 'template.reject', account: world.account });
    expect((await world.post(path, approval)).body.code).to.equal('template_not_found');
  });

  it('the audit is asked by account, by thing and by time', async () => {
    await world.post(`/accounts/${world.account}/status`, { status: 'paused' });
    const since = new Date(Date.now() + 60_000).toISOString();

    expect((await world.get(`/audit?account_id=${world.account}&limit=1`)).body.data).to.have.length(1);
    expect((await world.get(`/audit?subject=account:${world.account}`)).body.data).to.have.length(1);
    expect((await world.get(`/audit?since=${since}`)).body.data).to.deep.equal([]);
    for (const bad of ['subject=x', 'account_id=1', 'since=today', 'actor=me', 'cursor=abc']) {
      expect((await world.get(`/audit?${bad}`)).status, bad).to.equal(400);
    }
  });
});
