import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { newLink, type UserDocument } from '../../../../shared/people/users/user.ts';
import { expectProblem } from '../../../support/problem.ts';
import { boxOf } from '../../../support/secret-box.ts';
import { type Browser, newSession, signedIn } from '../../../support/signed-in.ts';
import { use } from '../../../support/use.ts';
import { cookieOf, PASSWORD, SignInWorld, withCookie } from './world.ts';

const STEP_MS = 30_000;

describe('second factor (ASVS 6.3.3, 6.4, 6.5)', () => {
  const world = use(() => SignInWorld.open());
  beforeEach(async () => {
    await world.forgetFailures();
    world.clock.turn(10 * STEP_MS);
  });

  const accounts = () => world.db.collection<AccountDocument>('accounts');
  const signIn = ({ user }: Pick<Browser, 'user'>, more: object = {}) =>
    world.signIn({ username: user.username, password: PASSWORD, ...more });
  async function enrol(headers: Record<string, string>) {
    const begun = await world.call('post', '/v2/profile/second-factor', headers).send({}).expect(200);
    const { setup, secret } = begun.body;
    const code = await world.code(0, secret);
    const set = await world
      .call('post', '/v2/profile/second-factor/confirm', headers)
      .send({ setup, code })
      .expect(200);
    return { begun, set, setup, secret, codes: set.body.recovery_codes as string[] };
  }

  for (const role of ['owner', 'operator'] as const) {
    it(`6.3.3: an ${role} without one may do nothing but set one up; then all that the role may`, async () => {
      const { user } = await world.user(role);
      const headers = withCookie(cookieOf(await signIn({ user }).expect(200)));
      for (const path of ['/v2/balance', '/v2/account/users', '/v2/profile', '/v2/profile/sessions']) {
        expectProblem(await world.call('get', path, headers), 'second_factor_needed');
      }
      const { set, codes } = await enrol(headers);

      expect(set.body.session.missing).to.deep.equal([]);
      expect(codes).to.have.length(10);
      expectProblem(await world.call('get', '/v2/session', headers), 'session_ended');
      const now = withCookie(cookieOf(set));
      await world.call('get', '/v2/profile', now).expect(200);
      expectProblem(await signIn({ user }), 'second_factor_missing');
    });
  }

  it('6.3.3: an account may ask it of all; the demo account alone asks it of nobody', async () => {
    const { headers, user } = await world.user('viewer');
    const { headers: mine } = await newSession(world.db, user, { ...notShown(), madeAt: world.clock.now() });
    const owner = await signedIn(world.db, 'owner', world.account, { now: world.clock.now() });
    await world.call('get', '/v2/balance', mine).expect(200);
    await world.call('patch', '/v2/account/sign-in', owner.headers).send({ second_factor: 'all' }).expect(200);

    expectProblem(await world.call('get', '/v2/balance', mine), 'second_factor_needed');
    await world.call('get', '/v2/balance', headers).expect(200);
    await world.call('patch', '/v2/account/sign-in', owner.headers).send({ second_factor: 'owners' }).expect(200);
    await world.call('get', '/v2/balance', mine).expect(200);
    const none = await world.call('patch', '/v2/account/sign-in', owner.headers).send({ second_factor: 'none' });
    expectProblem(none, 'invalid_request');
    await accounts().updateOne({ _id: world.account }, { $set: { secondFactor: 'exempt' } });
    const demo = await world.user('owner', { epoch: 7 });
    await world.call('get', '/v2/balance', withCookie(cookieOf(await signIn(demo).expect(200)))).expect(200);
    await accounts().updateOne({ _id: world.account }, { $unset: { secondFactor: '' } });
  });

  it('6.3.4: no other way in: a link, a recovery code or a code alone sign nobody in', async () => {
    const { user } = await world.userWithApp('viewer');
    const codeAlone = { username: user.username, password: 'not the password', code: await world.code() };
    expectProblem(await world.signIn(codeAlone), 'sign_in_failed');
    const { token, link } = newLink(user, world.clock.now());
    await world.db.collection<UserDocument>('users').updateOne({ _id: user._id }, { $set: { link } });
    const used = await world.call('post', '/v2/session/link/password').send({ token, password: 'six brown herons' });
    expect(used.status).to.equal(200);
    expect(used.headers).not.to.have.property('set-cookie');
    // The wrong password did not use up the code.
    await world.signIn({ ...codeAlone, password: 'six brown herons' }).expect(200);
  });

  it('6.5.1: a code works once, on whichever gateway, also when two come at once', async () => {
    const browser = await world.userWithApp('viewer');
    const code = await world.code();
    const both = await Promise.all([signIn(browser, { code }), signIn(browser, { code })]);

    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
    expectProblem(await signIn(browser, { code }), 'second_factor_wrong');
    expectProblem(await signIn(browser, { code: await world.code(-STEP_MS) }), 'second_factor_wrong');
    await signIn(browser, { code: await world.code(STEP_MS) }).expect(200);
  });

  it('6.5.1, 6.5.2, 6.5.3: a recovery code works once, is kept as a hash, and has 120 random bits', async () => {
    const { user } = await world.user('developer');
    const { codes, secret } = await enrol(withCookie(cookieOf(await signIn({ user }))));
    const stored = JSON.stringify(await world.stored(user._id));
    expect(new Set(codes)).to.have.property('size', 10);
    for (const code of codes) {
      expect(code).to.match(/^([0-9a-hjkmnp-tv-z]{4}-){5}[0-9a-hjkmnp-tv-z]{4}$/);
      expect(stored).not.to.include(code).and.not.include(code.replaceAll('-', ''));
    }
    expect(stored).not.to.include(secret);
    const [first = '', second = ''] = codes;
    const both = await Promise.all([1, 2].map(() => signIn({ user }, { recovery_code: first })));
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 401]);
    expectProblem(await signIn({ user }, { recovery_code: first }), 'second_factor_wrong');
    await signIn({ user }, { recovery_code: second.toUpperCase().replaceAll('-', ' ') }).expect(200);
    expect((await world.stored(user._id)).recoveryCodes).to.have.length(8);
  });

  it('an app whose seed was stored with another secret key: the code is no wrong try, a recovery code signs in', async () => {
    const { user } = await world.user('owner');
    const { secret, codes } = await enrol(withCookie(cookieOf(await signIn({ user }).expect(200))));
    const seed = boxOf(Buffer.alloc(32, 8)).seal(secret, ['users', user._id, 'totp.seed']);
    await world.db.collection<UserDocument>('users').updateOne({ _id: user._id }, { $set: { 'totp.seed': seed } });
    world.logged.length = 0;

    // More wrong tries than are free.
    for (let i = 0; i < 7; i++) {
      expectProblem(await signIn({ user }, { code: await world.code(1, secret) }), 'second_factor_unreadable');
    }

    expect(world.logged.filter((line) => line.startsWith('secret_unreadable '))).to.have.length(7);
    await signIn({ user }, { recovery_code: codes[0] }).expect(200);
  });

  it('new recovery codes are in the audit also when none was used, without codes and hashes', async () => {
    const { user } = await world.user('developer');
    const { set, codes } = await enrol(withCookie(cookieOf(await signIn({ user }))));
    const hashes = (await world.stored(user._id)).recoveryCodes ?? [];
    const renewed = await world
      .call('post', '/v2/profile/recovery-codes', withCookie(cookieOf(set)))
      .send({ current_password: PASSWORD })
      .expect(200);

    const entry = await world.db.collection('audit').findOne({ 'actor.id': user._id, action: { $regex: 'renew' } });
    expect(entry).to.include({ outcome: 'done' });
    expect([entry?.before.recovery_codes, entry?.after.recovery_codes]).to.deep.equal([10, 10]);
    const after = (await world.stored(user._id)).recoveryCodes ?? [];
    for (const secret of [...codes, ...renewed.body.recovery_codes, ...hashes, ...after]) {
      expect(JSON.stringify(entry)).not.to.include(secret);
    }
  });

  it('6.5.5: a code older than one step is refused; one step is taken, because clocks of phones differ', async () => {
    for (const [ms, good] of [
      [-2, false],
      [-1, true],
      [0, true],
      [1, true],
      [2, false],
    ] as const) {
      const browser = await world.userWithApp('viewer');
      const { status } = await signIn(browser, { code: await world.code(ms * STEP_MS) });
      expect(status, `${ms} steps`).to.equal(good ? 200 : 401);
    }
  });

  it('codes of another form are wrong, no more', async () => {
    const browser = await world.userWithApp('viewer');
    for (const code of ['', '12345', '1234567', 'abcdef', '１２３４５６', '-12345', '1e5   ']) {
      await world.forgetFailures();
      expectProblem(await signIn(browser, { code }), 'second_factor_wrong');
    }
  });

  it('6.4.4: a lost app: an owner removes it, which is in the audit, and ends the sessions', async () => {
    const owner = await signedIn(world.db, 'owner', world.account, { now: world.clock.now() });
    const lost = await world.userWithApp('sender');
    await world.call('delete', `/v2/account/users/${lost.user._id}/second-factor`, owner.headers).expect(200);

    expectProblem(await world.call('get', '/v2/balance', lost.headers), 'session_ended');
    await signIn(lost).expect(200);
    const entry = await world.db.collection('audit').findOne({ action: 'user.remove-second-factor' });
    expect(entry).to.deep.include({ outcome: 'done', account: world.account });
    expect(entry?.actor).to.include({ kind: 'user', id: owner.user._id, name: owner.user.username });
    expect(entry?.subject).to.deep.equal({ kind: 'user', id: lost.user.username });
  });

  it('7.5.1: app, codes and password need the password again; what was begun ends with any of them', async () => {
    const { headers } = await world.userWithApp('developer');
    world.clock.turn(11 * 60_000);
    expectProblem(await world.call('post', '/v2/profile/second-factor', headers).send({}), 'password_needed');
    const right = { current_password: PASSWORD };
    const posts = [
      ['second-factor', right],
      ['second-factor/remove', right],
      ['recovery-codes', right],
      ['password', { ...right, password: 'eight green herons' }],
    ] as const;
    const post = async (path: string, body: object) => world.call('post', `/v2/profile/${path}`, headers).send(body);
    // A password may be filled in by the browser, so recovery codes and another app also need the code.
    for (const [path, body] of posts) expectProblem(await post(path, body), 'confirmation_required');
    await world
      .call('post', '/v2/session/confirm', headers)
      .send({ password: PASSWORD, code: await world.code() })
      .expect(200);
    for (const [path, body] of posts.slice(0, 3)) {
      expectProblem(await post(path, { ...body, current_password: 'wrong wrong' }), 'password_wrong');
    }
    const begin = { current_password: PASSWORD };
    const { setup, secret } = (await world.call('post', '/v2/profile/second-factor', headers).send(begin)).body;
    const confirm = async (from: Record<string, string>, code: string) =>
      world.call('post', '/v2/profile/second-factor/confirm', from).send({ setup, code });
    expectProblem(await confirm(headers, '000000'), 'second_factor_wrong');
    const other = await world.userWithApp('developer');
    expectProblem(await confirm(other.headers, await world.code(0, secret)), 'setup_invalid');
    const set = await confirm(headers, await world.code(0, secret));
    expect(set.status).to.equal(200);
    const now = withCookie(cookieOf(set));
    expectProblem(await confirm(now, await world.code(STEP_MS, secret)), 'setup_invalid');
    await world.call('post', '/v2/profile/second-factor/remove', now).send(begin).expect(200);
  });

  it('setting one up in a loop is limited: each time a code is drawn', async () => {
    const { headers } = await world.user('viewer');
    const begin = () => world.call('post', '/v2/profile/second-factor', headers).send({});
    for (let i = 0; i < 60; i++) await begin().expect(200);

    expectProblem(await begin(), 'sign_in_limited');
  });

  it('an owner cannot remove the app, only replace it', async () => {
    const { headers } = await world.userWithApp('owner');
    const removed = await world
      .call('post', '/v2/profile/second-factor/remove', headers)
      .send({ current_password: PASSWORD });

    expectProblem(removed, 'second_factor_required');
  });
});

function notShown(): object {
  return { factor: undefined };
}
