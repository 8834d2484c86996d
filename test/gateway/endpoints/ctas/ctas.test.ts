import type { Db } from 'mongodb';
import request from 'supertest';
import type { MessageDocument } from '../../../../shared/messages/document/message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { QUOTAS } from '../../../../shared/money/accounts/quotas.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { createTemplate } from '../../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../../shared/templates/sms/make.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeMessage } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { type Browser, signedIn } from '../../../support/signed-in.ts';

const TEMPLATE = '1107160000000000077';
const TO = '919876543210';

describe('links and numbers that an account registers', () => {
  const site = accountAtGateway(50, { keyCacheMs: 0 });
  let operator: Browser;
  before(async () => {
    operator = await signedIn(site.db, 'operator');
  });
  const post = (path: string, body: object) =>
    request(site.url).post(path).set('Authorization', `Bearer ${site.key}`).send(body);
  const get = (path: string) => request(site.url).get(path).set('Authorization', `Bearer ${site.key}`);
  const asOperator = (path: string, body: object) =>
    request(site.url).post(`/v2/admin/accounts/${site.account}/${path}`).set(operator.headers).send(body);
  const check = (ctaCheck: 'warn' | 'refuse') =>
    site.db.collection<AccountDocument>('accounts').updateOne({ _id: site.account }, { $set: { ctaCheck } });
  const balance = async (db: Db) =>
    (await db.collection<AccountDocument>('accounts').findOne({ _id: site.account }))?.balance;
  const send = (message: string, more: object = {}) => post('/v2/send', { to: TO, sender: 'HARKRA', message, ...more });

  it('off: nobody looks', async () => {
    await send('See https://evil.in/x').expect(200);
  });

  it('warn: accepted; a dry run and the page of the message name it', async () => {
    await check('warn');
    const dry = await send('See https://evil.in/x', { dry_run: true }).expect(200);
    expect(dry.body.predicted_refusals[0]).to.deep.include({ scrub_code: '642', certainty: 'sure' });
    expect(dry.body.predicted_refusals[0].cause).to.include('https://evil.in/x');
    await send('See https://evil.in/x').expect(200);
    const sent = { account: site.account, text: 'See https://evil.in/x', state: 'sent' } as const;
    const refused = {
      ...sent,
      state: 'rejected',
      errorCode: '642',
      errorReason: 'DLT: a link is not registered',
    } as const;
    for (const message of [makeMessage(sent), makeMessage(refused)]) {
      await site.db.collection<MessageDocument>('messages').insertOne(message);
      const shown = await get(`/v2/messages/${message._id}`).expect(200);
      expect(shown.body.explanation.cause).to.include('https://evil.in/x');
    }
  });

  it('refuse: asked for, approved, then accepted; the 400 names each, and costs nothing', async () => {
    await check('refuse');
    const before = await balance(site.db);
    const refused = await send('See https://acme.in/o/7 or call 9876500000');
    expectProblem(refused, 'cta_not_registered');
    expect(refused.body.scrub_code).to.equal('642');
    expect(refused.body.errors.map(({ field }: { field: string }) => field)).to.deep.equal(['message', 'message']);
    expect(refused.body.detail).to.include('"https://acme.in/o/7"').and.to.include('700 or 701');
    expect(await balance(site.db)).to.equal(before);

    const asked = await post('/v2/account/ctas', { value: 'https://acme.in/o' }).expect(200);
    expect(asked.body).to.deep.include({ kind: 'url', value: 'acme.in/o', state: 'submitted' });
    expectProblem(await post('/v2/account/ctas', { value: 'http://acme.in/o/' }), 'cta_exists');
    const queue = await request(site.url).get('/v2/admin/approvals').set(operator.headers).expect(200);
    expect(queue.body.data.map(({ cta }: { cta?: object }) => cta)).to.deep.include({
      ...{ cta_id: asked.body.cta_id, kind: 'url', value: 'acme.in/o' },
    });
    await asOperator(`ctas/${asked.body.cta_id}/decision`, { decision: 'approved' }).expect(200);
    await send('See https://acme.in/o/7').expect(200);

    const csv = 'CTA Name,CTA Input\nHotline,98765 00000\nOffers,https://acme.in/o\n';
    const imported = await asOperator('ctas/import', { csv }).expect(200);
    expect(imported.body).to.include({ imported: 1, known: 1, approved: 0 });
    await send('See https://acme.in/o/7 or call 9876500000').expect(200);
    await request(site.url)
      .delete(`/v2/account/ctas/${asked.body.cta_id}`)
      .set('Authorization', `Bearer ${site.key}`)
      .expect(200);
    expectProblem(await send('See https://acme.in/o/7'), 'cta_not_registered');
  });

  it('bulk and schedules: each recipient by its own values, and what a slot is for', async () => {
    await createTemplate(
      site.db,
      systemClock,
      site.account,
      makeTemplate({ dltId: TEMPLATE, content: 'Track: {#url#} Ref {#numeric#} or call {#cbn#}', senders: ['HARKRA'] }),
    );
    await check('refuse');
    await asOperator('ctas', { value: '9876500000' }).expect(200);
    await asOperator('ctas', { value: 'track.acme.in' }).expect(200);
    const entry = (url: string, ref: string, call: string) => ({ to: TO, params: [url, ref, call] });
    const body = {
      ...{ sender: 'HARKRA', template_id: TEMPLATE },
      recipients: [
        entry('https://track.acme.in/1', '9123456789', '9876500000'),
        entry('https://track.acme.im/2', '7', '98765 00000'),
        entry('track.acme.in', '7', '1800 123 4567'),
      ],
    };
    for (const [path, more] of [
      ['/v2/send-bulk', {}],
      ['/v2/schedule', { schedule_time: new Date(Date.now() + 3_600_000).toISOString().replace('Z', '+00:00') }],
    ] as const) {
      const before = await balance(site.db);
      const refused = await post(path, { ...body, ...more });
      expectProblem(refused, 'cta_not_registered');
      expect(refused.body.errors.map(({ field }: { field: string }) => field)).to.deep.equal([
        'recipients[1].params',
        'recipients[2].params',
      ]);
      expect(await balance(site.db)).to.equal(before);
    }
    await post('/v2/send-bulk', { ...body, recipients: body.recipients.slice(0, 1) }).expect(200);
  });

  it('a file with a wrong line is refused with its number; one that there is no room for is refused whole', async () => {
    const wrong = await post('/v2/account/ctas/import', { csv: 'value\nacme.in/a\nhttps://bit.ly\n' });
    expectProblem(wrong, 'invalid_request');
    expect(wrong.body.errors[0].detail).to.match(/^Line 3: Everybody can have links at bit\.ly/);
    const full = Array.from({ length: QUOTAS.ctas - 2 }, (_, place) => ({
      ...{ _id: newId('cta'), account: site.account, kind: 'url', value: `full.in/${place}`, status: 'approved' },
      ...{ place, createdAt: new Date() },
    }));
    await site.db.collection<{ _id: string }>('ctas').insertMany(full);
    expectProblem(await post('/v2/account/ctas/import', { csv: 'a.in\nb.in\nc.in\n' }), 'quota_reached');
    await site.db.collection('ctas').deleteMany({ account: site.account });
    const done = await post('/v2/account/ctas/import', { csv: 'a.in\nb.in\nc.in\n' }).expect(200);
    expect(done.body).to.include({ imported: 3, known: 0 });
    expect(
      (await get('/v2/account/ctas?limit=2').expect(200)).body.data.map(({ value }: { value: string }) => value),
    ).to.deep.equal(['a.in', 'b.in']);
  });
});
