import { eventsOf } from '../../../../shared/events/catalogue.ts';
import { createAnnouncer } from '../../../../shared/events/webhooks/announce.ts';
import { deliveriesOf } from '../../../../shared/events/webhooks/delivery.ts';
import { RETRY_SECONDS } from '../../../../shared/events/webhooks/endpoint.ts';
import {
  disableEndpoint,
  findEndpoints,
  headerPlace,
  noteHealth,
} from '../../../../shared/events/webhooks/endpoint-store.ts';
import type { HistoryEntry } from '../../../../shared/messages/document/message.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeDelivery, makeMessage } from '../../../shared/events/webhooks/make.ts';
import { TEST_BOX } from '../../../support/chatapp.ts';
import { expectProblem } from '../../../support/problem.ts';
import { settingsWorld } from '../settings-world.ts';

const PATH = '/v2/account/webhooks';
const GOOD = { channel: 'sms', url: 'https://shop.example/hooks' };

describe('webhooks by the API', () => {
  const { site, ask, audit } = settingsWorld();
  const create = async (body: object = GOOD) => (await ask('post', PATH, body).expect(200)).body;
  const endpointOf = async (id: string) => (await findEndpoints(site.db, [id as never]))[0];

  it('registers one for each channel, with all its events unless some are picked', async () => {
    const sms = await create();
    const chat = await create({ ...GOOD, channel: 'chatapp', events: ['message.read', 'message.read'] });

    expect(sms).to.deep.include({ status: 'success', state: 'active', events: eventsOf('sms'), failing_since: null });
    expect(chat).to.deep.include({ channel: 'chatapp', events: ['message.read'] });
    expect(sms.secret).to.equal(
      TEST_BOX.open((await endpointOf(sms.webhook_id))?.secrets[0]?.sealed ?? '', [
        'endpoints',
        sms.webhook_id,
        'secrets.sealed',
      ]),
    );
    const { data } = (await ask('get', PATH).expect(200)).body;
    expect(data.map(({ webhook_id }: { webhook_id: string }) => webhook_id)).to.deep.equal([
      sms.webhook_id,
      chat.webhook_id,
    ]);
    expect(JSON.stringify(data)).not.to.include('secret"');
    expect((await ask('get', `${PATH}/${sms.webhook_id}`).expect(200)).body).to.deep.equal(data[0]);
  });

  it('an address that is there keeps its secret, takes the events and is enabled, as with ops', async () => {
    const first = await create();
    await disableEndpoint(site.db, first.webhook_id, 'operator');

    const again = await create({ ...GOOD, events: ['message.failed'] });

    expect(again).not.to.have.property('secret');
    expect(again).to.deep.include({ webhook_id: first.webhook_id, state: 'active', events: ['message.failed'] });
  });

  it('with an Idempotency-Key, the secret is answered again', async () => {
    const register = () => ask('post', PATH, GOOD).set('Idempotency-Key', `w-${site.account}`);

    const [first, again] = [await register().expect(200), await register().expect(200)];

    expect(first.body.secret).to.match(/^whsec_/);
    expect(again.body).to.deep.equal(first.body);
  });

  it('refuses addresses and events that may not be', async () => {
    expectProblem(await ask('post', PATH, { ...GOOD, url: 'https://10.0.0.1/hooks' }), 'url_not_allowed');
    expectProblem(await ask('post', PATH, { ...GOOD, url: 'http://shop.example/' }), 'url_not_allowed');
    expectProblem(await ask('post', PATH, { ...GOOD, channel: 'fax' }), 'invalid_request');
    const { body } = await ask('post', PATH, { ...GOOD, events: ['message.sent', 'message.read'] }).expect(400);
    expect(body.errors[0]).to.include({ field: 'events[1]', code: 'invalid_value' });
    for (let n = 0; n < 10; n++) await create({ ...GOOD, url: `https://shop.example/${n}` });
    expectProblem(await ask('post', PATH, GOOD), 'too_many_webhooks');
  });

  it('says since when it fails, and why, in words', async () => {
    const { webhook_id: id } = await create();
    const at = new Date('2026-11-22T14:02:00Z');
    const attempts = [{ at, result: 500, durationMs: 84.4, excerpt: 'no' }];
    await deliveriesOf(site.db).insertOne(makeDelivery({ endpoint: id, account: site.account, attempts }));
    await noteHealth(site.db, id, at);

    const { body } = await ask('get', `${PATH}/${id}`).expect(200);

    const time = '2026-11-22T14:02:00+00:00';
    const last = { at: time, result: 500, reason: 'Your server answered 500.', duration_ms: 84 };
    expect(body).to.deep.include({ failing_since: time, last_failure: last });
  });

  it('changes its events, disables, enables and removes it; the audit has all of it', async () => {
    const { webhook_id: id } = await create();

    await ask('patch', `${PATH}/${id}`, { events: ['message.failed'] }).expect(200);
    expectProblem(await ask('patch', `${PATH}/${id}`, { events: ['message.read'] }), 'invalid_request');
    expectProblem(await ask('patch', `${PATH}/${id}`, { url: 'https://x.example' }), 'invalid_request');
    const disabled = (await ask('patch', `${PATH}/${id}`, { state: 'disabled' }).expect(200)).body;
    expect(disabled).to.include({
      state: 'disabled',
      disabled_reason: 'It was disabled on the dashboard or by the API.',
    });
    const enabled = (await ask('patch', `${PATH}/${id}`, { state: 'active' }).expect(200)).body;
    expect(enabled).to.deep.include({ state: 'active', disabled_reason: null, events: ['message.failed'] });
    await ask('delete', `${PATH}/${id}`).expect(200);
    expectProblem(await ask('get', `${PATH}/${id}`), 'webhook_not_found');

    const entries = (await audit()).filter(({ subject }) => subject.id === id);
    expect(new Set(entries.map(({ action }) => action))).to.deep.equal(
      new Set(['webhook.register', 'webhook.update', 'webhook.remove']),
    );
    expect(entries.find(({ action }) => action === 'webhook.remove')?.after).to.deep.equal({ removed: true });
  });

  it('what happens after the answer goes by the change', async () => {
    const { webhook_id: id } = await create();
    await disableEndpoint(site.db, id, 'operator');
    const announcer = createAnnouncer({ db: site.db, clock: systemClock });
    const happens = async (state: 'sent' | 'failed') => {
      const entry: HistoryEntry = { state, at: new Date() };
      await announcer.announce([{ message: makeMessage({ account: site.account, history: [entry] }), entry }]);
    };
    const events = async () =>
      (
        await deliveriesOf(site.db)
          .find({ endpoint: id as never })
          .toArray()
      ).map(({ event }) => event);
    await happens('sent');

    await ask('patch', `${PATH}/${id}`, { state: 'active' }).expect(200);
    await happens('sent');
    expect(await events()).to.deep.equal(['message.sent']);

    await ask('patch', `${PATH}/${id}`, { events: ['message.failed'] }).expect(200);
    await happens('failed');
    await happens('sent');
    expect(await events()).to.have.members(['message.sent', 'message.failed']);
  });

  it('replaces its secret: both sign for a day, and the answer comes again with the Idempotency-Key', async () => {
    const { webhook_id: id, secret: old } = await create();
    const rotate = () => ask('post', `${PATH}/${id}/rotate`, {}).set('Idempotency-Key', `s-${id}`);

    const [first, again] = [await rotate().expect(200), await rotate().expect(200)];

    expect(first.body.secret)
      .to.match(/^whsec_/)
      .and.not.to.equal(old);
    expect(again.body).to.deep.equal(first.body);
    expect(first.body.old_secret_until).to.be.a('string');
    const secrets = (await endpointOf(id))?.secrets.map(({ sealed }) =>
      TEST_BOX.open(sealed, ['endpoints', id, 'secrets.sealed']),
    );
    expect(secrets).to.deep.equal([first.body.secret, old]);
    const stored = await Promise.all(
      ['endpoints', 'idempotency', 'audit'].map((name) => site.db.collection(name).find().toArray()),
    );
    expect(JSON.stringify(stored)).not.to.include(first.body.secret);
  });

  it('takes own headers, pauses and a filter, and shows no secret header again', async () => {
    const token = { name: 'Authorization', value: 'Bearer s3cret-of-mine', secret: true };
    const plain = { name: 'X-Team', value: 'billing', secret: false };
    const posts = { events_per_post: 20, gather_ms: 500, raw: true };
    const options = {
      ...{ headers: [token, plain], retry_seconds: [10, 60], filter: { sender: ['HARKRA'] } },
      ...posts,
    };
    const shown = { ...options, headers: [{ ...token, value: null }, plain] };

    const made = await create({ ...GOOD, ...options });

    expect(made).to.deep.include(shown);
    const { webhook_id: id } = made;
    const change = (body: object) => ask('patch', `${PATH}/${id}`, body);
    const { value: _, ...kept } = token;
    expect((await change({ headers: [kept] }).expect(200)).body).to.deep.include({
      headers: [{ ...kept, value: null }],
    });
    const [header] = (await endpointOf(id))?.headers ?? [];
    expect(TEST_BOX.open(String(header && 'sealed' in header && header.sealed), headerPlace(id))).to.equal(token.value);
    const plainly = await change({ headers: [], retry_seconds: [], filter: {} }).expect(200);
    expect(plainly.body).to.deep.include({ headers: [], filter: {}, retry_seconds: [...RETRY_SECONDS] });
    const stored = await Promise.all(
      ['endpoints', 'idempotency', 'audit'].map((name) => site.db.collection(name).find().toArray()),
    );
    expect(JSON.stringify(stored)).not.to.include(token.value);
  });

  for (const [what, body, ...fields] of [
    ...['Host', 'content-length', 'Transfer-Encoding', 'webhook-signature', 'Connection', 'X-Forwarded-For', 'a b'].map(
      (name) => [`a header ${name}`, { headers: [{ name, value: 'x' }] }, 'headers[0].name'] as const,
    ),
    ['a break of lines', { headers: [{ name: 'X-A', value: 'x\r\nHost: y' }] }, 'headers[0].value'],
    ['a secret without a value', { headers: [{ name: 'X-A', secret: true }] }, 'headers[0].value'],
    [
      'a header twice',
      {
        headers: [
          { name: 'X-A', value: 'x' },
          { name: 'x-a', value: 'y' },
        ],
      },
      'headers[1].name',
    ],
    [
      'headers that are too long',
      { headers: ['A', 'B', 'C', 'D', 'E'].map((name) => ({ name, value: 'x'.repeat(900) })) },
      'headers',
    ],
    ['eleven headers', { headers: Array.from({ length: 11 }, (_, i) => ({ name: `X-${i}`, value: 'x' })) }, 'headers'],
    ['pauses of a week', { retry_seconds: Array.from({ length: 7 }, () => 86_400) }, 'retry_seconds'],
    ['parts of a second', { retry_seconds: [1.5] }, 'retry_seconds[0]'],
    ['parts of an event', { events_per_post: 1.5 }, 'events_per_post'],
    ['an unknown field', { filter: { colour: ['red'] } }, 'filter.colour'],
    ['a filter of the account', { channel: 'account', filter: { sender: ['HARKRA'] } }, 'filter'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { body: problem } = await ask('post', PATH, { ...GOOD, ...body }).expect(400);

      expect(problem.errors.map(({ field }: { field: string }) => field)).to.deep.equal(fields);
    });
  }

  it('knows nothing of what does not exist', async () => {
    for (const id of [newId('whk'), 'x']) {
      expectProblem(await ask('get', `${PATH}/${id}`), 'webhook_not_found');
      expectProblem(await ask('post', `${PATH}/${id}/test`), 'webhook_not_found');
    }
  });
});
