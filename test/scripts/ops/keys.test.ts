import { expect } from 'chai';
import { OpsWorld } from '../../support/ops-world.ts';

describe('npm run ops: a key', () => {
  let world: OpsWorld;
  before(async () => {
    world = await OpsWorld.open();
  });
  after(() => world.close());

  it('is shown at its creation and never again, and can be revoked', async () => {
    const account = await world.newAccount();
    const made = await world.json(`key create ${account} --name server --scopes send`);

    expect(made.key).to.match(/^hk_live_[0-9a-z]{26}_[0-9a-f]{64}$/);
    const listed = await world.run(`key list ${account} --json`);
    expect(JSON.parse(listed.out)).to.have.length(1);
    expect(listed.out).to.include(String(made.id)).and.not.to.include(String(made.key).split('_').pop());
    await world.json(`key revoke ${made.id}`);
    expect((await world.run(`key list ${account}`)).out).to.include('revoked');
    expect(await world.run(`key update ${made.id} --name other`)).to.deep.equal({
      code: 1,
      out: '',
      err: `${made.id} is revoked for good: create a new key.\n`,
    });
    expect(await world.json(`key show ${made.id}`)).to.include({ name: 'server' });
  });

  it('is replaced by one with the same settings; both work for a while', async () => {
    const account = await world.newAccount();
    const old = await world.json(`key create ${account} --name server --scopes send --per-minute 77`);
    const next = await world.json(`key rotate ${old.id}`);

    expect(next.key).to.match(/^hk_live_/);
    const [first, second] = await world.json(`key list ${account}`);
    const settings = { name: 'server', scopes: ['send'], per_minute: 77, status: 'active' };
    expect(second).to.deep.include({ id: next.id, ...settings });
    expect(first).to.include({ id: old.id, status: 'active', expires_at: next.old_expires_at });
    expect((await world.run(`key rotate ${old.id}`)).err).to.include('create a new key');
    const past = await world.run(`key rotate ${next.id} --old-expires-at 2020-01-01T00:00:00Z`);
    expect(past.err).to.include('is in the past');

    const end = new Date(Date.now() + 7_200_000).toISOString();
    const short = await world.json(`key create ${account} --name server --expires-at ${end}`);
    const told = (id: string, until: string) => `${id} works until ${end}. The new key works until ${until}.`;
    const same = (await world.run(`key rotate ${short.id}`)).out;
    expect(same).to.include(told(short.id, end));
    const [again = '', later] = [same.split('_')[2], new Date(Date.now() + 72_000_000).toISOString()];
    expect((await world.run(`key rotate ${again} --expires-at ${later}`)).out).to.include(told(again, later));
  });

  it('of operators is made new, never out of a key of the account', async () => {
    const account = await world.newAccount();
    const made = await world.json('key create --name console --scopes admin');
    const plain = await world.json(`key create ${account} --name server`);

    expect(made).to.deep.include({ account: null, scopes: ['admin'] });
    const listed: { id: string }[] = await world.json('key list');
    expect(listed.map(({ id }) => id)).to.include(made.id);
    expect((await world.run(`key update ${plain.id} --allow-ip any --per-minute 60`)).out).to.equal(
      `Key ${plain.id} is updated: --per-minute, --allow-ip.\n`,
    );
    expect(await world.run(`key update ${plain.id} --scopes send,admin`)).to.include({ code: 2 });
    expect(await world.run(`key update ${made.id} --name desk --scopes send`)).to.deep.include({
      code: 1,
      err: `${made.id} is a key of operators, whose only scope is admin: leave out --scopes.\n`,
    });
    expect(await world.json(`key show ${made.id}`)).to.deep.include({ name: 'console', scopes: ['admin'] });
    expect(await world.json(`key update ${made.id} --name desk`)).to.deep.include({
      name: 'desk',
      scopes: ['admin'],
    });
    for (const wrong of [`${account} --scopes admin`, '--scopes send', '--scopes admin,read']) {
      expect(await world.run(`key create --name other ${wrong}`), wrong).to.include({ code: 1, out: '' });
    }
  });

  it('that does not exist cannot be revoked', async () => {
    expect(await world.run('key revoke 0000')).to.include({ code: 1 });
  });
});
