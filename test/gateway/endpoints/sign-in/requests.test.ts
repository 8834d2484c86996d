import { createHash } from 'node:crypto';
import type { Db } from 'mongodb';
import { SETTINGS } from '../../../../shared/platform/config/settings.ts';
import { openStream } from '../../../support/event-stream.ts';
import { operations } from '../../../support/openapi.ts';
import { makeOwnThings, pathOf } from '../../../support/own-things.ts';
import { expectProblem } from '../../../support/problem.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { use } from '../../../support/use.ts';
import { cookieOf, cookiesOf, OURS, PASSWORD, SignInWorld, withCookie } from './world.ts';

const OPT_OUT = { customer: '919876543210' };

describe('requests with a session (ASVS 3, 8, 14, 16)', () => {
  const world = use(() => SignInWorld.open());
  beforeEach(() => world.forgetFailures());
  const credentials = async () => {
    const { user } = await world.user('viewer');
    return { username: user.username, password: PASSWORD };
  };

  it('3.3.1, 3.3.3: behind TLS the cookie has Secure and __Host-, and only that one is taken', async () => {
    const tls = await SignInWorld.open({ publicUrl: 'https://sms.example.com' });
    try {
      const { user } = await tls.user('viewer');
      const begun = await tls.signIn({ username: user.username, password: PASSWORD }).expect(200);
      const [session, device] = cookiesOf(begun);
      expect(session).to.match(/^__Host-harkara=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
      expect(device).to.match(/^__Secure-harkara-device=\S+; Path=\/v2\/session; HttpOnly; .*; Secure$/);
      await tls.call('get', '/v2/session', withCookie(cookieOf(begun))).expect(200);
      const plain = withCookie(cookieOf(begun).replace('__Host-', ''));
      expectProblem(await tls.call('get', '/v2/session', plain), 'session_missing');
      // Without Sec-Fetch-Site the Origin must be the public address.
      for (const [origin, status] of [
        ['https://sms.example.com', 200],
        ['http://sms.example.com', 403],
      ] as const) {
        const headers = { 'X-Dashboard': '1', Origin: origin };
        await tls.signIn({ username: user.username, password: PASSWORD }, '203.0.113.7', headers).expect(status);
      }
    } finally {
      await tls.close();
    }
  });

  it('3.3.2, 3.3.4, 14.2.1: SameSite=Lax, HttpOnly; the secret is in no body, URL or log line', async () => {
    const begun = await world.signIn(await credentials()).expect(200);
    const cookie = cookieOf(begun);
    const secret = cookie.split('.')[1] ?? '';
    const answers = ['/v2/session', '/v2/profile', '/v2/profile/sessions', '/v2/balance'].map((path) =>
      world.call('get', path, withCookie(cookie)).expect(200),
    );
    for (const { text } of [begun, ...(await Promise.all(answers))]) expect(text).not.to.include(secret);

    expect(begun.headers['set-cookie']?.[0]).to.match(/; HttpOnly; SameSite=Lax$/);
    expect(world.logged.join('\n')).not.to.include(secret);
  });

  it('3.4.1 to 3.4.6: every answer has HSTS, CSP, nosniff and Referrer-Policy, and none allows another origin', async () => {
    const answers = [
      await world.signIn(await credentials()),
      await world.signIn({ username: 'nobody@example.com', password: 'x' }),
      await world.call('get', '/v2/session', { ...OURS, Origin: 'https://evil.test' }),
      await world.call('get', '/v2/nothing', { ...OURS, Origin: 'https://evil.test' }),
    ];
    for (const { headers } of answers) {
      expect(headers['strict-transport-security']).to.equal('max-age=31536000; includeSubDomains');
      expect(headers['content-security-policy']).to.include("default-src 'none'").and.include("frame-ancestors 'none'");
      expect(headers['x-content-type-options']).to.equal('nosniff');
      expect(headers['referrer-policy']).to.equal('no-referrer');
      expect(headers['cache-control']).to.equal('no-store');
      expect(headers).not.to.have.property('access-control-allow-origin');
    }
  });

  const { Cookie: _, ...none } = withCookie('');
  const foreign: readonly [string, Record<string, string | undefined>][] = [
    ['from another site', { 'X-Dashboard': '1', 'Sec-Fetch-Site': 'cross-site' }],
    ['from a sister site', { 'X-Dashboard': '1', 'Sec-Fetch-Site': 'same-site' }],
    ['typed by the user', { 'X-Dashboard': '1', 'Sec-Fetch-Site': 'none' }],
    ['of a foreign Origin', { 'X-Dashboard': '1', Origin: 'https://evil.test' }],
    ['of the Origin null', { 'X-Dashboard': '1', Origin: 'null' }],
    ['without Origin', { 'X-Dashboard': '1' }],
    ['without our header', { 'Sec-Fetch-Site': 'same-origin' }],
    [
      'whose Host and Origin agree on another name',
      { 'X-Dashboard': '1', Origin: 'http://evil.test', Host: 'evil.test' },
    ],
  ];
  for (const [what, headers] of foreign) {
    it(`3.5.1, 3.5.2: a change ${what} is refused, and nothing is written`, async () => {
      const { headers: own } = await signedIn(world.db, 'owner', world.account, { now: world.clock.now() });
      const from = { ...headers, Cookie: own.Cookie };
      const before = await fingerprint(world.db);
      for (const [method, path, body] of [
        ['post', '/v2/account/opt-outs', OPT_OUT],
        ['post', '/v2/account/users', { username: 'mallory@example.com', role: 'owner' }],
        ['delete', '/v2/profile/sessions', {}],
        ['delete', '/v2/session', {}],
      ] as const) {
        const call = world.call(method, path, from);
        expectProblem(await (method === 'post' ? call.send(body) : call), 'origin_refused');
      }
      const noCookie = await world.signIn({ username: 'x', password: 'y' }, '203.0.113.7', headers);
      expectProblem(noCookie, 'origin_refused');
      expect(noCookie.body.detail).to.match(
        /^Sign-ins, and requests with a session cookie, must come from our own pages/,
      );
      expect(await fingerprint(world.db)).to.deep.equal(before);
    });
  }

  it('a page of one user does nothing by the session of another', async () => {
    const now = world.clock.now();
    const { headers, user } = await signedIn(world.db, 'owner', world.account, { now });
    const other = await signedIn(world.db, 'owner', world.account, { now });
    const stale = { ...headers, 'X-Dashboard-User': other.user._id };
    const before = await fingerprint(world.db);
    for (const refused of [
      world.call('post', '/v2/account/opt-outs', stale).send(OPT_OUT),
      world.call('get', '/v2/balance', stale),
      world.call('delete', '/v2/session', stale),
      world.call('get', `/v2/account/stream?user=${other.user._id}`, headers),
      world.call('get', `/v2/ledger.csv?user=${other.user._id}`, headers),
    ]) {
      const answer = await refused;
      expectProblem(answer, 'other_user');
      expect(answer.headers).to.have.property('www-authenticate');
    }
    expect(await fingerprint(world.db)).to.deep.equal(before);

    await world.call('get', '/v2/balance', { ...headers, 'X-Dashboard-User': user._id }).expect(200);
    await world.call('get', `/v2/ledger.csv?user=${user._id}`, headers).expect(200);
    const stream = await openStream(`${world.gateway.url}/v2/account/stream?user=${user._id}`, headers as never);
    stream.close();
  });

  it('3.5.2: without Sec-Fetch-Site the own Origin is enough; a body that is no JSON never is', async () => {
    const { headers } = await signedIn(world.db, 'owner', world.account, { now: world.clock.now() });
    for (const host of ['127.0.0.1', 'localhost']) {
      const from = { Cookie: headers.Cookie, 'X-Dashboard': '1', Origin: `http://${host}:${world.gateway.port}` };
      await world.call('post', '/v2/account/opt-outs', from).send(OPT_OUT).expect(200);
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const call = world.call('post', '/v2/account/opt-outs', { ...headers, 'Content-Type': type });
      expectProblem(await call.send(JSON.stringify(OPT_OUT)), 'unsupported_media_type');
    }
    expect(none).not.to.have.property('Cookie');
  });

  it('3.5.3: no GET changes anything', async () => {
    const { ids } = await makeOwnThings(world.db, world.account);
    const browsers = [
      await signedIn(world.db, 'owner', world.account, { now: world.clock.now() }),
      await signedIn(world.db, 'operator', undefined, { now: world.clock.now() }),
    ];
    const before = await fingerprint(world.db);
    const reads = operations.filter(({ method, path }) => method === 'get' && !/stream|\/live|readyz/.test(path));
    for (const { headers } of browsers) {
      for (const { path } of reads) await world.call('get', pathOf(path, ids), headers);
    }
    expect(reads.length).to.be.at.least(20);
    expect(await fingerprint(world.db)).to.deep.equal(before);
  });

  it('8.2.3: what a user may not set is refused: account, balance, a role of its own', async () => {
    const owner = await signedIn(world.db, 'owner', world.account, { now: world.clock.now() });
    const viewer = await signedIn(world.db, 'viewer', world.account, { now: world.clock.now() });
    for (const field of ['role', 'account', 'account_id', 'balance', 'epoch', 'totp', 'username']) {
      const own = await world.call('patch', '/v2/profile', viewer.headers).send({ name: 'V', [field]: 'owner' });
      expectProblem(own, 'invalid_request');
    }
    const invite = { username: `${viewer.user._id}x@example.com`, role: 'operator' };
    expectProblem(await world.call('post', '/v2/account/users', owner.headers).send(invite), 'invalid_request');
    const extra = { ...invite, role: 'viewer', account_id: 'acc_x' };
    expectProblem(await world.call('post', '/v2/account/users', owner.headers).send(extra), 'invalid_request');
  });

  it('8.3.1: a role is a rule of the API, not of buttons: others than owners get at no user', async () => {
    const target = await signedIn(world.db, 'viewer', world.account, { now: world.clock.now() });
    for (const role of ['viewer', 'sender', 'developer', 'operator'] as const) {
      const of = role === 'operator' ? undefined : world.account;
      const { headers } = await signedIn(world.db, role, of, { now: world.clock.now() });
      const path = `/v2/account/users/${target.user._id}`;
      const refused = await world.call('patch', path, headers).send({ role: 'owner' });
      expectProblem(refused, 'scope_missing');
      expect(refused.body.detail).to.equal(`Your role is ${role}. That takes the role owner.`);
      expectProblem(await world.call('delete', path, headers), 'scope_missing');
    }
  });

  it('14.2.1, 16.2.5: no password, code, link or cookie reaches a log line', async () => {
    const owner = await signedIn(world.db, 'owner', world.account, { now: world.clock.now() });
    const invite = { username: `new${owner.user._id}@example.com`, role: 'viewer' };
    const made = await world.call('post', '/v2/account/users', owner.headers).send(invite).expect(200);
    const [, token = ''] = String(made.body.link).split('#');
    await world.call('post', '/v2/session/link/password').send({ token, password: PASSWORD }).expect(200);
    await world.signIn({ username: PASSWORD, password: 'typed into the wrong field' });
    await world.signIn({ username: invite.username, password: PASSWORD, code: '123456' }).expect(200);

    const lines = world.logged.join('\n');
    for (const secret of [PASSWORD, token, 'typed into', '123456', invite.username]) {
      expect(lines).not.to.include(secret);
    }
    const audit = JSON.stringify(await world.db.collection('audit').find().toArray());
    expect(audit).not.to.include(token).and.not.include('$argon2');
    expect(JSON.stringify(await world.db.collection('sign_in_failures').find().toArray())).not.to.include('otter');
  });

  it('16.3.1, 16.3.2: sign-in, refusal and sign-out are logged, with who and from where', async () => {
    const { user } = await world.user('viewer');
    const signIn = (password: string) => world.signIn({ username: user.username, password }, '203.0.113.77');
    await signIn('wrong wrong wrong');
    const cookie = cookieOf(await signIn(PASSWORD));
    await world.call('delete', '/v2/session', withCookie(cookie));

    for (const event of ['sign_in_refused', 'signed_in', 'signed_out']) {
      const line = world.logged.find((one) => one.startsWith(`${event} `) && one.includes(user._id));
      expect(line, event).to.be.a('string');
      if (event !== 'signed_out') expect(line).to.include('"address":"203.0.113.77"');
    }
  });

  it('HARKARA_PUBLIC_URL is an address without a path', () => {
    for (const good of ['https://sms.example.com', 'http://10.0.0.5:3000', 'https://sms.example.com/']) {
      expect(SETTINGS.publicUrl.parse(good)).to.equal(new URL(good).origin);
    }
    for (const bad of [
      'sms.example.com',
      'https://sms.example.com/x',
      'ftp://sms.example.com',
      'https://a@sms.example.com',
    ]) {
      expect(SETTINGS.publicUrl.parse(bad), bad).to.equal(undefined);
    }
  });
});

/** Hashes the store by collection, without the counts of requests and failed sign-ins. */
async function fingerprint(db: Db): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name } of await db.listCollections().toArray()) {
    if (['rate', 'sign_in_failures'].includes(name)) continue;
    const all = await db.collection(name).find().sort({ _id: 1 }).toArray();
    found[name] = createHash('sha256').update(JSON.stringify(all)).digest('hex');
  }
  return found;
}
