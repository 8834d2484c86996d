import { newLink, type UserDocument } from '../../../../shared/people/users/user.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { use } from '../../../support/use.ts';
import { SignInWorld } from './world.ts';

/** Users of several accounts may share a sign-in name, and learn nothing of each other. */
describe('one sign-in name in several accounts', () => {
  const world = use(() => SignInWorld.open());
  let count = 0;
  beforeEach(() => world.forgetFailures());

  /** A user with a password chosen by link; an operator if no account is given. */
  async function user(username: string, password: string, role: 'viewer' | 'operator' = 'viewer') {
    const account = role === 'operator' ? undefined : await makeAccount(world.db, 1);
    const invited = { username, status: 'invited', totp: undefined } as never;
    const made = (await signedIn(world.db, role, account, { now: world.clock.now(), user: invited })).user;
    const { token, link } = newLink({}, world.clock.now());
    await world.db.collection<UserDocument>('users').updateOne({ _id: made._id }, { $set: { link } });
    await world.call('post', '/v2/session/link/password').send({ token, password }).expect(200);
    return made;
  }
  const name = () => `same${++count}@example.com`;
  const whose = async (body: object, from?: string) => {
    const answer = await world.signIn(body, from).expect(200);
    return answer.body.user.user_id;
  };

  it('each signs in with the own password and nothing else, from anywhere; the account may be named', async () => {
    const username = name();
    const [first, second] = [await user(username, 'three green lizards'), await user(username, 'four red lizards')];

    expect(await whose({ username, password: 'three green lizards' }, '198.51.100.1')).to.equal(first._id);
    expect(await whose({ username, password: 'four red lizards' }, '198.51.100.2')).to.equal(second._id);
    const named = { username, account: second.account };
    expect(await whose({ ...named, password: 'four red lizards' })).to.equal(second._id);
    expectProblem(await world.signIn({ ...named, password: 'three green lizards' }), 'sign_in_failed');
    expectProblem(await world.signIn({ username, account: 'acc_x', password: 'x' }), 'invalid_request');
  });

  it('whoever has the same password in several places is asked which one is meant', async () => {
    const username = name();
    const password = 'five blue herons';
    const [first, operator] = [await user(username, password), await user(username, password, 'operator')];

    const asked = await world.signIn({ username, password });
    expectProblem(asked, 'account_needed');
    expect(asked.body.accounts.map((one: { account_id: string }) => one.account_id)).to.deep.equal([
      first.account,
      'operators',
    ]);
    expect(await whose({ username, password, account: first.account })).to.equal(first._id);
    expect(await whose({ username, password, account: 'operators' })).to.equal(operator._id);
  });

  it('all have one salt, so that one hash says of all of them whose password it is', async () => {
    const username = name();
    const made = [await user(username, 'six brown herons'), await user(username, 'seven grey herons')];
    const stored = await Promise.all(made.map(({ _id }) => world.stored(_id)));
    const salts = stored.map(({ password = '' }) => password.split('$')[4]);

    expect(salts[0]).to.have.length(22).and.equal(salts[1]);
    expect((await world.stored((await user(name(), 'six brown herons'))._id)).password?.split('$')[4]).not.to.equal(
      salts[0],
    );
  });

  it('guesses by way of a namesake’s account are guesses: good sign-ins there buy no more of them', async () => {
    const username = name();
    const victim = await user(username, 'eight white owls');
    const attacker = await user(username, 'nine black owls');
    const at = (i: number) => `198.51.101.${i}`;
    for (let i = 1; i <= 5; i++) {
      expectProblem(await world.signIn({ username, password: `a wrong guess ${i}` }, at(i)), 'sign_in_failed');
      expect(await whose({ username, password: 'nine black owls', account: attacker.account }, at(i))).to.be.a(
        'string',
      );
      await world.db.collection('sign_in_failures').deleteMany({ _id: { $regex: '^address' } as never });
      if (i === 4) expect(await whose({ username, password: 'nine black owls' }, at(9))).to.equal(attacker._id);
    }

    // The sixth guess is right but not checked: not even `account_needed` tells.
    const sixth = await world.signIn({ username, password: 'eight white owls' }, at(6));
    expectProblem(sixth, 'sign_in_failed');
    expect(await whose({ username, password: 'nine black owls' }, at(7))).to.equal(attacker._id);
    world.clock.turn(15 * 60_000);
    expect(await whose({ username, password: 'eight white owls' }, at(8))).to.equal(victim._id);
  });

  it('whoever fails learns nothing: the same answers and limits with a namesake and without', async () => {
    const attack = async (username: string) => {
      await user(username, 'ten small wrens');
      const answers: string[] = [];
      for (let i = 1; i <= 8; i++) {
        const answer = await world.signIn({ username, password: 'a wrong guess' }, `198.51.102.${i}`);
        answers.push(`${answer.status} ${answer.body.code} ${answer.body.detail} ${answer.headers['retry-after']}`);
      }
      await world.forgetFailures();
      return answers;
    };
    const [lonely, shared] = [name(), name()];
    await user(shared, 'eleven large wrens');

    expect(await attack(shared)).to.deep.equal(await attack(lonely));
  });
});
