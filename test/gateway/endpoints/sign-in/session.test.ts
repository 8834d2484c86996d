import { hash } from '@node-rs/argon2';
import request from 'supertest';
import type { AuditDocument } from '../../../../shared/people/audit.ts';
import type { UserDocument } from '../../../../shared/people/users/user.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { openCountingDb } from '../../../support/counting-db.ts';
import { makeKey, openGateway } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { signedIn } from '../../../support/signed-in.ts';

const OURS = { 'X-Dashboard': '1', 'Sec-Fetch-Site': 'same-origin' };

describe('a session', () => {
  const site = accountAtGateway(10);
  const users = () => site.db.collection<UserDocument>('users');
  const signIn = (body: object) => request(site.url).post('/v2/session').set(OURS).send(body);
  const cookieOf = (answer: request.Response) => answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';

  async function withPassword(password: string): Promise<UserDocument> {
    const { user } = await signedIn(site.db, 'viewer', site.account, {
      user: { password: await hash(password), totp: undefined } as never,
    });
    return user;
  }

  it('begins with name and password, says who it is, and ends by sign-out', async () => {
    const user = await withPassword('a good long one');
    const begun = await signIn({ username: user.username.toUpperCase(), password: 'a good long one' }).expect(200);
    const headers = { ...OURS, Cookie: cookieOf(begun) };
    const me = await request(site.url).get('/v2/session').set(headers).expect(200);

    expect(me.body).to.deep.equal(begun.body);
    expect(me.body).to.deep.include({ scopes: ['read'], missing: [] });
    expect(me.body.user).to.include({ username: user.username, role: 'viewer' });
    expect(me.body.account.account_id).to.equal(site.account);
    await request(site.url).get('/v2/balance').set(headers).expect(200);
    const out = await request(site.url).delete('/v2/session').set(headers).expect(200);
    expect(out.headers['clear-site-data']).to.equal('"cache"');
    expectProblem(await request(site.url).get('/v2/session').set(headers), 'session_ended');
  });

  it('does not begin with a wrong name or password, and both are told alike', async () => {
    const user = await withPassword('a good long one');
    const wrong = await signIn({ username: user.username, password: 'a good long One' });
    const unknown = await signIn({ username: 'nobody@example.com', password: 'a good long one' });

    for (const answer of [wrong, unknown]) {
      expectProblem(answer, 'sign_in_failed');
      expect(answer.headers).not.to.have.property('set-cookie');
    }
    expect({ ...wrong.body, request_id: '' }).to.deep.equal({ ...unknown.body, request_id: '' });
    await users().updateOne({ _id: user._id }, { $set: { status: 'disabled' } });
    expectProblem(await signIn({ username: user.username, password: 'a good long one' }), 'sign_in_failed');
  });

  it('lets a role do what it may, and names the roles that may do the rest', async () => {
    const viewer = await signedIn(site.db, 'viewer', site.account);
    const developer = await signedIn(site.db, 'developer', site.account);
    const optOut = { customer: '919876543210' };
    const refused = await request(site.url).post('/v2/account/opt-outs').set(viewer.headers).send(optOut);

    expectProblem(refused, 'scope_missing');
    expect(refused.body.detail).to.equal('Your role is viewer. That takes the role sender, developer or owner.');
    await request(site.url).post('/v2/account/opt-outs').set(developer.headers).send(optOut).expect(200);
    const [entry] = await site.db.collection<AuditDocument>('audit').find({ account: site.account }).toArray();
    const { _id: id, username: name } = developer.user;
    expect(entry?.actor).to.deep.equal({ kind: 'user', id, name, address: '127.0.0.1' });
  });

  it('follows the user: a new role counts with the next request, and the disabled are out', async () => {
    const { headers, user } = await signedIn(site.db, 'owner', site.account);
    await users().updateOne({ _id: user._id }, { $set: { role: 'viewer' } });
    const send = { to: '919876543210', message: 'x', sender: 'HARKRA' };
    expectProblem(await request(site.url).post('/v2/send').set(headers).send(send), 'scope_missing');
    await request(site.url).get('/v2/balance').set(headers).expect(200);
    await users().updateOne({ _id: user._id }, { $set: { status: 'disabled' } });

    expectProblem(await request(site.url).get('/v2/balance').set(headers), 'session_ended');
  });

  it('of an operator opens nothing of an account, and of an owner nothing before the second factor', async () => {
    const operator = await signedIn(site.db, 'operator');
    expectProblem(await request(site.url).get('/v2/balance').set(operator.headers), 'scope_missing');
    const { headers } = await signedIn(site.db, 'owner', site.account, { session: { factor: undefined } as never });

    expectProblem(await request(site.url).get('/v2/balance').set(headers), 'second_factor_needed');
    const me = await request(site.url).get('/v2/session').set(headers).expect(200);
    expect(me.body).to.deep.include({ scopes: [], missing: ['second_factor'] });
  });

  it('costs requests with a key nothing: no session and no user is read for them', async () => {
    const counting = openCountingDb({ uri: site.storeUri, db: site.db });
    const gateway = await openGateway(counting.db);
    try {
      const { headers } = await signedIn(site.db, 'viewer', site.account);
      const key = { Authorization: `Bearer ${await makeKey(site.db, site.account, ['read'])}` };
      const balance = (sent: Record<string, string>) => request(gateway.url).get('/v2/balance').set(sent).expect(200);
      for (let i = 1; i <= 5; i++) await balance({ ...key, Cookie: headers.Cookie ?? '' });
      expect([counting.sent('find', 'sessions'), counting.sent('find', 'users')]).to.deep.equal([0, 0]);
      await balance({ ...headers });
      expect([counting.sent('find', 'sessions'), counting.sent('find', 'users')]).to.deep.equal([1, 1]);
      expect(counting.sent('update', 'sessions')).to.equal(0);
    } finally {
      await gateway.close();
      await counting.close();
    }
  });

  it('is not looked at when there is a key; and a key has no session', async () => {
    const { headers } = await signedIn(site.db, 'viewer', site.account);
    const key = { Authorization: `Bearer ${await makeKey(site.db, site.account, ['read'])}` };
    await request(site.url)
      .get('/v2/balance')
      .set({ ...headers, ...key })
      .expect(200);

    expectProblem(await request(site.url).get('/v2/session').set(key), 'session_missing');
    const wrong = { ...headers, Authorization: `Bearer hk_live_${newId('key').slice(4)}_${'0'.repeat(64)}` };
    expectProblem(await request(site.url).get('/v2/balance').set(wrong), 'key_invalid');
    expectProblem(await request(site.url).get('/v2/session'), 'session_missing');
  });
});
