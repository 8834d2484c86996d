import request from 'supertest';
import { AUDIT_KINDS } from '../../../../gateway/endpoints/audit/list-entries.ts';
import type { AnyMessage } from '../../../../shared/messages/document/any-message.ts';
import { findAccount } from '../../../../shared/money/accounts/store.ts';
import type { AuditDocument } from '../../../../shared/people/audit.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeAccount, makeMessage } from '../../../support/make.ts';
import { operations } from '../../../support/openapi.ts';
import { makeOwnThings, pathOf } from '../../../support/own-things.ts';
import { type Browser, signedIn } from '../../../support/signed-in.ts';
import { wrote } from '../../../support/wrote.ts';

/** The support desk finds a message of any account, and sees the account as the account does. */
describe('operators who answer customers', () => {
  const world = accountAtGateway(100);
  let desk: Browser;
  let support: Browser;
  beforeEach(async () => {
    desk = await signedIn(world.db, 'operator_desk');
    support = await signedIn(world.db, 'operator_support');
  });

  async function stored(overrides: Partial<AnyMessage> & { readonly text?: string } = {}) {
    const message = makeMessage({ account: world.account, ...overrides } as Partial<ReturnType<typeof makeMessage>>);
    await world.db.collection<AnyMessage>('messages').insertOne(message);
    return message;
  }
  const find = (search: string, more = '') =>
    request(world.url)
      .get(`/v2/admin/messages?search=${encodeURIComponent(search)}${more}`)
      .set(desk.headers);
  const idsOf = ({ body }: { body: { data: { message_id: string }[] } }) => body.data.map((one) => one.message_id);
  const as = (browser: Browser, account: AccountId = world.account) => ({
    ...browser.headers,
    'Harkara-Account': account,
  });
  const looks = () =>
    world.db
      .collection<AuditDocument>('audit')
      .find({ 'actor.id': { $in: [desk.user._id, support.user._id] } })
      .toArray();

  describe('GET /v2/admin/messages', () => {
    it('finds a number in any form, of every account, newest first, with whose it is', async () => {
      const to = '919876501234';
      const other = await makeAccount(world.db, 1);
      const older = await stored({ _id: newId('msg', Date.now() - 3 * 86_400_000), to });
      const newer = await stored({ account: other, to });
      await stored({ to: '919876501235' });

      for (const form of [to, '+91 98765 01234', '0091-98765-01234', '098765 01234', '9876501234', '(98765)01234']) {
        expect(idsOf(await find(form)), form).to.deep.equal([newer._id, older._id]);
      }
      const { body } = await find(to, `&account_id=${world.account}`);
      expect(body.data.map((one: object) => Reflect.get(one, 'account_id'))).to.deep.equal([world.account]);
      expect(JSON.stringify(body)).not.to.include(older.text);
    });

    it('finds a national number of the country of an account', async () => {
      await world.db
        .collection<{ _id: string }>('accounts')
        .updateOne({ _id: world.account }, { $set: { country: 'GB' } });
      const { _id } = await stored({ to: '447400123456' });

      expect(idsOf(await find('07400 123456'))).to.deep.equal([_id]);
    });

    it('finds a message id, an event id, a batch id and a reference', async () => {
      const { _id } = await stored({ reference: 'order 4711/b' });

      for (const search of [_id, `evt_${_id.slice(4)}_delivered`, 'order 4711/b']) {
        expect(idsOf(await find(search)), search).to.deep.equal([_id]);
      }
      expect(idsOf(await find(newId('msg')))).to.deep.equal([]);
      expect(idsOf(await find(newId('bat')))).to.deep.equal([]);
    });

    it('pages show every message once', async () => {
      const to = '919876509999';
      const made = [];
      for (let i = 0; i < 5; i++) made.push((await stored({ to, _id: newId('msg', Date.now() - i * 40_000_000) }))._id);

      const first = await find(to, '&limit=3');
      const second = await find(to, `&limit=3&cursor=${first.body.next_cursor}`);

      expect([first, second].flatMap(idsOf)).to.deep.equal(made);
      expect(second.body.has_more).to.equal(false);
    });

    it('stands in the audit with a masked number', async () => {
      await find('9876501234').expect(200);

      const [entry] = await looks();
      expect(entry).to.include({ action: 'message.search' });
      expect(JSON.stringify(entry)).to.include('9876****34').and.not.to.include('9876501234');
      await find('Asha, 98765 01234').expect(200);
      expect((await looks()).map(({ subject }) => subject.id)).to.include('Asha, 9876****34');
    });

    it('403 for who has no admin:look', async () => {
      const viewer = await signedIn(world.db, 'operator_viewer');

      await request(world.url).get('/v2/admin/messages?search=1234').set(viewer.headers).expect(403);
    });
  });

  it('GET /v2/admin/messages/{message_id}: the whole message without codes; the account reads who looked', async () => {
    const { _id } = await stored({ text: 'Your code is 4711, valid for 10 min.' });

    const { body } = await request(world.url).get(`/v2/admin/messages/${_id}`).set(desk.headers).expect(200);

    expect(body).to.include({ message_id: _id, account_id: world.account, text_shown: 'masked' });
    expect(body.text).to.equal('Your code is ••••, valid for 10 min.');
    const audit = await request(world.url).get('/v2/account/audit').auth(world.key, { type: 'bearer' }).expect(200);
    expect(audit.body.data[0]).to.deep.include({
      action: 'message.look',
      actor: { kind: 'ops', id: null, name: null, address: null },
      subject: { kind: 'message', id: _id },
    });
  });

  it('GET /v2/admin/messages/{message_id}: also of an account that is closed', async () => {
    const account = await makeAccount(world.db, 0, { name: 'Gone', status: 'closed' });
    const { _id } = await stored({ account });

    const { body } = await request(world.url).get(`/v2/admin/messages/${_id}`).set(desk.headers).expect(200);

    expect(body).to.include({ message_id: _id, account_name: 'Gone' });
  });

  describe('with the header Harkara-Account', () => {
    it('reads what the account reads with `read`, each look recorded', async () => {
      const { _id } = await stored();

      const list = await request(world.url).get('/v2/messages').set(as(desk)).expect(200);
      await request(world.url).get(`/v2/messages/${_id}`).set(as(desk)).expect(200);
      await request(world.url).get(`/v2/messages/${_id}`).set(as(desk)).expect(200);

      expect(idsOf(list)).to.include(_id);
      expect((await looks()).map(({ action, account }) => ({ action, account }))).to.have.deep.members([
        { action: 'account.look', account: world.account },
        { action: 'message.look', account: world.account },
      ]);
    });

    it('does not share a read with users who see more of what customers wrote', async () => {
      await world.db
        .collection<{ _id: string }>('accounts')
        .updateOne({ _id: world.account }, { $set: { texts: 'hidden' } });
      const customer = '919876501234';
      await wrote(world.db, world.account, { customer, body: 'my code is 4711' });
      const bearer = { Authorization: `Bearer ${world.key}` };

      const both = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          request(world.url)
            .get(`/v2/account/inbox/${customer}`)
            .set(i % 2 === 0 ? bearer : as(desk))
            .expect(200),
        ),
      );

      const said = (from: number) =>
        new Set(both.filter((_, i) => i % 2 === from).map(({ body }) => body.data[0]?.body));
      expect([...said(0)]).to.deep.equal(['my code is 4711']);
      expect([...said(1)]).to.deep.equal([undefined]);
    });

    it('may do nothing but read, and test and replay with admin:support; every endpoint of accounts was asked', async () => {
      const { ids } = await makeOwnThings(world.db, world.account);
      const may: Record<string, string[]> = { desk: [], support: [] };

      for (const { method, path, operation } of operations) {
        const scope = operation['x-scope'] ?? 'none';
        if (scope.startsWith('none') || path.startsWith('/v2/admin/') || path.endsWith('/stream')) continue;
        for (const [name, browser] of Object.entries({ desk, support })) {
          const answer = await fetch(world.url + pathOf(path, ids), {
            method: method.toUpperCase(),
            headers: { ...as(browser), ...(method !== 'get' && { 'Content-Type': 'application/json' }) },
            ...(['post', 'put', 'patch'].includes(method) && { body: '{"zzzzzzzzzzzz":1}' }),
          });
          const isLet = ![403].includes(answer.status);
          if (isLet && method !== 'get') may[name]?.push(`${method} ${path}`);
          if (method === 'get' && !isLet) may[name]?.push(`not ${path}`);
        }
      }

      expect(AUDIT_KINDS).to.include.members((await looks()).map(({ subject }) => subject.kind));
      const never = ['not /v2/events', 'not /v2/chatapp/media/{message_id}'];
      const webhook = '/v2/account/webhooks/{webhook_id}';
      expect(may.desk).to.have.members(never);
      expect(may.support).to.have.members([
        ...never,
        ...[`post ${webhook}/test`, `post ${webhook}/deliveries/{event_id}/replay`, `post ${webhook}/replays`],
      ]);
    });

    it('reads what is kept of a closed account, and tests nothing there', async () => {
      const account = await makeAccount(world.db, 0, { name: 'Gone', status: 'closed' });
      const { _id } = await stored({ account });
      const test = '/v2/account/webhooks/whk_00000000000000000000000000/test';

      await request(world.url).get(`/v2/messages/${_id}`).set(as(support, account)).expect(200);
      const { body } = await request(world.url).post(test).set(as(support, account));

      expect(body.code).to.equal('account_not_found');
    });

    it('a browser names the account in the query of files and streams, and nowhere else', async () => {
      const ask = (path: string) => request(world.url).get(`${path}?account=${world.account}`).set(desk.headers);

      expect((await ask('/v2/ledger.csv').expect(200)).text).to.include('top_up');
      expect((await ask('/v2/balance')).body.code).to.equal('invalid_request');
    });

    it('404 for an account that does not exist, 400 without the header, and nothing for the key of another account', async () => {
      const other = await makeAccount(world.db, 1);
      const { _id } = await stored();

      const unknown = await request(world.url)
        .get('/v2/balance')
        .set(as(desk, newId('acc')));
      const unnamed = await request(world.url).get('/v2/account/users').set(desk.headers);
      const foreign = await request(world.url)
        .get(`/v2/messages/${_id}`)
        .set('Harkara-Account', other)
        .auth(world.key, { type: 'bearer' });

      expect(unknown.body.code).to.equal('account_not_found');
      expect(unnamed.body.code).to.equal('account_not_named');
      expect(foreign.status).to.equal(200); // A key's own account applies, whatever the header says.
    });
  });

  describe('the text of a message', () => {
    const TEXT = 'Code 123 456 for Rs 250, see https://x.in/aB3dE9';
    const texts = (value: 'shown' | 'own' | 'hidden') =>
      world.db.collection<{ _id: string }>('accounts').updateOne({ _id: world.account }, { $set: { texts: value } });
    const shownTo = async (headers: Readonly<Record<string, string>>) => {
      const { _id } = await stored({ text: TEXT });
      const { body } = await request(world.url).get(`/v2/messages/${_id}`).set(headers).expect(200);
      return { text: body.text, shown: body.text_shown };
    };
    const bearer = () => ({ Authorization: `Bearer ${world.key}` });

    it('is whole for keys and senders, without codes for viewers and operators', async () => {
      const masked = { text: 'Code ••• ••• for Rs 250, see https://x.in/••••••', shown: 'masked' };
      const whole = { text: TEXT, shown: 'whole' };

      expect(await shownTo(bearer())).to.deep.equal(whole);
      expect(await shownTo((await signedIn(world.db, 'sender', world.account)).headers)).to.deep.equal(whole);
      expect(await shownTo((await signedIn(world.db, 'viewer', world.account)).headers)).to.deep.equal(masked);
      expect(await shownTo(as(desk))).to.deep.equal(masked);
    });

    it('is hidden from operators (`own`), or from everybody (`hidden`), as the account is set', async () => {
      const hidden = { text: null, shown: 'hidden' };

      await texts('own');
      expect(await shownTo(as(desk))).to.deep.equal(hidden);
      expect(await shownTo(bearer())).to.deep.equal({ text: TEXT, shown: 'whole' });
      await texts('hidden');
      // The gateway caches an account for two seconds.
      const other = await makeAccount(world.db, 1);
      await world.db.collection<{ _id: string }>('accounts').updateOne({ _id: other }, { $set: { texts: 'hidden' } });
      const { _id } = await stored({ account: other, text: TEXT });
      const { headers } = await signedIn(world.db, 'owner', other);
      const { body } = await request(world.url).get(`/v2/messages/${_id}`).set(headers).expect(200);
      expect({ text: body.text, shown: body.text_shown }).to.deep.equal(hidden);

      const choose = (by: Readonly<Record<string, string>>) =>
        request(world.url).patch('/v2/account/settings').set(by).send({ message_texts: 'own' });
      expect((await choose(headers)).body).to.deep.include({ message_texts: 'own' });
      expect(await findAccount(world.db, other)).to.include({ texts: 'own' });
      expect((await choose((await signedIn(world.db, 'developer', other)).headers)).status).to.equal(403);
    });
  });
});
