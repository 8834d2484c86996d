import { newLink, type UserDocument } from '../../../../shared/people/users/user.ts';
import { contractText } from '../../../support/openapi.ts';
import { expectProblem } from '../../../support/problem.ts';
import { use } from '../../../support/use.ts';
import { cookieOf, PASSWORD, SignInWorld, withCookie } from './world.ts';

describe('passwords (ASVS 6.2, 6.4)', () => {
  const world = use(() => SignInWorld.open());
  beforeEach(() => world.forgetFailures());

  /** Sets a password by a new user's invitation. */
  async function choose(password: string) {
    const { user } = await world.user('viewer', { status: 'invited', password: undefined } as never);
    const token = await linkFor(user);
    return { user, token, answer: await world.call('post', '/v2/session/link/password').send({ token, password }) };
  }
  async function linkFor(user: UserDocument): Promise<string> {
    const { token, link } = newLink(user, world.clock.now());
    await world.db.collection<UserDocument>('users').updateOne({ _id: user._id }, { $set: { link } });
    return token;
  }

  it('6.2.1: 7 characters are refused, 8 are taken', async () => {
    expectProblem((await choose('kj3$vQ9')).answer, 'invalid_request');
    expect((await choose('kj3$vQ9m')).answer.status).to.equal(200);
  });

  it('6.2.2, 6.2.3: users change their password, with the current one; it may be the same length and kind', async () => {
    const { headers } = await world.user('viewer');
    const change = (current: string, password: string) =>
      world.call('post', '/v2/profile/password', headers).send({ current_password: current, password });

    expectProblem(await change('wrong wrong wrong', 'nine yellow badgers'), 'password_wrong');
    expectProblem(
      await world.call('post', '/v2/profile/password', headers).send({ password: 'x'.repeat(9) }),
      'invalid_request',
    );
    expect((await change(PASSWORD, 'nine yellow badgers')).status).to.equal(200);
  });

  it('6.2.4, 6.2.11, 6.2.12: what everybody tries is refused: stolen lists, the product, the own name', async () => {
    const { user } = await world.user('viewer');
    const [mine = ''] = user.username.split('@');
    for (const password of ['password1', 'Password1', 'qwertyuiop', 'Harkara2026!', 'aaaaaaaaaa', 'iloveyou']) {
      const { answer } = await choose(password);
      expectProblem(answer, 'invalid_request');
      expect(answer.body.errors[0].field).to.equal('password');
    }
    const token = await linkFor(user);
    const own = await world.call('post', '/v2/session/link/password').send({ token, password: mine.toUpperCase() });
    expectProblem(own, 'invalid_request');
  });

  for (const password of ['with some blanks in it', '🦦🦡🐝 ключ пароль', `${'long '.repeat(25)}!`]) {
    it(`6.2.5, 6.2.8, 6.2.9: "${password.slice(0, 12)}…" is taken as it is; case and the last character count`, async () => {
      const { user, answer } = await choose(password);
      expect(answer.status).to.equal(200);
      const tries = [password.toUpperCase(), password.slice(0, -1), `${password} `];
      for (const wrong of tries) {
        expectProblem(await world.signIn({ username: user.username, password: wrong }), 'sign_in_failed');
      }
      await world.signIn({ username: user.username, password }).expect(200);
    });
  }

  it('6.2.10: a password of years ago still signs in', async () => {
    const { user } = await world.user('viewer', { passwordAt: new Date('2016-01-01T00:00:00Z') });

    await world.signIn({ username: user.username, password: PASSWORD }).expect(200);
  });

  it('6.3.2: a fresh store has no user; 6.4.2: nothing asks for hints or secret questions', async () => {
    const fresh = await SignInWorld.open();
    try {
      expect(await fresh.db.collection('users').countDocuments()).to.equal(0);
      for (const username of ['admin', 'root', 'demo@example.com', 'operator']) {
        expectProblem(await fresh.signIn({ username, password: 'admin' }), 'sign_in_failed');
      }
    } finally {
      await fresh.close();
    }
    expect(contractText).not.to.match(/hint|secret question|security question/i);
  });

  it('6.4.1: a link is random, ends, works once, and never becomes the password', async () => {
    const { user, token, answer } = await choose('three green lizards');
    expect(answer.status).to.equal(200);
    expect(token).to.match(/^[\w-]{43}$/);
    expect(JSON.stringify(await world.stored(user._id))).not.to.include(token);

    const again = await world.call('post', '/v2/session/link/password').send({ token, password: 'four red lizards' });
    expectProblem(again, 'link_invalid');
    expectProblem(await world.signIn({ username: user.username, password: token }), 'sign_in_failed');
    const reset = await linkFor(await world.stored(user._id));
    world.clock.turn(3_600_000);
    const late = { token: reset, password: 'four red lizards' };
    expectProblem(await world.call('post', '/v2/session/link').send({ token: reset }), 'link_invalid');
    expectProblem(await world.call('post', '/v2/session/link/password').send(late), 'link_invalid');
    expectProblem(await world.call('post', '/v2/session/link').send({ token: 'x'.repeat(43) }), 'link_invalid');
  });

  it('6.4.1: of two who use a link at once only one sets the password; looking at it spends nothing', async () => {
    const { user } = await world.user('viewer');
    const token = await linkFor(user);
    for (let i = 0; i < 3; i++) await world.call('post', '/v2/session/link').send({ token }).expect(200);
    const both = await Promise.all(
      ['five blue herons', 'six brown herons'].map((password) =>
        world.call('post', '/v2/session/link/password').send({ token, password }),
      ),
    );

    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 403]);
    const set = both[0]?.status === 200 ? 'five blue herons' : 'six brown herons';
    await world.signIn({ username: user.username, password: set }).expect(200);
  });

  it('6.4.3: a reset ends all sessions and skips no second factor', async () => {
    const { user, headers } = await world.userWithApp('owner');
    const token = await linkFor(user);
    await world.call('post', '/v2/session/link/password').send({ token, password: 'six brown herons' }).expect(200);

    expectProblem(await world.call('get', '/v2/session', headers), 'session_ended');
    const signIn = { username: user.username, password: 'six brown herons' };
    expectProblem(await world.signIn(signIn), 'second_factor_missing');
    await world.signIn({ ...signIn, code: await world.code() }).expect(200);
  });

  it('7.4.3: a new password ends all other sessions and renews this one; links that were open no longer work', async () => {
    const { user, headers } = await world.user('viewer');
    const other = cookieOf(await world.signIn({ username: user.username, password: PASSWORD }));
    const token = await linkFor(user);
    const wanted = { current_password: PASSWORD, password: 'nine yellow badgers' };
    const changed = await world.call('post', '/v2/profile/password', headers).send(wanted).expect(200);

    expectProblem(await world.call('get', '/v2/session', withCookie(other)), 'session_ended');
    expectProblem(await world.call('get', '/v2/session', headers), 'session_ended');
    await world.call('get', '/v2/session', withCookie(cookieOf(changed))).expect(200);
    expectProblem(await world.call('post', '/v2/session/link').send({ token }), 'link_invalid');
  });
});
