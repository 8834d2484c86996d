import request from 'supertest';
import { openGateway, TEST_CONFIG } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { newSession, signedIn } from '../../../support/signed-in.ts';
import { use } from '../../../support/use.ts';
import { cookieOf, OURS, PASSWORD, SignInWorld, withCookie } from './world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('sessions and their end (ASVS 7)', () => {
  const world = use(() => SignInWorld.open());
  beforeEach(() => world.forgetFailures());
  const me = (headers: object) => world.call('get', '/v2/session', headers);

  it('7.2.1, 7.2.2, 7.2.3: the cookie has 256 random bits, kept as a hash; a changed byte is nobody', async () => {
    const { user } = await world.user('viewer');
    const signIn = () => world.signIn({ username: user.username, password: PASSWORD }).expect(200);
    const cookies = [cookieOf(await signIn()), cookieOf(await signIn())];
    const secrets = cookies.map((cookie) => cookie.split('.')[1] ?? '');
    expect(new Set(secrets)).to.have.property('size', 2);
    for (const secret of secrets) expect(secret).to.match(/^[0-9a-f]{64}$/);
    const stored = JSON.stringify(await world.db.collection('sessions').find().toArray());
    for (const secret of secrets) expect(stored).not.to.include(secret);

    const [good = ''] = cookies;
    await me(withCookie(good)).expect(200);
    for (let at = 'harkara='.length; at < good.length; at += 7) {
      const changed = good.slice(0, at) + (good[at] === '0' ? '1' : '0') + good.slice(at + 1);
      expectProblem(await me(withCookie(changed)), 'session_ended');
      await world.forgetFailures();
    }
    for (const text of ['', 'x', `${good}0`, `ses_${'0'.repeat(26)}.`, '{"$ne":null}', '%00']) {
      expectProblem(await me(withCookie(text.startsWith('harkara=') ? text : `harkara=${text}`)), 'session_ended');
    }
  });

  it('7.2.4: sign-in makes another cookie; the one that was there is dead, whoever planted it', async () => {
    const { user, headers } = await world.user('viewer');
    const credentials = { username: user.username, password: PASSWORD };
    const planted = headers.Cookie ?? '';
    const begun = cookieOf(await world.signIn(credentials, '203.0.113.7', withCookie(planted)).expect(200));

    expect(begun).not.to.equal(planted);
    expectProblem(await me(withCookie(planted)), 'session_ended');
    const chosen = `harkara=ses_${'0'.repeat(26)}.${'a'.repeat(64)}`;
    const again = cookieOf(await world.signIn(credentials, '203.0.113.7', withCookie(chosen)).expect(200));
    expect(again).not.to.equal(chosen);
    await me(withCookie(again)).expect(200);
  });

  it('7.3.1: 30 minutes without a request end it; requests prolong it', async () => {
    const { headers } = await world.user('viewer');
    for (let i = 1; i <= 3; i++) {
      world.clock.turn(29 * MINUTE_MS);
      await me(headers).expect(200);
    }
    world.clock.turn(30 * MINUTE_MS);
    expectProblem(await me(headers), 'session_ended');
  });

  it('7.3.1: what an open page asks by itself does not prolong it', async () => {
    const { headers } = await world.user('viewer');
    for (const more of [{ 'X-Dashboard-Auto': '1' }, { Accept: 'text/event-stream' }]) {
      world.clock.turn(14 * MINUTE_MS);
      await me({ ...headers, ...more }).expect(200);
    }
    world.clock.turn(2 * MINUTE_MS);
    expectProblem(await me(headers), 'session_ended');
  });

  for (const [role, hours] of [
    ['viewer', 12],
    ['operator', 4],
  ] as const) {
    it(`7.3.2: ${hours} hours end the session of an ${role}, in spite of requests`, async () => {
      const { headers } = await world.userWithApp(role);
      for (let minutes = 20; minutes < hours * 60; minutes += 20) {
        world.clock.turn(20 * MINUTE_MS);
        await me(headers).expect(200);
      }
      world.clock.turn(20 * MINUTE_MS);
      expectProblem(await me(headers), 'session_ended');
    });
  }

  it('7.4.1, 14.3.1: signing out ends it on every gateway, and clears what the browser keeps', async () => {
    const { headers } = await world.user('viewer');
    const config = { ...TEST_CONFIG, keyCacheMs: 4_000 };
    const second = await openGateway(world.db, { clock: world.clock, config });
    try {
      const there = () => request(second.url).get('/v2/session').set(headers);
      await there().expect(200);
      const out = await world.call('delete', '/v2/session', headers).expect(200);
      expect(out.headers['clear-site-data']).to.equal('"cache"');
      expect(String(out.headers['set-cookie'])).to.match(/^harkara=; .*Max-Age=0/);
      for (const answer of [await there(), await me(headers)]) expectProblem(answer, 'session_ended');
    } finally {
      await second.close();
    }
  });

  it('7.4.2, 7.4.5: a disabled or removed user is out at once, everywhere; and one signed out by an owner', async () => {
    const owner = await signedIn(world.db, 'owner', world.account, { now: world.clock.now() });
    const acts = [
      (id: string) => world.call('patch', `/v2/account/users/${id}`, owner.headers).send({ status: 'disabled' }),
      (id: string) => world.call('delete', `/v2/account/users/${id}`, owner.headers),
      (id: string) => world.call('delete', `/v2/account/users/${id}/sessions`, owner.headers),
    ];
    for (const act of acts) {
      const { user, headers } = await world.user('sender');
      const other = await newSession(world.db, user, { madeAt: world.clock.now() });
      await act(user._id).expect(200);
      for (const one of [headers, other.headers]) expectProblem(await me(one), 'session_ended');
    }
  });

  it('a session that ended while it was in use does not come back', async () => {
    const { headers, session } = await world.user('viewer');
    world.clock.turn(2 * MINUTE_MS);
    await Promise.all([me(headers), me(headers), world.call('delete', '/v2/session', headers)]);

    expect(await world.db.collection<{ _id: string }>('sessions').countDocuments({ _id: session._id })).to.equal(0);
    expectProblem(await me(headers), 'session_ended');
  });

  it('7.5.2: users see their sessions and end them, and no one else’s', async () => {
    const { user, headers, session } = await world.user('viewer');
    const other = await newSession(world.db, user, { madeAt: world.clock.now(), agent: 'Firefox' });
    const stranger = await world.user('viewer');
    const list = async () => (await world.call('get', '/v2/profile/sessions', headers).expect(200)).body.data;
    expect(
      (await list()).map((one: { current: boolean; session_id: string }) => [one.session_id, one.current]),
    ).to.have.deep.members([
      [session._id, true],
      [other.session._id, false],
    ]);
    expect(JSON.stringify(await list())).not.to.include(String(headers.Cookie).split('.')[1]);
    const end = (id: string) => world.call('delete', `/v2/profile/sessions/${id}`, headers);
    expectProblem(await end(stranger.session._id), 'session_not_found');
    await me(stranger.headers).expect(200);
    await end(other.session._id).expect(200);
    expectProblem(await me(other.headers), 'session_ended');
    await newSession(world.db, user, { madeAt: world.clock.now() });
    const rest = await world.call('delete', '/v2/profile/sessions', headers).expect(200);
    expect(rest.body.ended).to.equal(1);
    expect(await list()).to.have.length(1);
  });

  it('7.6.2: no GET begins a session', async () => {
    const before = await world.db.collection('sessions').countDocuments();
    for (const path of ['/v2/session', '/v2/session/link', '/dashboard/link', '/v2/profile']) {
      const answer = await world.call('get', path, OURS);
      expect(answer.headers, path).not.to.have.property('set-cookie');
    }
    expect(await world.db.collection('sessions').countDocuments()).to.equal(before);
  });

  it('the store removes what is over by itself', async () => {
    const { session } = await world.user('viewer');
    expect(session.expiresAt.getTime() - session.madeAt.getTime()).to.equal(12 * HOUR_MS);
    const indexes = await world.db.collection('sessions').indexes();
    expect(indexes.find(({ name }) => name === 'expiry')).to.include({ expireAfterSeconds: 0 });
  });

  it('a user has 20 sessions: the oldest ends', async () => {
    const { user } = await world.user('viewer');
    const first = await world.signIn({ username: user.username, password: PASSWORD }).expect(200);
    const cookie = withCookie(cookieOf(first));
    for (let i = 0; i < 19; i++) {
      world.clock.turn(1_000);
      await world.signIn({ username: user.username, password: PASSWORD }).expect(200);
    }
    // `user` began with a session too, which has ended by now.
    expect((await world.call('get', '/v2/session', cookie)).status).to.equal(200);

    world.clock.turn(1_000);
    await world.signIn({ username: user.username, password: PASSWORD }).expect(200);

    expectProblem(await world.call('get', '/v2/session', cookie), 'session_ended');
    expect(await world.db.collection('sessions').countDocuments({ user: user._id })).to.equal(20);
  });
});
