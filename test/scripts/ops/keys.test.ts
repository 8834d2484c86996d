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
    expect((await world.run(`key update ${made.id} --name other`)).err).to.match(/^Not done: /);
    expect(await world.json(`key show ${made.id}`)).to.include({ name: 'server', state: 'revoked' });
  });

  it('may do more than an account may give, and is changed only within what a key may have', async () => {
    const account = await world.newAccount();
    const made = await world.json(`key create ${account} --name server --per-minute 5000 --allow-ip 203.0.113.7`);
    expect(made).to.deep.include({ per_minute: 5000, allowed_ips: ['203.0.113.7'], created_by: null });
    expect(await world.json(`key update ${made.id} --allow-ip any --per-minute 60`)).to.deep.include({
      allowed_ips: null,
      per_minute: 60,
    });
    expect((await world.run(`key update ${made.id} --scopes admin:read`)).err).to.match(/^--scopes/);
    expect((await world.run(`key create ${account} --name ci --test --scopes manage`)).err).to.match(/^--scopes/);
    expect(await world.json(`key create ${account} --name ci --test`)).to.include({ test: true, per_minute: 100 });
  });

  it('is replaced by one with the same settings; both work for a while', async () => {
    const account = await world.newAccount();
    const old = await world.json(`key create ${account} --name server --scopes send --per-minute 77`);
    const next = await world.json(`key rotate ${old.id}`);

    expect(next.key).to.match(/^hk_live_/);
    const [second, first] = await world.json(`key list ${account}`);
    expect(second).to.deep.include({
      ...{ id: next.id, name: 'server', scopes: ['send'], per_minute: 77, state: 'active', rotated_from: old.id },
    });
    expect(first).to.include({ id: old.id, state: 'active', rotated_to: next.id });
    expect(Date.parse(first.expires_at) - Date.now()).to.be.within(86_300_000, 86_400_000);
    expect((await world.run(`key rotate ${old.id}`)).err).to.include('replaces this one already');
    const past = await world.run(`key rotate ${next.id} --old-expires-at 2020-01-01T00:00:00Z`);
    expect(past.err).to.match(/^--old-expires-at/);
  });

  it('of operators always has an end, within 400 days, and addresses, and is none of an account', async () => {
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
    const create = (rest: string) => world.run(`operator-key create --name console ${rest}`);
    const good = `--scopes admin:read,admin:support --expires-at ${inDays(399)} --allow-ip 203.0.113.0/24`;

    for (const [rest, says] of [
      ['--scopes admin:money --allow-ip 203.0.113.7', '--expires-at is missing'],
      [`--scopes admin:money --allow-ip 203.0.113.7 --expires-at ${inDays(401)}`, '--expires-at may be at most'],
      [`--scopes admin:money --allow-ip 203.0.113.7 --expires-at ${inDays(-1)}`, 'is in the past'],
      [`--scopes admin:money --expires-at ${inDays(30)}`, '--allow-ip is missing'],
      ...['any', '0.0.0.0/0', '::/0', '::ffff:0.0.0.0/96', '203.0.113.7,8000::/1', '10.0.0.0/8,0.0.0.0/1'].map(
        (all) =>
          [`--scopes admin:money --expires-at ${inDays(30)} --allow-ip ${all}`, 'no subnet larger than /8'] as const,
      ),
      [good.replace('admin:read', 'read'), '--scopes must be'],
    ] as const) {
      const refused = await create(rest);
      expect(refused.code, rest).to.be.above(0);
      expect(refused.err).to.include(says);
    }
    const made = await world.json(`operator-key create --name console ${good}`);
    const [listed] = await world.json('operator-key list');
    expect(listed).to.deep.include({ id: made.id, scopes: ['admin:read', 'admin:support'], status: 'active' });
    expect((await world.run(`key update ${made.id} --name desk`)).err).to.include('is a key of operators');
    await world.json(`operator-key revoke ${made.id}`);
    expect((await world.run('operator-key list')).out).to.match(new RegExp(`^${made.id} +revoked +admin:read`, 'm'));
    const account = await world.newAccount();
    const { id } = await world.json(`key create ${account} --name server`);
    expect((await world.run(`operator-key revoke ${id}`)).err).to.include(`There is no key ${id} of operators`);
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

    const { descendants } = await world.json(`key show ${maker.id}`);
    expect(descendants).to.deep.equal([{ key_id: child.id, name: 'child', state: 'active' }]);
    expect((await world.json(`key show ${child.id}`)).created_by).to.include(by.by);
    const wider = await world.run(`key update ${child.id} --per-minute 101`);
    expect(wider.err).to.include(`--per-minute: It reaches farther than ${maker.id}, which made it`);
    await world.json(`key update ${maker.id} --per-minute 50`);
    expect(await world.json(`key show ${child.id}`)).to.include({ per_minute: 50 });
    expect((await world.run(`key revoke ${maker.id}`)).out).to.include(
      `${child.id} (child, active). With --descendants`,
    );
    expect((await world.run(`key revoke ${maker.id} --descendants revoke`)).out).to.include(
      `${child.id} (child, revoked).`,
    );
    expect(await world.json(`key show ${child.id}`)).to.include({ state: 'revoked' });
  });

  it('that does not exist cannot be revoked', async () => {
    expect(await world.run('key revoke 0000')).to.include({ code: 1 });
  });
});
