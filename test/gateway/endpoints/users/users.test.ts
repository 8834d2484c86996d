import type { Db } from 'mongodb';
import request from 'supertest';
import type { UserDocument } from '../../../../shared/people/users/user.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey, openGateway } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { expectProblem } from '../../../support/problem.ts';
import { type Browser, signedIn } from '../../../support/signed-in.ts';
import { useStore } from '../../../support/store.ts';
import { use } from '../../../support/use.ts';

const PATH = '/v2/account/users';

describe('the users of an account', () => {
  const site = accountAtGateway(10);
  let owner: Browser;
  let count = 0;
  beforeEach(async () => {
    owner = await signedIn(site.db, 'owner', site.account);
  });
  const call = (method: 'get' | 'post' | 'patch' | 'delete', path = '', as = owner) =>
    request(site.url)
      [method](PATH + path)
      .set(as.headers);
  const invite = (more: object = {}) =>
    call('post').send({ username: `User${++count}@Example.com`, role: 'developer', ...more });
  const stored = (id: string) => site.db.collection<UserDocument>('users').findOne({ _id: id as UserDocument['_id'] });

  it('are listed whole: a filter is refused, not passed over', async () => {
    expectProblem(await call('get', '?role=owner'), 'invalid_request');
  });

  it('are invited by a link that is shown once, listed, changed and removed', async () => {
    const { body } = await invite({ name: ' Ravi ' }).expect(200);

    expect(body).to.include({
      username: `user${count}@example.com`,
      name: 'Ravi',
      status: 'invited',
      purpose: 'invitation',
    });
    expect(body.link).to.match(/^http:\/\/127\.0\.0\.1:3000\/dashboard\/link#[\w-]{43}$/);
    const { data } = (await call('get').expect(200)).body;
    expect(data.map((user: { role: string }) => user.role)).to.deep.equal(['developer', 'owner']);
    expect(JSON.stringify(data)).not.to.include(body.link.split('#')[1]);
    const changed = await call('patch', `/${body.user_id}`).send({ role: 'sender', name: 'Ravi K' }).expect(200);
    expect(changed.body).to.include({ role: 'sender', name: 'Ravi K' });
    expect((await call('get', `/${body.user_id}`).expect(200)).body).to.deep.equal(changed.body);
    await call('delete', `/${body.user_id}`).expect(200);
    expectProblem(await call('get', `/${body.user_id}`), 'user_not_found');
    const audit = await site.db.collection('audit').find({ account: site.account }).toArray();
    expect(audit.map(({ action }) => action)).to.have.members(['user.invite', 'user.update', 'user.remove']);
    expect(audit[0]?.subject).to.deep.equal({ kind: 'user', id: `user${count}@example.com` });
    const removal = audit.find(({ action }) => action === 'user.remove');
    expect(removal).to.deep.include({ outcome: 'done', after: {} });
  });

  it('come page by page, newest first, and a page costs what it shows', async () => {
    for (let i = 0; i < 4; i++) await invite().expect(200);
    const all = (await call('get').expect(200)).body.data;
    const first = (await call('get', '?limit=2').expect(200)).body;
    const second = (await call('get', `?limit=3&cursor=${first.next_cursor}`).expect(200)).body;

    expect([...first.data, ...second.data]).to.deep.equal(all);
    expect([first.has_more, second.has_more]).to.deep.equal([true, false]);
    expectProblem(await call('get', '?cursor=zzz'), 'invalid_request');
    const left = async (query: string) =>
      Number(/r=(\d+)/.exec(String((await call('get', query)).headers.ratelimit))?.[1]);
    const before = await left('?limit=1');
    expect(before - (await left('?limit=500'))).to.equal(5);
  });

  it('are 200 at most, however many are invited at once', async () => {
    const users = site.db.collection<{ account: string; place: number; username: string }>('users');
    await users.updateOne({ account: site.account }, { $set: { place: 0 } });
    const others = Array.from({ length: 189 }, (_, i) => ({
      account: site.account,
      place: i + 1,
      username: `full${i}`,
    }));
    await users.insertMany(others);

    const answers = await Promise.all(Array.from({ length: 30 }, () => invite()));

    expect(answers.filter(({ status }) => status === 200)).to.have.length(10);
    for (const answer of answers) if (answer.status !== 200) expectProblem(answer, 'too_many_users');
    expect(await users.countDocuments({ account: site.account })).to.equal(200);
    const invited = answers.find(({ status }) => status === 200)?.body.user_id;
    await call('delete', `/${invited}`).expect(200);
    await invite().expect(200);
  });

  it('have sign-in names that nobody else of the account has, whatever the case; other accounts are not asked', async () => {
    const elsewhere = await signedIn(site.db, 'owner', await makeAccount(site.db, 1));
    await invite({ username: `same${count}@example.com` }).expect(200);
    expectProblem(await invite({ username: `SAME${count - 1}@example.com` }), 'username_taken');
    await call('post', '', elsewhere).send({ username: elsewhere.user.username, role: 'viewer' }).expect(409);
    await invite({ username: elsewhere.user.username }).expect(200);
    for (const username of ['x', 'a b', 'x<b>@example.com', 'a\u0000b', 'x'.repeat(255)]) {
      expectProblem(await invite({ username }), 'invalid_request');
    }
  });

  it('are invited once by an Idempotency-Key, whose answer has the link again', async () => {
    const body = { username: `idem${owner.user._id}@example.com`, role: 'viewer' };
    const once = () => call('post').set('Idempotency-Key', `key-${owner.user._id}`).send(body);
    const first = await once().expect(200);
    const again = await once().expect(200);

    expect(again.body).to.deep.equal(first.body);
    expect(JSON.stringify(await site.db.collection('idempotency').find().toArray())).not.to.include(first.body.link);
  });

  it('get a new link, which ends the one before; the disabled get none', async () => {
    const { body } = await invite().expect(200);
    const look = (link: string) => {
      const [, token = ''] = link.split('#');
      return request(site.url).post('/v2/session/link').set(owner.headers).send({ token });
    };
    await look(body.link).expect(200);
    const renewed = await call('post', `/${body.user_id}/link`).expect(200);
    expectProblem(await look(body.link), 'link_invalid');
    await look(renewed.body.link).expect(200);
    await call('patch', `/${body.user_id}`).send({ status: 'disabled' }).expect(200);
    expectProblem(await look(renewed.body.link), 'link_invalid');
    const links = () => site.db.collection('audit').find({ account: site.account, action: 'user.link' }).toArray();
    const [entry] = await links();
    expectProblem(await call('post', `/${body.user_id}/link`), 'user_disabled');
    expect(await links()).to.deep.equal([entry]);
    const enabled = await call('patch', `/${body.user_id}`).send({ status: 'active' }).expect(200);
    expect(enabled.body.status).to.equal('invited');
  });

  it('leave each role that they had in the audit, also when it was given and taken back at once', async () => {
    const { body } = await invite({ role: 'viewer' }).expect(200);
    for (const role of ['owner', 'viewer', 'developer', 'viewer', 'owner', 'viewer']) {
      await call('patch', `/${body.user_id}`).send({ role }).expect(200);
    }

    const audit = site.db.collection('audit').find({ 'subject.id': body.username, action: 'user.update' });
    const states = (await audit.toArray()).map(({ before, after, times }) => [before.role, after.role, times]);
    expect(states).to.have.deep.members([
      ['viewer', 'owner', 2],
      ['owner', 'viewer', 3],
      ['viewer', 'developer', 1],
    ]);
  });

  it('always have an owner who can sign in', async () => {
    const path = `/${owner.user._id}`;
    const invited = await invite({ role: 'owner' }).expect(200);
    for (const change of [{ role: 'viewer' }, { status: 'disabled' }]) {
      expectProblem(await call('patch', path).send(change), 'last_owner');
    }
    expectProblem(await call('delete', path), 'last_owner');
    await call('delete', `/${invited.body.user_id}`).expect(200);
    const second = await signedIn(site.db, 'owner', site.account);
    await call('patch', path).send({ role: 'viewer' }).expect(200);
    expectProblem(await call('get'), 'scope_missing');
    expectProblem(await call('delete', `/${second.user._id}`, second), 'last_owner');
  });

  it('cannot use the list to get around the password: one’s own link and app are in the profile', async () => {
    const before = await stored(owner.user._id);
    for (const [method, path] of [
      ['post', '/link'],
      ['delete', '/second-factor'],
    ] as const) {
      expectProblem(await call(method, `/${owner.user._id}${path}`), 'own_user');
    }
    expect(await stored(owner.user._id)).to.deep.equal(before);
  });

  it('keep an owner also when two remove each other at once', async () => {
    const second = await signedIn(site.db, 'owner', site.account);
    for (let i = 0; i < 5; i++) {
      await Promise.all([
        call('patch', `/${second.user._id}`, owner).send({ role: 'developer' }),
        call('patch', `/${owner.user._id}`, second).send({ role: 'developer' }),
      ]);
      const left = await site.db
        .collection<UserDocument>('users')
        .countDocuments({ account: site.account, role: 'owner' });
      expect(left).to.be.at.least(1);
      for (const { user } of [owner, second]) {
        await site.db.collection<UserDocument>('users').replaceOne({ _id: user._id }, user, { upsert: true });
      }
    }
  });

  it('who made keys is not kept out, demoted or removed before somebody says what becomes of these', async () => {
    const keysPath = '/v2/account/keys';
    const asked = { name: 'server', scopes: ['send', 'manage'] };
    for (const [act, choose] of [
      [(path: string) => call('patch', path).send({ status: 'disabled' }), { status: 'disabled' }],
      [(path: string) => call('patch', path).send({ role: 'viewer' }), { role: 'viewer' }],
      [(path: string) => call('delete', path), undefined],
    ] as const) {
      const developer = await signedIn(site.db, 'developer', site.account);
      const path = `/${developer.user._id}`;
      const made = await request(site.url).post(keysPath).set(developer.headers).send(asked).expect(200);
      const theirs = await request(site.url)
        .post(keysPath)
        .set({ Authorization: `Bearer ${made.body.key}` })
        .send({ ...asked, name: 'till' })
        .expect(200);
      const ids = [made.body.key_id, theirs.body.key_id];

      const question = await act(path);
      expectProblem(question, 'user_has_keys');
      for (const id of ids) expect(question.body.detail).to.include(id);
      expect(await stored(developer.user._id)).to.deep.include({ role: 'developer', status: 'active' });
      const settled =
        choose === undefined
          ? await call('delete', `${path}?keys=revoke`).expect(200)
          : await call('patch', path)
              .send({ ...choose, keys: 'keep' })
              .expect(200);

      const state = choose === undefined ? 'revoked' : 'active';
      expect(settled.body.keys.map((one: { state: string }) => one.state)).to.deep.equal([state, state]);
      expect(settled.body.keys.map((one: { key_id: string }) => one.key_id)).to.deep.equal(ids);
    }
  });

  it('are of one account: another’s are not there; and no key gets at them', async () => {
    const elsewhere = await makeAccount(site.db, 0);
    const stranger = await signedIn(site.db, 'owner', elsewhere);
    for (const [method, path] of [
      ['get', ''],
      ['patch', ''],
      ['delete', ''],
      ['post', '/link'],
      ['delete', '/second-factor'],
      ['delete', '/sessions'],
    ] as const) {
      const asked = call(method, `/${owner.user._id}${path}`, stranger);
      expectProblem(await (method === 'patch' ? asked.send({ role: 'viewer' }) : asked), 'user_not_found');
    }
    expect(await stored(owner.user._id)).to.deep.include({ role: 'owner', epoch: 1 });
    const key = await makeKey(site.db, site.account, ['send', 'read', 'otp', 'manage']);
    const refused = await request(site.url).get(PATH).set('Authorization', `Bearer ${key}`);
    expectProblem(refused, 'scope_missing');
    expect(refused.body.detail).to.equal('No key may do that. Sign in to the dashboard as an owner.');
  });
});

describe('two owners who remove each other at the same moment', () => {
  const store = useStore();
  const gateway = use(() => openGateway(withMeanwhile(store.db)));
  let one: Browser;
  let two: Browser;
  /** Runs once, after the first look and before the change. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  beforeEach(async () => {
    const account = await makeAccount(store.db, 0);
    one = await signedIn(store.db, 'owner', account);
    two = await signedIn(store.db, 'owner', account);
    meanwhile = async () => {
      await users().updateOne({ _id: one.user._id }, { $set: { role: 'viewer' } });
      await users().updateOne({ _id: two.user._id }, { $set: { password: 'a new one' } });
    };
  });

  const users = () => store.db.collection<UserDocument>('users');

  for (const [change, how] of [
    ['removed', (path: string) => request(gateway.url).delete(path)],
    ['made a viewer', (path: string) => request(gateway.url).patch(path).send({ role: 'viewer', name: 'Ravi' })],
    ['disabled', (path: string) => request(gateway.url).patch(path).send({ status: 'disabled' })],
  ] as const) {
    it(`one who was ${change} stays an owner, with a password that was new; the audit says nothing`, async () => {
      expectProblem(await how(`/v2/account/users/${two.user._id}`).set(one.headers), 'last_owner');

      const { epoch: _, ...left } = (await users().findOne({ _id: two.user._id })) ?? {};
      const { epoch: __, ...was } = two.user;
      expect(left).to.deep.equal({ ...was, password: 'a new one' });
      expect(await store.db.collection('audit').find({ 'subject.id': two.user.username }).toArray()).to.deep.equal([]);
    });
  }

  /** A store in which `meanwhile` runs just before the second owner is changed. */
  function withMeanwhile(db: Db): Db {
    const changing = (target: object): object =>
      new Proxy(target, {
        get(of, name) {
          const value = Reflect.get(of, name) as unknown;
          if (typeof value !== 'function') return value;
          if (!/^(findOneAnd|update|delete)/.test(String(name))) return value.bind(of) as unknown;
          return async (filter: { readonly _id?: unknown }, ...rest: unknown[]) => {
            const now = filter._id === two.user._id ? meanwhile : undefined;
            if (now !== undefined) meanwhile = undefined;
            await now?.();
            return value.call(of, filter, ...rest) as unknown;
          };
        },
      });
    return new Proxy(db, {
      get(of, name) {
        const value = Reflect.get(of, name) as unknown;
        if (typeof value !== 'function') return value;
        if (name !== 'collection') return value.bind(of) as unknown;
        return (wanted: string) => (wanted === 'users' ? changing(of.collection(wanted)) : of.collection(wanted));
      },
    });
  }
});
