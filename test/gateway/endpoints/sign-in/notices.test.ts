import request from 'supertest';
import type { MailDocument } from '../../../../shared/people/mails.ts';
import type { UserDocument } from '../../../../shared/people/users/user.ts';
import { mailId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { TEST_BOX } from '../../../support/chatapp.ts';
import { expectProblem } from '../../../support/problem.ts';
import { newSession, signedIn } from '../../../support/signed-in.ts';
import { use } from '../../../support/use.ts';
import { cookiesOf, OURS, PASSWORD, SignInWorld } from './world.ts';

describe('what users are told by mail', () => {
  const world = use(() => SignInWorld.open({ smtpHost: 'mail.example.com' }));
  const stored = (id: UserDocument['_id']) => world.db.collection<UserDocument>('users').findOne({ _id: id });
  const actsOf = async (id: UserDocument['_id']) => ((await stored(id))?.unannounced ?? []).map(({ event }) => event);

  it('is chosen by each, among what concerns the role', async () => {
    const owner = await world.user('owner');
    const viewer = await world.user('viewer');
    const of = (browser: typeof owner) => world.call('get', '/v2/profile/notices', browser.headers).expect(200);
    const choose = (browser: typeof owner, mail: string[]) =>
      request(world.gateway.url).put('/v2/profile/notices').set(browser.headers).send({ mail });
    const chosen = ({ body }: { body: { data: { event: string; mail: boolean }[] } }) =>
      body.data.filter(({ mail }) => mail).map(({ event }) => event);

    const usual = await of(owner);
    expect(usual.body.email).to.equal(owner.user.username);
    expect(chosen(usual)).to.include.members(['key.created', 'user.added', 'sign_in.new_device', 'webhook.disabled']);
    expect((await of(viewer)).body.data.map(({ event }: { event: string }) => event)).not.to.include('key.created');

    const fewer = await choose(owner, ['key.created', 'template.approved']).expect(200);
    expect(chosen(fewer)).to.have.members(['key.created', 'template.approved']);
    expect(chosen(await of(owner))).to.have.members(['key.created', 'template.approved']);
    expect(chosen(await choose(viewer, ['key.created', 'template.rejected']).expect(200))).to.deep.equal([
      'template.rejected',
    ]);
    expectProblem(await choose(owner, ['message.sent']), 'invalid_request');
  });

  it('goes to the address that the user gives, with the password shown just now', async () => {
    const { user, headers } = await world.user('viewer', { username: 'without' });
    const change = (body: object, as = headers) => world.call('patch', '/v2/profile', as).send(body);

    expect((await world.call('get', '/v2/profile', headers)).body.email).to.equal(null);
    expect((await change({ email: ' Asha@Example.com ' }).expect(200)).body.email).to.equal('Asha@Example.com');
    expectProblem(await change({ email: 'asha@example' }), 'invalid_request');
    expectProblem(await change({ email: 'a@b.example\r\nBcc: c@d.example' }), 'invalid_request');
    expectProblem(await change({}), 'invalid_request');
    const old = await newSession(world.db, user, { confirmedAt: new Date(Date.now() - 3_600_000), madeAt: new Date() });
    expectProblem(await change({ email: 'thief@example.com' }, old.headers), 'confirmation_required');
    await change({ name: 'Asha' }, old.headers).expect(200);
  });

  it('an invitation and a new link are mailed where there is an address, and their answer says so', async () => {
    const owner = await world.user('owner');
    const invite = (body: object) =>
      world.call('post', '/v2/account/users', owner.headers).send({ role: 'viewer', ...body });

    const named = (await invite({ username: 'ravi', email: 'ravi@example.com' }).expect(200)).body;
    expect(named).to.include({ email: 'ravi@example.com', mailed_to: 'ravi@example.com' });
    const [, act] = (await stored(named.user_id))?.unannounced ?? [];
    expect(act).to.deep.include({ event: 'link' });
    const token = named.link.split('#')[1];
    expect(TEST_BOX.open(act?.sealed ?? '', ['users', named.user_id, 'unannounced.sealed'])).to.equal(token);
    expect(JSON.stringify(await world.db.collection('audit').find().toArray())).not.to.include(act?.sealed);
    expect((await invite({ username: 'meena' }).expect(200)).body).to.include({ email: null, mailed_to: null });
    const link = await world
      .call('post', `/v2/account/users/${named.user_id}/link`, owner.headers)
      .send({})
      .expect(200);
    expect(link.body.mailed_to).to.equal('ravi@example.com');
    expect(await actsOf(named.user_id)).to.deep.equal(['user.added', 'link', 'link']);
    expect(world.logged.join()).not.to.include(token);
  });

  it('a browser that the user had not used before, but for the first of all', async () => {
    const { user } = await world.user('viewer');
    const signIn = async (cookie = '') => {
      const headers = cookie === '' ? OURS : { ...OURS, Cookie: cookie };
      const body = { username: user.username, password: PASSWORD };
      const answer = await world.signIn(body, '203.0.113.7', headers).expect(200);
      const cookies = cookiesOf(answer).filter((one) => one.includes('device'));
      expect(cookies).to.have.length(1);
      expect(cookies[0]).to.match(
        /^harkara-device=[\w-]{22}; Path=\/v2\/session; HttpOnly; SameSite=Lax; Max-Age=\d+$/,
      );
      return cookies[0]?.split(';')[0];
    };

    const first = await signIn();
    expect(await actsOf(user._id)).to.deep.equal([]);
    expect(await signIn(first)).to.equal(first);
    expect(await actsOf(user._id)).to.deep.equal([]);
    await signIn();
    await signIn('harkara-device=forged');
    expect(await actsOf(user._id)).to.deep.equal(['sign_in.new_device', 'sign_in.new_device']);
    expect((await stored(user._id))?.unannounced?.[0]?.told).to.include({ user_id: user._id, address: '203.0.113.7' });
    expect(JSON.stringify(await stored(user._id))).not.to.include(first?.split('=')[1]);
  });

  it('operators see what is sent, and no text that has a link', async () => {
    const operator = await signedIn(world.db, 'operator_viewer', undefined, { now: world.clock.now() });
    const at = world.clock.now();
    const mail = (kind: string, more: Partial<MailDocument>): MailDocument => ({
      ...{ _id: mailId(kind, operator.user._id, at), account: world.account, user: newId('usr'), to: 'a@example.com' },
      ...{ kind, told: { username: 'ravi', role: 'viewer', purpose: 'reset' }, at, tries: 1, ...more },
      ...{
        state: more.state ?? 'waiting',
        until: new Date(at.getTime() + 1_000),
        expiresAt: new Date(at.getTime() + 9e6),
      },
    });
    await world.db
      .collection<MailDocument>('mails')
      .insertMany([
        mail('user.added', { state: 'failed', error: '550 no such user', failedAt: at }),
        mail('link', { due: at, sealed: 'v2.…' }),
      ]);
    const { body } = await world.call('get', '/v2/admin/mails', operator.headers).expect(200);

    expect(body).to.deep.include({ configured: true, waiting: 1, has_more: false });
    expect(body.last_failure.words).to.equal('550 no such user');
    const byKind = new Map(body.data.map((one: { kind: string }) => [one.kind, one]));
    expect(byKind.get('user.added')).to.deep.include({ subject: 'New user: ravi', state: 'failed' });
    expect(byKind.get('link')).to.deep.include({ subject: null, text: null, state: 'waiting' });
    const owner = await world.user('owner');
    expectProblem(await world.call('get', '/v2/admin/mails', owner.headers), 'scope_missing');
  });
});
