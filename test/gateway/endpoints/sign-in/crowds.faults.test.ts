import request from 'supertest';
import { openGateway, TEST_CONFIG, type TestGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { type Browser, signedIn } from '../../../support/signed-in.ts';
import { use } from '../../../support/use.ts';
import { OURS, PASSWORD, SignInWorld } from './world.ts';

/** Nobody can deny sign-in to others, with or without an account. */
describe('sign-in while somebody floods it', () => {
  const world = use(() => SignInWorld.open());
  beforeEach(() => world.forgetFailures());

  async function tenant(): Promise<Browser['user']> {
    const account = await makeAccount(world.db, 10);
    const { password } = (await world.user('viewer')).user;
    const own = { password, totp: undefined } as never;
    return (await signedIn(world.db, 'viewer', account, { now: world.clock.now(), user: own })).user;
  }

  /** Runs `attack`, `atOnce` times in parallel, until the victim has signed in 20 times. Returns its answers. */
  async function during(attack: (i: number) => Promise<unknown>, atOnce: number, victim: () => Promise<number>) {
    let over = false;
    let sent = 0;
    const crowd = Array.from({ length: atOnce }, async () => {
      while (!over) await attack(sent++);
    });
    const answers: number[] = [];
    for (let i = 0; i < 20; i++) answers.push(await victim());
    over = true;
    await Promise.all(crowd);
    expect(sent).to.be.above(20);
    return answers;
  }

  /** More than an account's limit for a minute. */
  async function upToTheLimit(attack: (i: number) => Promise<unknown>): Promise<void> {
    for (let i = 0; i < 15; i++) await Promise.all(Array.from({ length: 16 }, (_, j) => attack(i * 16 + j)));
  }

  const ALL = Array.from({ length: 20 }, () => 200);
  const signIn = (username: string, from: string, password = PASSWORD) => world.signIn({ username, password }, from);

  it('with good sign-ins of an own account, 16 at once, from one network', async () => {
    const [attacker, victim] = [await tenant(), await tenant()];
    const attack = () => signIn(attacker.username, '198.51.100.1');

    const answers = await during(attack, 16, async () => (await signIn(victim.username, '203.0.113.1')).status);

    expect(answers).to.deep.equal(ALL);
    const sessions = await world.db.collection('sessions').countDocuments({ user: attacker._id });
    expect(sessions).to.be.at.most(20);
  });

  it('from the victim’s own network too, once the victim has been there', async () => {
    const [attacker, victim] = [await tenant(), await tenant()];
    const [here, home] = ['198.51.100.20', '198.51.100.20'];
    await signIn(victim.username, home).expect(200);
    const attack = (i: number) =>
      i % 2 === 0 ? signIn(attacker.username, here) : signIn(`nobody${i}@example.com`, here, 'a wrong guess');

    const answers = await during(attack, 16, async () => (await signIn(victim.username, home)).status);

    expect(answers).to.deep.equal(ALL);
  });

  it('without any account, from hundreds of networks, at the victim’s name and at names that nobody has', async () => {
    const victim = await tenant();
    await signIn(victim.username, '203.0.113.3').expect(200);
    const attack = (i: number) =>
      signIn(i % 2 === 0 ? victim.username : `nobody${i}@example.com`, `10.9.${i % 250}.${(i >> 8) % 250}`, 'a guess');

    const answers = await during(attack, 16, async () => (await signIn(victim.username, '203.0.113.3')).status);

    expect(answers).to.deep.equal(ALL);
  });

  it('a colleague who signs in for the first time, from the network of the account', async () => {
    const victim = await tenant();
    await signIn(victim.username, '203.0.113.4').expect(200);
    const { password } = victim;
    const own = { password, totp: undefined } as never;
    const colleague = (await signedIn(world.db, 'viewer', victim.account, { now: world.clock.now(), user: own })).user;
    const attack = (i: number) => signIn(`nobody${i}@example.com`, `10.8.${i % 250}.${(i >> 8) % 250}`, 'a guess');

    const answers = await during(attack, 16, async () => (await signIn(colleague.username, '203.0.113.4')).status);

    expect(answers).to.deep.equal(ALL);
  });

  it('with names of the account, from one network where a colleague has signed in', async () => {
    const victim = await tenant();
    await signIn(victim.username, '203.0.113.6').expect(200);
    const own = { password: victim.password, totp: undefined } as never;
    const names: string[] = [];
    for (let i = 0; i < 4; i++) {
      const user = { now: world.clock.now(), user: own };
      names.push((await signedIn(world.db, 'viewer', victim.account, user)).user.username);
    }
    await signIn(names[0] ?? '', '198.51.100.60').expect(200);
    const attack = (i: number) => signIn(names[i % 4] ?? '', '198.51.100.60', 'a guess');
    await upToTheLimit(attack);

    for (let i = 0; i < 20; i++) await signIn(victim.username, '203.0.113.6').expect(200);
  });

  it('a stolen session, from many networks: its own user waits, colleagues do not', async () => {
    const victim = await tenant();
    await signIn(victim.username, '203.0.113.8').expect(200);
    const own = { password: victim.password, totp: undefined } as never;
    const changed = { now: world.clock.now(), user: own };
    const { headers } = await signedIn(world.db, 'viewer', victim.account, changed);
    const attack = (i: number) =>
      world
        .call('post', '/v2/session/confirm', { ...headers, 'X-Forwarded-For': `10.7.${i % 250}.${(i >> 8) % 250}` })
        .send({ password: PASSWORD });
    await upToTheLimit(attack);

    for (let i = 0; i < 20; i++) await signIn(victim.username, '203.0.113.8').expect(200);
  });

  it('with hashes of many sessions of one account: their owners wait, others do not', async () => {
    const [attacker, victim] = [await tenant(), await tenant()];
    const browsers: Record<string, string>[] = [];
    for (let i = 0; i < 10; i++) {
      const { headers } = await signIn(attacker.username, '198.51.100.5').expect(200);
      browsers.push({ ...OURS, Cookie: String(headers['set-cookie']).split(';')[0] ?? '' });
    }
    const change = { current_password: PASSWORD, password: 'password1' }; // Refused after the hash.
    const attack = (i: number) =>
      world
        .call('post', '/v2/profile/password', browsers[i % 10])
        .set('X-Forwarded-For', '198.51.100.5')
        .send(change);

    const answers = await during(attack, 16, async () => (await signIn(victim.username, '203.0.113.5')).status);

    expect(answers).to.deep.equal(ALL);
  });

  it('every attempt counts, good ones too: 60 a minute of a user, of a network, over all gateways', async () => {
    const other: TestGateway = await openGateway(world.db, {
      clock: world.clock,
      config: { ...TEST_CONFIG, trustProxy: ['127.0.0.0/8'], keyCacheMs: 0 },
    });
    try {
      const user = await tenant();
      const counted = async (from: string, username: string) => {
        const statuses: number[] = [];
        for (let i = 0; i < 64; i++) {
          const url = i % 2 === 0 ? world.gateway.url : other.url;
          const answer = await request(url)
            .post('/v2/session')
            .set({ ...OURS, 'X-Forwarded-For': from })
            .send({ username, password: PASSWORD });
          if (answer.status === 429) expectProblem(answer, 'sign_in_limited');
          statuses.push(answer.status);
        }
        return statuses.filter((status) => status === 200).length;
      };
      // The first comes from an unknown network, and counts for that.
      expect(await counted('198.51.100.30', user.username)).to.equal(61);
    } finally {
      await other.close();
    }
  });
});
