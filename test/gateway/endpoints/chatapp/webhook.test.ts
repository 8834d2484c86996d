import { PAY_WITHIN_MS } from '../../../../gateway/http/idempotency/key-store.ts';
import { eventsOf } from '../../../../shared/events/catalogue.ts';
import { ENDPOINTS_PER_ACCOUNT, type EndpointDocument } from '../../../../shared/events/webhooks/endpoint.ts';
import { createEndpoint, disableEndpoint, listEndpoints } from '../../../../shared/events/webhooks/endpoint-store.ts';
import type { AuditDocument } from '../../../../shared/people/audit.ts';
import type { KeyScope } from '../../../../shared/people/keys/key.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { chatAtGateway } from '../../../support/chat-gateway.ts';
import { TEST_BOX } from '../../../support/chatapp.ts';
import { makeKey } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { boxOf } from '../../../support/secret-box.ts';

const PATH = '/v2/chatapp/webhook';
const URL_1 = 'https://shop.example/hooks/1';
const GOOD = { url: URL_1, events: ['message.received', 'message.read'] };

describe('POST /v2/chatapp/webhook', () => {
  const chat = chatAtGateway(0);
  const endpoints = () => listEndpoints(chat.db, chat.account);

  describe('200', () => {
    it('a new address: answers its id and, this once, its secret', async () => {
      const { status, body } = await chat.post(PATH, GOOD);

      expect(status, JSON.stringify(body)).to.equal(200);
      const [endpoint, ...more] = await endpoints();
      expect(more).to.deep.equal([]);
      expect(endpoint).to.deep.include({ channel: 'chatapp', url: URL_1, events: GOOD.events, status: 'active' });
      const secret = TEST_BOX.open(endpoint?.secrets[0]?.sealed ?? '', [
        'endpoints',
        endpoint?._id ?? '',
        'secrets.sealed',
      ]);
      expect(body).to.deep.equal({ status: 'success', webhook_id: endpoint?._id, secret });
    });

    it('a known address: keeps its id and secret, takes the new events, is active again', async () => {
      const first = await chat.post(PATH, GOOD);
      const [before] = await endpoints();
      await disableEndpoint(chat.db, first.body.webhook_id, 'operator');

      const { body } = await chat.post(PATH, { ...GOOD, events: eventsOf('chatapp') });

      expect(body).to.deep.equal({ status: 'success', webhook_id: first.body.webhook_id });
      const [after, ...more] = await endpoints();
      expect(more).to.deep.equal([]);
      expect(after).to.deep.include({ events: eventsOf('chatapp'), status: 'active' });
      expect(after?.secrets).to.deep.equal(before?.secrets);
    });

    it('an event that is named twice counts once', async () => {
      await chat.post(PATH, { ...GOOD, events: ['message.read', 'message.read'] });

      expect((await endpoints())[0]?.events).to.deep.equal(['message.read']);
    });

    it('of many at the same moment one makes it', async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => chat.post(PATH, GOOD)));

      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      expect(new Set(answers.map(({ body }) => body.webhook_id)).size).to.equal(1);
      expect(answers.filter(({ body }) => 'secret' in body)).to.have.length(1);
    });
  });

  describe('the audit', () => {
    const entries = () => chat.db.collection<AuditDocument>('audit').find({ account: chat.account }).toArray();

    it('has who registered it, from where, before and after, without the secret', async () => {
      const { body } = await chat.post(PATH, GOOD);
      const [entry, ...more] = await entries();

      expect(more).to.deep.equal([]);
      expect(entry).to.deep.include({
        action: 'webhook.register',
        outcome: 'done',
        actor: { kind: 'key', id: chat.key.split('_')[2], address: '127.0.0.1' },
        subject: { kind: 'webhook', id: body.webhook_id },
      });
      expect(entry).not.to.have.property('before');
      expect(entry?.after).to.deep.include({ url: URL_1, events: GOOD.events, status: 'active' });
      const [endpoint] = await endpoints();
      expect(JSON.stringify(entry)).not.to.include(body.secret).and.not.to.include(endpoint?.secrets[0]?.sealed);
    });

    it('has one entry of what is changed again within a minute, and none of what changed nothing', async () => {
      await chat.post(PATH, GOOD);
      await chat.post(PATH, GOOD);
      const [first] = await entries();
      await chat.post(PATH, { ...GOOD, events: eventsOf('chatapp') });
      const all = await entries();

      expect(first).to.deep.include({ outcome: 'done', times: 1 });
      // Two entries if a minute ended in between.
      expect(all.length).to.be.within(1, 2);
      expect(all.at(-1)?.after?.events).to.deep.equal(eventsOf('chatapp'));
      if (all.length === 1) expect(all[0]).to.deep.include({ times: 2 }).and.not.to.have.property('before');
    });

    it('has nothing of what was refused', async () => {
      await chat.post(PATH, { ...GOOD, events: [] });
      for (let i = 0; i < ENDPOINTS_PER_ACCOUNT; i++) {
        const [account, url] = [chat.account, `https://shop.example/full/${i}`];
        await createEndpoint(chat.db, systemClock, TEST_BOX, {
          account,
          channel: 'chatapp',
          url,
          events: eventsOf('chatapp'),
        });
      }

      expectProblem(await chat.post(PATH, GOOD), 'too_many_webhooks');

      expect(await entries()).to.deep.equal([]);
    });
  });

  describe('403 scope_missing', () => {
    const rows: readonly [scopes: readonly KeyScope[], detail: string | undefined][] = [
      [['send'], 'it lacks the scope "read", or "manage".'],
      [['read'], 'it lacks the scope "send", or "manage".'],
      [['otp'], 'it lacks the scope "send" and "read", or "manage".'],
      [['send', 'read'], undefined],
      [['manage'], undefined],
    ];
    for (const [scopes, detail] of rows) {
      it(`${detail === undefined ? 'not' : 'for'} a key with ${scopes.join(' and ')}`, async () => {
        const key = await makeKey(chat.db, chat.account, scopes);
        const answer = await chat.post(PATH, GOOD).set('Authorization', `Bearer ${key}`);

        if (detail === undefined) expect(answer.status).to.equal(200);
        else {
          expectProblem(answer, 'scope_missing');
          expect(answer.body.detail).to.include(detail);
          expect(await endpoints()).to.deep.equal([]);
        }
      });
    }

    it('for a key that may only send, with the Idempotency-Key of one that made it', async () => {
      expect((await chat.post(PATH, GOOD, 'register-1')).status).to.equal(200);
      const sender = await makeKey(chat.db, chat.account, ['send']);

      const again = chat.post(PATH, GOOD, 'register-1').set('Authorization', `Bearer ${sender}`);
      expectProblem(await again, 'scope_missing');
    });
  });

  describe('400', () => {
    const rows: readonly [string, object, string, string, RegExp?][] = [
      ['no url', { events: GOOD.events }, 'url', 'missing_field'],
      ['a url that is a number', { ...GOOD, url: 7 }, 'url', 'wrong_type'],
      ['no events', { url: URL_1 }, 'events', 'missing_field'],
      ['an empty list', { ...GOOD, events: [] }, 'events', 'wrong_count'],
      ['events that are no list', { ...GOOD, events: 'message.read' }, 'events', 'wrong_type'],
      [
        'an event that is none',
        { ...GOOD, events: ['message.read', 'message.seen'] },
        'events[1]',
        'invalid_value',
        /message\.received, message\.read, message\.sent, message\.delivered, message\.failed, message\.expired, message\.rejected/,
      ],
      ['an event that is null', { ...GOOD, events: [null] }, 'events[0]', 'wrong_type'],
      ['a name of an object’s own', { ...GOOD, events: ['constructor'] }, 'events[0]', 'invalid_value'],
      ['a field that is none', { ...GOOD, secret: 'x' }, 'secret', 'unknown_field'],
    ];
    for (const [what, body, field, code, detail] of rows) {
      it(what, async () => {
        const answer = await chat.post(PATH, body);

        expectProblem(answer, 'invalid_request');
        expect(answer.body.errors).to.have.length(1);
        expect(answer.body.errors[0]).to.include({ field, code });
        if (detail !== undefined) expect(answer.body.errors[0].detail).to.match(detail);
        expect(await endpoints()).to.deep.equal([]);
      });
    }

    const urls: readonly [string, string][] = [
      ['http', 'http://shop.example/hooks'],
      ['a private address', 'https://192.168.0.10/hooks'],
      ['the metadata address', 'https://169.254.169.254/latest'],
      ['loopback by name', 'https://[::ffff:127.0.0.1]/hooks'],
      ['no address', 'shop.example/hooks'],
    ];
    for (const [what, url] of urls) {
      it(`url: ${what}`, async () => {
        const answer = await chat.post(PATH, { ...GOOD, url });

        expectProblem(answer, 'url_not_allowed');
        expect(answer.body.errors[0]).to.include({ field: 'url', code: 'url_not_allowed' });
        expect(await endpoints()).to.deep.equal([]);
      });
    }
  });

  it('403: the eleventh webhook; the ten can be changed all the same', async () => {
    for (let i = 0; i < ENDPOINTS_PER_ACCOUNT; i++) {
      expect((await chat.post(PATH, { ...GOOD, url: `${URL_1}${i}` })).status).to.equal(200);
    }

    expectProblem(await chat.post(PATH, { ...GOOD, url: `${URL_1}/eleventh` }), 'too_many_webhooks');
    expect((await chat.post(PATH, { url: `${URL_1}0`, events: ['message.read'] })).status).to.equal(200);
    expect(await endpoints()).to.have.length(ENDPOINTS_PER_ACCOUNT);
  });

  it('403: all but ten of many that come at the same moment', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => chat.post(PATH, { ...GOOD, url: `${URL_1}${i}` })),
    );

    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).to.have.length(60 - ENDPOINTS_PER_ACCOUNT);
    for (const answer of refused) expectProblem(answer, 'too_many_webhooks');
    expect(await endpoints()).to.have.length(ENDPOINTS_PER_ACCOUNT);
  });

  describe('503', () => {
    it('a known address whose secret was stored with another secret key: says what to do, and changes nothing', async () => {
      const { body } = await chat.post(PATH, GOOD);
      await disableEndpoint(chat.db, body.webhook_id, 'operator');
      const stored = chat.db.collection<EndpointDocument>('endpoints');
      const sealed = boxOf(Buffer.alloc(32, 8)).seal('whsec_x', ['endpoints', body.webhook_id, 'secrets.sealed']);
      await stored.updateOne({ _id: body.webhook_id }, { $set: { 'secrets.0.sealed': sealed } });
      const audited = () => chat.db.collection('audit').countDocuments();
      const before = { endpoints: await endpoints(), audited: await audited() };

      const refused = await chat.post(PATH, { ...GOOD, events: ['message.sent'] });

      expectProblem(refused, 'secret_unreadable');
      expect(refused.body.detail).to.include('POST /v2/account/webhooks/{webhook_id}/rotate');
      expect({ endpoints: await endpoints(), audited: await audited() }).to.deep.equal(before);
    });
  });

  describe('Idempotency-Key', () => {
    const claims = () => chat.db.collection('idempotency');

    it('a duplicate gets the same answer with the secret, which is kept sealed only', async () => {
      const first = await chat.post(PATH, GOOD, 'hook-1');

      const again = await chat.post(PATH, GOOD, 'hook-1');

      expect(again.headers['idempotency-replayed']).to.equal('true');
      expect(again.text).to.equal(first.text);
      expect(first.body.secret).to.match(/^whsec_/);
      const kept = JSON.stringify(await claims().find().toArray());
      expect(kept).to.include('"sealed":true').and.not.include(first.body.secret.slice('whsec_'.length));
    });

    it('of a process that died before it answered: the secret of what it made', async () => {
      const first = await chat.post(PATH, GOOD, 'hook-2');
      await claims().updateMany({}, { $unset: { answer: '' } });

      const again = await chat.post(PATH, GOOD, 'hook-2');

      expect(again.status).to.equal(200);
      expect(again.body).to.deep.equal(first.body);
    });

    it('of a process that died before it changed anything: is free when its time is over', async () => {
      await chat.post(PATH, GOOD);
      const first = await chat.post(PATH, { ...GOOD, events: ['message.read'] }, 'hook-3');
      await claims().updateMany({}, { $unset: { answer: '' } });
      expectProblem(await chat.post(PATH, { ...GOOD, events: ['message.read'] }, 'hook-3'), 'idempotency_in_flight');
      await claims().updateMany({}, { $set: { payBy: new Date(Date.now() - PAY_WITHIN_MS) } });

      const again = await chat.post(PATH, { ...GOOD, events: ['message.read'] }, 'hook-3');

      expect(again.body).to.deep.equal(first.body);
      expect((await endpoints())[0]?.events).to.deep.equal(['message.read']);
    });

    it('what was refused leaves it free', async () => {
      expectProblem(await chat.post(PATH, { ...GOOD, url: 'http://x.example' }, 'hook-4'), 'url_not_allowed');
      expect((await chat.post(PATH, GOOD, 'hook-4')).status).to.equal(200);
    });
  });
});
