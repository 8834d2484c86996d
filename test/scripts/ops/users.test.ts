import { createKey } from '../../../shared/people/keys/store.ts';
import { findUserByLink } from '../../../shared/people/users/store.ts';
import { hashToken } from '../../../shared/people/users/user.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { isAccountId } from '../../../shared/platform/runtime/ids.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';

describe('npm run ops: users', () => {
  const world = use(() => OpsWorld.open({ HARKARA_PUBLIC_URL: 'https://sms.example.com' }));
  let account: string;
  before(async () => {
    account = await world.newAccount();
  });
  const whose = async (link: string) => {
    const [, token = ''] = link.split('#');
    return (await findUserByLink(world.store.db, hashToken(token), new Date()))?.username;
  };
  const list = () => world.json(`user list --account ${account}`);

  it('are invited, given a role, kept out and let in, and removed', async () => {
    const made = await world.json(`user invite Asha@Example.com --account ${account} --role owner --name Asha`);

    expect(made.link).to.match(/^https:\/\/sms\.example\.com\/dashboard\/link#[\w-]{43}$/);
    expect(await whose(made.link)).to.equal('asha@example.com');
    expect((await list())[0]).to.include({ username: 'asha@example.com', role: 'owner', status: 'invited' });
    await world.json('user role asha@example.com viewer');
    await world.json('user disable asha@example.com');
    expect((await list())[0]).to.include({ role: 'viewer', status: 'disabled' });
    expect(await whose(made.link)).to.equal(undefined);
    expect((await world.run('user reset asha@example.com')).err).to.match(/^Not done: Let the user in again first/);
    await world.json('user enable asha@example.com');
    const again = await world.json('user reset asha@example.com');
    expect(await whose(again.link)).to.equal('asha@example.com');
    await world.json('user remove asha@example.com');
    expect(await list()).to.deep.equal([]);
    expect((await world.run('user reset asha@example.com')).err).to.include(
      'Nobody signs in as asha@example.com: `user list --account acc_…` shows who does, and `user list` the operators.',
    );
  });

  it('operators belong to no account', async () => {
    await world.json('user invite-operator root@example.com');

    expect((await world.json('user list'))[0]).to.include({
      username: 'root@example.com',
      role: 'operator',
    });
    expect((await world.run('user role root@example.com owner')).err).to.include('is an operator');
    expect((await world.run('user invite-operator root@example.com')).err).to.include(
      'An operator signs in as root@example.com already: `user reset root@example.com --operator` makes a new link.',
    );
    expect((await world.json('user reset root@example.com --second-factor')).link).to.include('/dashboard/link#');
    for (const wrong of [
      `x@example.com --account ${account}`,
      'x@example.com',
      `x@example.com --account ${account} --role operator`,
    ]) {
      expect(await world.run(`user invite ${wrong}`)).to.include({ code: 2 });
    }
    expect(await world.run('user invite-operator x@example.com --role owner')).to.include({ code: 2 });
  });

  it('one name in several places: a command says which ones there are, and acts where it is told', async () => {
    const other = await world.newAccount();
    const invite = (where: string) => world.json(`user invite twice@example.com ${where}`);
    await invite(`--account ${account} --role viewer`);
    await world.json('user invite-operator twice@example.com');
    await invite(`--account ${other} --role viewer`);
    const invited = await world.store.db
      .collection('audit')
      .findOne({ action: 'user.invite-operator', 'subject.id': 'twice@example.com' });
    expect(invited).not.to.have.any.keys('account', 'before');
    expect(invited?.after).to.include({ username: 'twice@example.com', role: 'operator' });

    expect((await world.run('user disable twice@example.com')).err).to.include(
      `Several users sign in as twice@example.com. Say which one: --account ${account}, or --operator, or --account ${other}.`,
    );
    await world.json(`user disable twice@example.com --account ${other}`);
    await world.json('user remove twice@example.com --operator');
    expect((await world.json(`user list --account ${other}`))[0]).to.include({ status: 'disabled' });
    const [mine] = (await list()).filter((one: { username: string }) => one.username === 'twice@example.com');
    expect(mine).to.include({ status: 'invited' });
    const entry = await world.store.db.collection('audit').findOne({ action: 'user.disable', account: other });
    expect(entry).to.deep.include({ outcome: 'done' });
  });

  it('operators may look only, or support only; another role is one of these', async () => {
    await world.json('user invite-operator desk@example.com --role operator_viewer');
    expect((await world.run('user role desk@example.com viewer')).err).to.include('the role is one of operator');
    await world.json('user role desk@example.com operator_support');

    const found: { username: string; role: string }[] = await world.json('user list');
    expect(found.find(({ username }) => username === 'desk@example.com')?.role).to.equal('operator_support');
    expect(await world.run(`user invite y@example.com --account ${account} --role operator_viewer`)).to.include({
      code: 2,
    });
  });

  it('who made keys: it is asked what becomes of these', async () => {
    if (!isAccountId(account)) throw new Error(`no account: ${account}`);
    const { user } = await signedIn(world.store.db, 'developer', account);
    const by = { kind: 'user' as const, id: user._id, name: user.username };
    const maker = { by, makers: [user._id], mayStill: async () => true };
    const settings = { account, name: 'server', scopes: ['send'] as const, maker };
    const { id } = await createKey(world.store.db, systemClock, settings);

    for (const command of [`disable ${user.username}`, `remove ${user.username}`, `role ${user.username} viewer`]) {
      const refused = await world.run(`user ${command}`);
      expect(refused).to.include({ code: 1, out: '' });
      expect(refused.err).to.include(`${id} (server)`).and.include('`keys`');
    }
    expect((await world.run(`user disable ${user.username} --keys keep`)).out).to.include(`${id} (server, active)`);
    expect(await world.json(`user remove ${user.username} --keys revoke`)).to.deep.include({
      keys: [{ key_id: id, name: 'server', state: 'revoked' }],
    });
    expect(await world.json(`key show ${id}`)).to.include({ state: 'revoked' });
  });

  it('a lost second factor is removed, and sessions are ended', async () => {
    const { user } = await signedIn(world.store.db, 'owner', account as `acc_${string}`);
    expect((await list())[0]).to.include({ second_factor: true });
    await world.json(`user reset ${user.username} --second-factor`);
    expect((await list())[0]).to.include({ second_factor: false });
    const entry = await world.store.db
      .collection('audit')
      .findOne({ action: 'user.remove-second-factor', 'subject.id': user.username });
    expect(entry).to.deep.include({ outcome: 'done', account });
    expect((await world.json(`user sessions ${user.username}`)).username).to.equal(user.username);
  });
});
