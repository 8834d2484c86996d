import { beginEntry, completeEntry, type Intended } from '../../../../shared/people/audit.ts';
import { createKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { settingsWorld } from '../settings-world.ts';

const PATH = '/v2/account/audit';

describe("the account's view of its audit", () => {
  const { site, ask, keyWith, roleOf } = settingsWorld();

  async function entry(intended: Partial<Intended>, account: AccountId = site.account, now = new Date()) {
    const id = newId('aud', now.getTime());
    const what = { actor: { kind: 'ops', id: 'asha@vm-1', address: '10.1.2.3' }, action: 'account.update' } as const;
    const subject = { kind: 'account', id: account };
    await beginEntry(site.db, id, { ...what, subject, account, ...intended }, { now, keptDays: 1 });
    await completeEntry(site.db, id, { outcome: 'done', after: { name: 'New' } });
    return id;
  }
  const idsOf = async (query = '', headers?: Record<string, string>): Promise<string[]> => {
    const { body } = await ask('get', `${PATH}${query}`, undefined, headers).expect(200);
    return body.data.map(({ audit_id }: { audit_id: string }) => audit_id);
  };

  it('shows who, from where, what, before and after; of an operator only that it was one', async () => {
    await entry({ before: { name: 'Old' } });
    const { body: key } = await ask('post', '/v2/account/keys', { name: 'till', scopes: ['read'] }).expect(200);

    const { data } = (await ask('get', PATH).expect(200)).body;

    const [made] = data.filter(({ action }: { action: string }) => action === 'key.create');
    expect(made).to.deep.include({ subject: { kind: 'key', id: key.key_id }, outcome: 'done', before: null });
    expect(made.actor).to.include({ kind: 'key', name: 'test', address: '127.0.0.1' });
    expect(made.after).to.include({ name: 'till' });
    const [ops] = data.filter(({ action }: { action: string }) => action === 'account.update');
    expect(ops).to.deep.include({ before: { name: 'Old' }, after: { name: 'New' } });
    expect(ops.actor).to.deep.equal({ kind: 'ops', id: null, name: null, address: null });
    expect(JSON.stringify(data)).not.to.include(key.key.split('_')[3]).and.not.to.include('vm-1');
  });

  it('of an operator on the dashboard or with a key it says no more', async () => {
    const { db, account } = site;
    const operator = (await signedIn(db, 'operator')).headers;
    const { key } = await createKey(db, systemClock, { name: 'console', scopes: ['admin:support'] });
    const program = { Authorization: `Bearer ${key}` };
    await ask('patch', `/v2/admin/accounts/${account}`, { name: 'Renamed' }, operator).expect(200);
    await ask('patch', `/v2/admin/accounts/${account}`, { name: 'Again' }, program).expect(200);

    const { data } = (await ask('get', `${PATH}?actor=ops`).expect(200)).body;

    expect(data.map(({ action }: { action: string }) => action)).to.deep.equal(['account.update', 'account.update']);
    for (const { actor } of data) expect(actor).to.deep.equal({ kind: 'ops', id: null, name: null, address: null });
    expect(await idsOf('?actor=user')).to.deep.equal([]);
    expect(await idsOf('?actor=key')).to.deep.equal([]);
  });

  it('shows nothing of other accounts, of keys for operators, or of what is the operator’s own', async () => {
    const mine = await entry({});
    const stranger = await makeAccount(site.db, 1);
    await entry({}, stranger);
    await entry({ subject: { kind: 'key', id: 'k' }, before: { scopes: ['admin:support'] } });
    await entry({ subject: { kind: 'chain', id: 'c' }, action: 'chain.add' });

    expect(await idsOf()).to.deep.equal([mine]);
    expect(await idsOf(`?subject=account:${stranger}`)).to.deep.equal([]);
  });

  it('filters by who, what and when, in pages', async () => {
    const hours = (ago: number) => new Date(Date.now() - ago * 3_600_000);
    const user = { kind: 'user', id: 'usr_1', name: 'Asha' } as const;
    const old = await entry({ actor: user }, site.account, hours(5));
    const middle = await entry({ subject: { kind: 'sender', id: 'HARKRA' } }, site.account, hours(3));
    const newest = await entry({ actor: { kind: 'key', id: 'k1' } }, site.account, hours(1));

    expect(await idsOf()).to.deep.equal([newest, middle, old]);
    expect(await idsOf('?actor=user')).to.deep.equal([old]);
    expect(await idsOf('?actor=key:k1')).to.deep.equal([newest]);
    expect(await idsOf('?actor=key:k2')).to.deep.equal([]);
    expect(await idsOf('?subject=sender:HARKRA')).to.deep.equal([middle]);
    const [since, until] = [hours(4), hours(2)].map((at) => at.toISOString());
    expect(await idsOf(`?since=${since}&until=${until}`)).to.deep.equal([middle]);
    const { body } = await ask('get', `${PATH}?limit=2`).expect(200);
    expect(await idsOf(`?limit=2&cursor=${body.next_cursor}`)).to.deep.equal([old]);
    for (const wrong of ['actor=root', 'actor=ops:asha', 'subject=carrier:x', 'since=x', 'cursor=x', 'who=x']) {
      expectProblem(await ask('get', `${PATH}?${wrong}`), 'invalid_request');
    }
  });

  it('is for who may change settings', async () => {
    expectProblem(await ask('get', PATH, undefined, await keyWith(['send', 'read', 'otp'])), 'scope_missing');
    for (const role of ['viewer', 'sender'] as const) {
      expectProblem(await ask('get', PATH, undefined, await roleOf(role)), 'scope_missing');
    }
    await ask('get', PATH, undefined, await roleOf('developer')).expect(200);
  });
});
