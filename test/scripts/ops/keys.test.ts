import { expect } from 'chai';
import { createKey } from '../../../shared/people/keys/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { isAccountId } from '../../../shared/platform/runtime/ids.ts';
import { OpsWorld } from '../../support/ops-world.ts';
import { use } from '../../support/use.ts';

describe('npm run ops: a key', () => {
  const world = use(() => OpsWorld.open());

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
    const [second, first] = await world.json(`key list ${account}`);
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
    const end = new Date(Date.now() + 30 * 86_400_000).toISOString();
    const bounds = `--expires-at ${end} --allow-ip 203.0.113.7`;
    const made = await world.json(`key create --name console --scopes admin:read,admin:support ${bounds}`);
    const plain = await world.json(`key create ${account} --name server`);

    expect(made).to.deep.include({ account: null, scopes: ['admin:read', 'admin:support'] });
    const listed: { id: string }[] = await world.json('key list');
    expect(listed.map(({ id }) => id)).to.include(made.id);
    expect((await world.run(`key update ${plain.id} --allow-ip any --per-minute 60`)).out).to.equal(
      `Key ${plain.id} is updated: --per-minute, --allow-ip.\n`,
    );
    for (const [of, scopes, says] of [
      [plain.id, 'send,admin:read', 'is a key of an account: give no scope of operators'],
      [made.id, 'send', 'is a key of operators: give scopes of operators'],
    ]) {
      const refused = await world.run(`key update ${of} --name desk --scopes ${scopes}`);
      expect(refused).to.include({ code: 1 });
      expect(refused.err).to.include(says);
    }
    expect(await world.json(`key show ${made.id}`)).to.deep.include({ name: 'console' });
    expect(await world.json(`key update ${made.id} --name desk --scopes admin:read`)).to.deep.include({
      name: 'desk',
      scopes: ['admin:read'],
    });
    for (const wrong of [
      `${account} --scopes admin:read ${bounds}`,
      '--scopes send',
      `--scopes admin:read,read ${bounds}`,
    ]) {
      expect(await world.run(`key create --name other ${wrong}`), wrong).to.include({ code: 1, out: '' });
    }
  });

  it('of operators always has an end, within 400 days, and addresses', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const create = (rest: string) => world.run(`key create --name console --scopes admin:money ${rest}`);

    for (const [rest, says] of [
      ['--allow-ip 203.0.113.7', '--expires-at is missing'],
      [`--allow-ip 203.0.113.7 --expires-at ${inDays(401)}`, '--expires-at may be at most'],
      [`--expires-at ${inDays(30)}`, '--allow-ip is missing'],
      [`--expires-at ${inDays(30)} --allow-ip any`, '--allow-ip is missing'],
      [`--expires-at ${inDays(30)} --allow-ip 0.0.0.0/0`, 'no subnet larger than /8'],
      [`--expires-at ${inDays(30)} --allow-ip 10.0.0.0/8,0.0.0.0/1,128.0.0.0/1`, 'no subnet larger than /8'],
    ] as const) {
      const refused = await create(rest);
      expect(refused).to.include({ code: 1, out: '' });
      expect(refused.err).to.include(says);
    }
    const made = await world.json(
      `key create --name console --scopes admin:money --expires-at ${inDays(399)} --allow-ip 203.0.113.0/24`,
    );
    expect((await world.run(`key update ${made.id} --allow-ip any`)).err).to.include('--allow-ip is missing');
    for (const all of ['0.0.0.0/0', '::/0', '::ffff:0.0.0.0/96', '203.0.113.7,8000::/1']) {
      const refused = await world.run(`key update ${made.id} --allow-ip ${all}`);
      expect(refused.err, all).to.include('no subnet larger than /8');
    }
    expect((await world.run(`key rotate ${made.id} --expires-at ${inDays(500)}`)).err).to.include('may be at most');
    expect(await world.run(`key rotate ${made.id}`)).to.include({ code: 0 });
  });

  it('that made others: they are shown, narrowed with it, never wider, and revoked on demand', async () => {
    const account = await world.newAccount();
    if (!isAccountId(account)) throw new Error(`no account: ${account}`);
    const maker = await world.json(`key create ${account} --name maker --scopes manage,send --per-minute 100`);
    const by = {
      by: { kind: 'key' as const, id: maker.id },
      makers: [maker.id],
      mayStill: async () => true,
    };
    const child = await createKey(world.store.db, systemClock, {
      ...{ account, name: 'child', scopes: ['manage', 'send'], perMinute: 100, maker: by },
    });

    expect(await world.json(`key show ${maker.id}`)).to.deep.include({ descendants: [child.id] });
    expect(await world.json(`key show ${child.id}`)).to.deep.include({ created_by: by.by });
    const wider = await world.run(`key update ${child.id} --per-minute 101 --allow-ip any`);
    expect(wider.err).to.include(`--per-minute would reach farther than ${maker.id}, which made the key`);
    expect(await world.json(`key update ${maker.id} --per-minute 50`)).to.deep.include({ narrowed: [child.id] });
    expect(await world.json(`key show ${child.id}`)).to.include({ per_minute: 50 });
    expect((await world.run(`key revoke ${maker.id}`)).out).to.include(`still work: ${child.id} (child)`);
    expect((await world.run(`key revoke ${maker.id} --descendants`)).out).to.include(child.id);
    expect(await world.json(`key show ${child.id}`)).to.include({ status: 'revoked' });
  });

  it('that does not exist cannot be revoked', async () => {
    expect(await world.run('key revoke 0000')).to.include({ code: 1 });
  });
});
