import request from 'supertest';
import { makeAccount } from '../../../support/make.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { operatorAtGateway } from '../operators-world.ts';

describe('users of all accounts, by operators', () => {
  const world = operatorAtGateway(10);
  const names = (body: { data: { username: string }[] }) => body.data.map(({ username }) => username);

  it('are listed by account; without one, the operators', async () => {
    const { user } = await signedIn(world.db, 'viewer', world.account);

    expect(names((await world.get(`/users?account_id=${world.account}`)).body)).to.deep.equal([user.username]);
    expect(names((await world.get('/users')).body))
      .to.include(world.operator.user.username)
      .and.not.to.include(user.username);
    expect((await world.get('/users?account_id=nobody')).status).to.equal(400);
  });

  it('are invited to an account, never as operators', async () => {
    const wanted = { username: 'First@Example.com', role: 'owner', account_id: world.account };
    const made = await world.post('/users', wanted);

    expect(made.body).to.include({ username: 'first@example.com', status: 'invited', account_id: world.account });
    expect(made.body.link).to.match(/\/dashboard\/link#/);
    const { account, after } = await world.lastAudit();
    expect(account).to.equal(world.account);
    expect(JSON.stringify(after)).not.to.include(String(made.body.link).split('#')[1]);
    expect((await world.post('/users', wanted)).body.code).to.equal('username_taken');
    for (const wrong of [{ role: 'operator' }, { account_id: undefined }, { account_id: `acc_${'0'.repeat(26)}` }]) {
      expect((await world.post('/users', { ...wanted, username: 'second', ...wrong })).status).to.equal(400);
    }
  });

  it('are disabled and enabled; their sessions end at once', async () => {
    const { user, headers } = await signedIn(world.db, 'developer', world.account);
    const balance = () => request(world.url).get('/v2/balance').set(headers);

    expect((await balance()).status).to.equal(200);
    expect((await world.post(`/users/${user._id}/status`, { status: 'disabled' })).body.status).to.equal('disabled');
    expect((await balance()).status).to.equal(401);
    expect((await world.post(`/users/${user._id}/link`, {})).body.code).to.equal('user_disabled');
    expect(await world.lastAudit()).to.include({ action: 'user.disable', account: world.account });
    expect((await world.post(`/users/${user._id}/status`, { status: 'active' })).status).to.equal(200);
    expect(await world.lastAudit()).to.include({ action: 'user.enable', account: world.account });
  });

  it('are signed out, and get a new link or lose a second factor; operators only by ops', async () => {
    const { user } = await signedIn(world.db, 'owner', await makeAccount(world.db, 0));
    const { user: colleague } = await signedIn(world.db, 'operator');

    expect((await world.delete(`/users/${user._id}/sessions`)).status).to.equal(200);
    expect((await world.delete(`/users/${user._id}/second-factor`)).body.second_factor).to.equal(false);
    expect((await world.post(`/users/${user._id}/link`, {})).body.link).to.match(/#/);
    expect((await world.post(`/users/${colleague._id}/link`, {})).body.code).to.equal('operator_by_ops');
    expect((await world.delete(`/users/${colleague._id}/second-factor`)).body.code).to.equal('operator_by_ops');
    expect((await world.delete(`/users/${colleague._id}/sessions`)).status).to.equal(200);
    expect((await world.delete(`/users/usr_${'0'.repeat(26)}/sessions`)).body.code).to.equal('user_not_found');
  });
});
