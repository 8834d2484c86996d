import fc from 'fast-check';
import request from 'supertest';
import { boundsOf, excess, type KeyDocument } from '../../../../shared/people/keys/key.ts';
import { createKey, findKey, type NewKey, revokeKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { openGateway } from '../../../support/gateway.ts';
import { expectProblem } from '../../../support/problem.ts';
import { settingsWorld } from '../settings-world.ts';

const PATH = '/v2/account/keys';
const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
type Headers = Readonly<Record<string, string>>;

describe('API keys: a key reaches no farther than the one that made it', () => {
  const { site, ask, audit, keyWith, roleOf } = settingsWorld();

  async function makeKey(more: Partial<NewKey> = {}): Promise<{ id: string; headers: Headers }> {
    const settings = { account: site.account, name: 'maker', scopes: ['send', 'manage'] as const, ...more };
    const { id, key } = await createKey(site.db, systemClock, settings);
    return { id, headers: { Authorization: `Bearer ${key}` } };
  }
  const bounded = () => makeKey({ expiresAt: inHours(0.5), perMinute: 900, allowedIps: ['127.0.0.1'] });
  const stored = async (id: string): Promise<KeyDocument> =>
    (await findKey(site.db, id)) ?? expect.fail(`no key ${id}`);
  const create = async (headers: Headers, more: object = {}) =>
    (await ask('post', PATH, { name: 'child', scopes: ['manage'], ...more }, headers).expect(200)).body;
  const bearer = ({ key }: { readonly key: string }): Headers => ({ Authorization: `Bearer ${key}` });

  it('what the request leaves out is as far as the maker reaches, and the answer shows it', async () => {
    const { id, headers } = await bounded();

    const child = await create(headers);

    expect(child).to.deep.include({ per_minute: 900, allowed_ips: ['127.0.0.1'] });
    expect(child.created_by).to.deep.equal({ kind: 'key', id, name: null });
    expect(Math.abs(Date.parse(child.expires_at) - inHours(0.5).getTime())).to.be.below(60_000);
    expect((await ask('get', `${PATH}/${id}`, undefined, headers)).body.descendants).to.deep.equal([
      { key_id: child.key_id, name: 'child', state: 'active' },
    ]);
  });

  it('what goes beyond is refused, with the field and the bound', async () => {
    const { id, headers } = await bounded();
    const child = await create(headers);
    const wider = { expires_at: inHours(1), per_minute: 901, allowed_ips: ['127.0.0.0/24'] };

    const { body } = await ask('post', PATH, { name: 'x', scopes: ['manage'], ...wider }, headers).expect(400);
    expect(body.errors.map(({ field }: { field: string }) => field)).to.have.members(Object.keys(wider));
    expect(JSON.stringify(body.errors))
      .to.include('127.0.0.1')
      .and.include('900 requests a minute')
      .and.include('+00:00');
    expectProblem(
      await ask('post', PATH, { name: 'x', scopes: ['manage'], allowed_ips: [] }, headers),
      'invalid_request',
    );
    for (const key of [id, child.key_id]) {
      for (const change of [{ per_minute: 901 }, { allowed_ips: [] }, { allowed_ips: ['127.0.0.2'] }]) {
        expectProblem(await ask('patch', `${PATH}/${key}`, change, headers), 'invalid_request');
      }
      expectProblem(await ask('patch', `${PATH}/${key}`, { scopes: ['manage', 'read'] }, headers), 'scope_missing');
      const rotated = await ask('post', `${PATH}/${key}/rotate`, { expires_at: inHours(1) }, headers);
      expectProblem(rotated, 'invalid_request');
    }
    // Others cannot give the child more than its maker has either.
    const all = await keyWith(['send', 'read', 'otp', 'manage']);
    for (const wide of [all, await roleOf('owner')]) {
      for (const change of [{ per_minute: 901 }, { allowed_ips: [] }, { scopes: ['read'] }]) {
        const refused = await ask('patch', `${PATH}/${child.key_id}`, change, wide);
        expectProblem(refused, 'invalid_request');
        expect(refused.body.errors[0].detail).to.include(id);
      }
    }
  });

  it('a key that reaches farther is not changed, replaced or revoked', async () => {
    const { headers } = await bounded();
    const farther = [{ expiresAt: inHours(2) }, { perMinute: 901 }, { allowedIps: ['127.0.0.1', '127.0.0.2'] }];
    for (const more of farther) {
      const own = { expiresAt: inHours(0.1), perMinute: 1, allowedIps: ['127.0.0.1'], ...more };
      const { id } = await makeKey({ scopes: ['manage'], ...own });
      expectProblem(await ask('patch', `${PATH}/${id}`, { name: 'x' }, headers), 'key_beyond_caller');
      expectProblem(await ask('post', `${PATH}/${id}/rotate`, {}, headers), 'key_beyond_caller');
      expectProblem(await ask('delete', `${PATH}/${id}`, undefined, headers), 'key_beyond_caller');
      expect((await stored(id)).status).to.equal('active');
    }
  });

  it('the text of a key is told again only to who reaches as far', async () => {
    const wide = await makeKey({ scopes: ['manage'] });
    const narrow = await makeKey({ scopes: ['manage'], perMinute: 5 });
    const asked = ({ headers }: { headers: Headers }) =>
      ask('post', PATH, { name: 'x', scopes: ['manage'] }, headers).set('Idempotency-Key', wide.id);
    await asked(wide).expect(200);

    expectProblem(await asked(narrow), 'key_beyond_caller');
    await asked(wide).expect(200);
  });

  it('a maker that is narrowed narrows its keys; one of which nothing is left is revoked', async () => {
    const maker = await makeKey({ scopes: ['send', 'read', 'manage'] });
    const child = await create(maker.headers, { scopes: ['send', 'manage'], allowed_ips: ['127.0.0.0/8'] });
    const grandchild = await create(bearer(child), { scopes: ['send'], allowed_ips: ['127.0.0.9'] });
    const reader = await create(maker.headers, { scopes: ['read'] });

    const change = { scopes: ['send', 'manage'], per_minute: 7, allowed_ips: ['127.0.0.0/24', '10.0.0.0/8'] };
    const { body } = await ask('patch', `${PATH}/${maker.id}`, change).expect(200);

    expect(body.descendants.map(({ key_id }: { key_id: string }) => key_id)).to.deep.equal(
      [child, grandchild, reader].map(({ key_id }) => key_id),
    );
    expect(await stored(child.key_id)).to.deep.include({ perMinute: 7, allowedIps: ['127.0.0.0/24'] });
    expect(await stored(grandchild.key_id)).to.deep.include({ perMinute: 7, allowedIps: ['127.0.0.9'] });
    expect(await stored(reader.key_id)).to.include({ status: 'revoked' });
    const narrowed = (await audit()).filter(({ action }) => action === 'key.narrow');
    expect(narrowed.map(({ subject }) => subject.id)).to.include.members([child.key_id, grandchild.key_id]);
  });

  it('a maker that is replaced by one that ends earlier takes its keys along', async () => {
    const maker = await makeKey();
    const child = await create(maker.headers);

    const next = (await ask('post', `${PATH}/${maker.id}/rotate`, { expires_at: inHours(48) }).expect(200)).body;

    expect((await stored(child.key_id)).expiresAt?.getTime()).to.equal(
      (await stored(next.key_id)).expiresAt?.getTime(),
    );
    const { body } = await ask('get', `${PATH}/${next.key_id}`).expect(200);
    expect(body.descendants).to.have.length(1);
    // On its last day the old key makes keys that end with it.
    const late = await create(maker.headers);
    expect(Date.parse(late.expires_at)).to.be.at.most((await stored(maker.id)).expiresAt?.getTime() ?? 0);
  });

  it('a key replaces itself, but not for longer than it works', async () => {
    const { id, headers } = await makeKey({ expiresAt: inHours(1) });

    expectProblem(await ask('post', `${PATH}/${id}/rotate`, { expires_at: inHours(2) }, headers), 'invalid_request');
    const { body } = await ask('post', `${PATH}/${id}/rotate`, {}, headers).expect(200);
    expect(excess(boundsOf(await stored(body.key_id)), boundsOf(await stored(id)))).to.deep.equal([]);
    // Its owner may still change the replacement.
    await ask('patch', `${PATH}/${body.key_id}`, { per_minute: 900 }).expect(200);
    await ask('patch', `${PATH}/${body.key_id}`, { per_minute: 950 }).expect(200);
  });

  it('revoking a key shows the keys that it made, and takes them along on demand', async () => {
    const maker = await makeKey();
    const child = await create(maker.headers);
    const grandchild = await create(bearer(child));

    const kept = (await ask('delete', `${PATH}/${maker.id}`).expect(200)).body;
    expect(kept.state).to.equal('revoked');
    expect(kept.descendants.map(({ state }: { state: string }) => state)).to.deep.equal(['active', 'active']);
    expectProblem(await ask('delete', `${PATH}/${maker.id}?descendants=all`), 'invalid_request');
    const taken = (await ask('delete', `${PATH}/${maker.id}?descendants=revoke`).expect(200)).body;

    expect(taken.descendants).to.deep.equal([
      { key_id: child.key_id, name: 'child', state: 'revoked' },
      { key_id: grandchild.key_id, name: 'child', state: 'revoked' },
    ]);
    const revoked = (await audit()).filter(({ action }) => action === 'key.revoke').map(({ subject }) => subject.id);
    expect(revoked).to.include.members([maker.id, child.key_id, grandchild.key_id]);
  });

  it('a key that was revoked or narrowed makes none that it could not, though gateways still know it as it was', async () => {
    const { id, headers } = await makeKey();
    await create(headers);
    await site.db.collection<{ _id: string }>('keys').updateOne({ _id: id }, { $set: { perMinute: 3 } });
    expectProblem(await ask('post', PATH, { name: 'x', scopes: ['send'], per_minute: 4 }, headers), 'invalid_request');
    await revokeKey(site.db, id);

    expectProblem(await ask('post', PATH, { name: 'x', scopes: ['send'] }, headers), 'key_revoked');
  });

  it('the limit on keys holds over two gateways', async () => {
    const { headers } = await makeKey({ perMinute: 1_000_000 });
    const other = await openGateway(site.db);
    try {
      const make = (url: string) =>
        request(url)
          .post(PATH)
          .set(headers)
          .send({ name: 'x', scopes: ['send'] });
      const answers = await Promise.all(Array.from({ length: 90 }, (_, i) => make(i % 2 === 0 ? site.url : other.url)));

      const refused = answers.filter(({ status }) => status !== 200);
      for (const answer of refused) expectProblem(answer, 'too_many_keys');
      const live = await site.db.collection('keys').countDocuments({ account: site.account, place: { $gte: 0 } });
      expect(live).to.equal(50);
    } finally {
      await other.close();
    }
  });

  it('whatever is asked, a key that a key made is inside it', async () => {
    const scopes = fc.uniqueArray(fc.constantFrom('send', 'read', 'otp', 'manage' as const), { minLength: 1 });
    const addresses = fc.uniqueArray(
      fc.constantFrom('127.0.0.1', '127.0.0.0/8', '127.0.0.0/30', '0.0.0.0/0', '10.0.0.0/8', '::1', '::/0'),
      { maxLength: 3 },
    );
    const wishes = fc.record(
      {
        scopes,
        per_minute: fc.constantFrom(1, 50, 100, 101, 1_000),
        allowed_ips: addresses,
        expires_at: fc.constantFrom(0.2, 0.5, 1, 1_000).map((hours) => inHours(hours).toISOString()),
      },
      { requiredKeys: ['scopes'] },
    );
    const makers = fc.record({
      scopes: scopes.map((some) => [...new Set([...some, 'manage' as const])]),
      perMinute: fc.option(fc.constantFrom(100, 900), { nil: undefined }),
      allowedIps: fc.constantFrom(undefined, ['127.0.0.1'], ['127.0.0.0/8', '10.0.0.0/8']),
      expiresAt: fc.option(fc.constant(inHours(0.5)), { nil: undefined }),
    });

    await fc.assert(
      fc.asyncProperty(makers, wishes, wishes, async (settings, wanted, change) => {
        // Making a key costs 50 requests, so the maker's own rate must not be the limit.
        const maker = await makeKey({ ...settings, name: 'maker' });
        const made = await ask('post', PATH, { name: 'child', ...wanted }, maker.headers);
        expect([200, 400, 403]).to.include(made.status);
        if (made.status !== 200) {
          await revokeKey(site.db, maker.id);
          return;
        }
        const { expires_at: _, ...rest } = change;
        for (const headers of [maker.headers, await roleOf('owner')]) {
          await ask('patch', `${PATH}/${made.body.key_id}`, rest, headers);
          const [child, own] = [await stored(made.body.key_id), await stored(maker.id)];
          expect(excess(boundsOf(child), boundsOf(own)), JSON.stringify({ settings, wanted, change })).to.deep.equal(
            [],
          );
        }
        const { body } = await ask('delete', `${PATH}/${maker.id}?descendants=revoke`).expect(200);
        expect(body.descendants).to.have.length.at.most(1);
      }),
      { numRuns: 60 },
    );
  });
});
