import request from 'supertest';
import { makeLink } from '../../../../shared/people/users/store.ts';
import { openCountingDb } from '../../../support/counting-db.ts';
import { openGateway, TEST_CONFIG } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { use } from '../../../support/use.ts';
import { OURS, PASSWORD, SignInWorld } from './world.ts';

/** The store commands that a sign-in may use. */
const COMMANDS = ['find', 'insert', 'update', 'findAndModify', 'delete'];

describe('guessing (ASVS 6.1.1, 6.3.1)', () => {
  const world = use(() => SignInWorld.open());
  beforeEach(() => world.forgetFailures());
  const guess = (username: string, from: string) => world.signIn({ username, password: 'a wrong guess' }, from);

  it('6.3.1: the 6th wrong try waits, from another address too, whether the user exists or not', async () => {
    const { user } = await world.user('viewer');
    for (const username of [user.username, 'nobody@example.com']) {
      for (let i = 1; i <= 5; i++) expectProblem(await guess(username, `198.51.100.${i}`), 'sign_in_failed');
      const sixth = await guess(username, '198.51.100.6');
      expectProblem(sixth, 'sign_in_limited');
      expect(sixth.headers['retry-after']).to.equal('1');
      // The right password is refused too, or guessing would work during the pause.
      expectProblem(await world.signIn({ username, password: PASSWORD }, '198.51.100.7'), 'sign_in_limited');
    }
  });

  it('6.3.8: a wrong guess costs the store as much for a name that nobody has, so that no time tells', async () => {
    const { user } = await world.user('viewer');
    const counting = openCountingDb(world.store);
    const counted = await openGateway(counting.db, { config: { ...TEST_CONFIG, trustProxy: ['127.0.0.0/8'] } });
    try {
      const costs: number[][] = [];
      const names = [user.username, 'nobody@example.com', 'another.nobody@example.com'];
      for (const [i, username] of names.entries()) {
        const before = COMMANDS.map((command) => counting.sent(command));
        const answer = await request(counted.url)
          .post('/v2/session')
          .set({ ...OURS, 'X-Forwarded-For': `198.51.100.${200 + i}` })
          .send({ username, password: 'a wrong guess' });
        expectProblem(answer, 'sign_in_failed');
        costs.push(COMMANDS.map((command, c) => counting.sent(command) - (before[c] ?? 0)));
      }
      // The first also reads the account, which is cached afterwards.
      expect(costs[1]).to.deep.equal(costs[2]);
      const [[finds = 0, ...writes] = [], [nobodys = 0, ...others] = []] = costs;
      expect(writes).to.deep.equal(others);
      expect(finds - nobodys).to.be.within(0, 1);
    } finally {
      await counted.close();
      await counting.close();
    }
  });

  it('6.3.1: each further failure doubles the pause, to 15 minutes; a sign-in ends it', async () => {
    const { user } = await world.user('viewer');
    const pauses: number[] = [];
    for (let i = 1; i <= 18; i++) {
      expectProblem(await guess(user.username, `198.51.100.${i}`), 'sign_in_failed');
      const waits = await guess(user.username, '203.0.113.9');
      const seconds = Number(waits.headers['retry-after'] ?? 0);
      if (seconds > 0) pauses.push(seconds);
      world.clock.turn(seconds * 1000);
    }
    expect(pauses).to.deep.equal([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900, 900, 900]);
    await world.signIn({ username: user.username, password: PASSWORD }).expect(200);
    for (let i = 1; i <= 5; i++) expectProblem(await guess(user.username, `198.51.101.${i}`), 'sign_in_failed');
  });

  it('6.3.1: many guesses at once get no further than five', async () => {
    const { user } = await world.user('viewer');
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, i) => guess(user.username, `198.51.100.${i + 1}`)),
    );
    const looked = answers.filter(({ body }) => body.code === 'sign_in_failed');

    expect(looked.length).to.be.at.most(5);
    const others = answers.filter(({ body }) => !['sign_in_limited', 'sign_in_busy'].includes(body.code));
    expect(others).to.have.length(looked.length);
  });

  it('6.1.1: nobody keeps another out: where the user has signed in before, guesses from elsewhere do not count', async () => {
    const { user } = await world.user('viewer');
    await world.signIn({ username: user.username, password: PASSWORD }, '203.0.113.50').expect(200);
    for (let i = 1; i <= 6; i++) await guess(user.username, `198.51.100.${i}`);

    expectProblem(
      await world.signIn({ username: user.username, password: PASSWORD }, '198.51.100.9'),
      'sign_in_limited',
    );
    await world.signIn({ username: user.username, password: PASSWORD }, '203.0.113.50').expect(200);
  });

  it('6.1.1: whatever is typed as a name, it counts for no user in the networks that the user knows', async () => {
    const { user } = await world.user('viewer');
    await world.signIn({ username: user.username, password: PASSWORD }, '203.0.113.50').expect(200);
    for (let i = 1; i <= 6; i++) await guess(`${user.username} 203.0.113.50`, `198.51.100.${i}`);

    await world.signIn({ username: user.username, password: PASSWORD }, '203.0.113.50').expect(200);
  });

  it('an address has 20 wrong tries in 15 minutes, IPv6 by /64; sign-ins do not reset it', async () => {
    const { user } = await world.user('viewer');
    for (let i = 1; i <= 20; i++) {
      expectProblem(await guess(`nobody${i}@example.com`, `2001:db8:0:1::${i}`), 'sign_in_failed');
      if (i === 10) await world.signIn({ username: user.username, password: PASSWORD }, '2001:db8:0:1::1').expect(200);
    }
    expectProblem(await guess('another@example.com', '2001:db8:0:1::abcd'), 'sign_in_limited');
    expectProblem(await guess('another@example.com', '2001:db8:0:2::1'), 'sign_in_failed');
    const link = { token: 'x'.repeat(43) };
    const looked = world.call('post', '/v2/session/link').set('X-Forwarded-For', '2001:db8:0:1::2').send(link);
    expectProblem(await looked, 'sign_in_limited');
    world.clock.turn(15 * 60_000);
    expectProblem(await guess('another@example.com', '2001:db8:0:1::abcd'), 'sign_in_failed');
  });

  it('codes are limited like passwords; asking for the code is no failure, and forgives none', async () => {
    const { user } = await world.userWithApp('viewer');
    const signIn = (more: object, i: number) =>
      world.signIn({ username: user.username, password: PASSWORD, ...more }, `198.51.100.${i}`);
    for (let i = 1; i <= 5; i++) {
      expectProblem(await signIn({}, i), 'second_factor_missing');
      expectProblem(await signIn({ code: '000000' }, i), 'second_factor_wrong');
    }
    expectProblem(await signIn({ code: await world.code() }, 6), 'sign_in_limited');
  });

  it('a stolen session gets no more guesses at the password than a stranger', async () => {
    const { headers } = await world.user('viewer');
    const change = () =>
      world
        .call('post', '/v2/profile/password', headers)
        .send({ current_password: 'wrong wrong', password: 'x y z a b c' });
    for (let i = 1; i <= 5; i++) expectProblem(await change(), 'password_wrong');

    expectProblem(await change(), 'sign_in_limited');
  });

  it('nor by going through many networks; where the user has signed in, they still change the password', async () => {
    const { user, headers } = await world.user('viewer');
    await world.signIn({ username: user.username, password: PASSWORD }, '203.0.113.50').expect(200);
    const change = (current: string, from: string) =>
      world
        .call('post', '/v2/profile/password', { ...headers, 'X-Forwarded-For': from })
        .send({ current_password: current, password: 'nine yellow badgers' });
    for (let i = 1; i <= 5; i++) expectProblem(await change('wrong wrong', `198.51.100.${i}`), 'password_wrong');

    expectProblem(await change(PASSWORD, '198.51.100.6'), 'sign_in_limited');
    await change(PASSWORD, '203.0.113.50').expect(200);
  });

  it('a new password by a link ends the pause, also where the user has signed in before; that of an address stays', async () => {
    const { user } = await world.user('viewer');
    const [home, other] = ['203.0.113.50', '198.51.100.9'];
    await world.signIn({ username: user.username, password: PASSWORD }, home).expect(200);
    for (let i = 1; i <= 5; i++) expectProblem(await guess(user.username, home), 'sign_in_failed');
    for (let i = 1; i <= 5; i++) expectProblem(await guess(user.username, other), 'sign_in_failed');
    for (let i = 1; i <= 20; i++) await guess(`nobody${i}@example.com`, '198.51.100.20');
    const link = await makeLink(world.db, world.clock.now(), user);
    const password = 'nine yellow badgers';

    const use = world.call('post', '/v2/session/link/password', { ...OURS, 'X-Forwarded-For': home });
    await use.send({ token: link?.token, password }).expect(200);

    await world.signIn({ username: user.username, password }, home).expect(200);
    await world.signIn({ username: user.username, password }, other).expect(200);
    expectProblem(await world.signIn({ username: user.username, password }, '198.51.100.20'), 'sign_in_limited');
  });
});
