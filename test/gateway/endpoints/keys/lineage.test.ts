import { narrowDescendants } from '../../../../gateway/endpoints/keys/made-keys.ts';
import { boundsOf, excess, GENERATIONS_MAX } from '../../../../shared/people/keys/key.ts';
import { createKey, findKey, type NewKey, narrowKey, updateKey } from '../../../../shared/people/keys/store.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { expectProblem } from '../../../support/problem.ts';
import { signedIn } from '../../../support/signed-in.ts';
import { settingsWorld } from '../settings-world.ts';

const PATH = '/v2/account/keys';
type Headers = Readonly<Record<string, string>>;
interface Known {
  readonly id: string;
  readonly headers: Headers;
}

/** A stolen key must not hide the keys made with it from its owner. */
describe('API keys: what comes from a key stays its own', () => {
  const { site, roleOf, ...world } = settingsWorld();
  let owner: Headers = {};
  beforeEach(async () => {
    owner = await roleOf('owner');
  });
  const ask = (method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: object, headers = owner) =>
    world.ask(method, path, body, headers);
  const bearer = (key: string): Headers => ({ Authorization: `Bearer ${key}` });

  async function makeKey(more: Partial<NewKey> = {}): Promise<Known> {
    const settings = {
      account: site.account,
      name: 'first',
      scopes: ['send', 'manage'] as const,
      perMinute: 1_000_000,
    };
    const { id, key } = await createKey(site.db, systemClock, { ...settings, ...more });
    return { id, headers: bearer(key) };
  }
  async function post(path: string, body: object, { headers }: Known): Promise<Known> {
    const made = (await ask('post', path, body, headers).expect(200)).body;
    return { id: made.key_id, headers: bearer(made.key) };
  }
  const child = (maker: Known) => post(PATH, { name: 'child', scopes: ['send', 'manage'] }, maker);
  const soon = () => new Date(Date.now() + 5_000).toISOString();
  const replace = (key: Known, who = key) => post(`${PATH}/${key.id}/rotate`, {}, who);
  const stored = async ({ id }: Known) => (await findKey(site.db, id)) ?? expect.fail(`no key ${id}`);
  const descendants = async ({ id }: Known): Promise<string[]> =>
    (await ask('get', `${PATH}/${id}`).expect(200)).body.descendants.map(({ key_id }: { key_id: string }) => key_id);

  it('a key that replaces itself many times has few makers, and is still revoked with the first', async () => {
    const first = await makeKey();
    let last = await child(first);
    for (let i = 0; i < GENERATIONS_MAX + 5; i++) {
      const old = last;
      last = await replace(old);
      await ask('delete', `${PATH}/${old.id}`).expect(200);
    }
    const grandchild = await child(last);

    expect((await stored(last)).makers).to.have.length(2);
    expect(await descendants(first)).to.deep.equal([last.id, grandchild.id]);
    // The replacement is still limited by the first key of its line.
    await ask('patch', `${PATH}/${first.id}`, { per_minute: 10 }).expect(200);
    expect((await stored(last)).perMinute).to.equal(10);
    expectProblem(await ask('patch', `${PATH}/${last.id}`, { per_minute: 11 }), 'invalid_request');
    await ask('delete', `${PATH}/${first.id}?descendants=revoke`).expect(200);
    expect([(await stored(last)).status, (await stored(grandchild)).status]).to.deep.equal(['revoked', 'revoked']);
  });

  it('two keys that replace each other have few makers', async () => {
    let [one, two] = [await makeKey(), await makeKey()];
    for (let i = 0; i < GENERATIONS_MAX; i++) {
      one = await replace(one, two);
      two = await replace(two, one);
    }
    expect((await stored(two)).makers).to.have.length(2);
  });

  it("a key that was replaced is not a descendant of what replaced it, but a thief's replacement is of what was stolen", async () => {
    const first = await makeKey();
    const [second, made] = [await replace(first), await child(first)];
    const third = await replace(second);

    expect(await descendants(third)).to.deep.equal([made.id]);
    expect(await descendants(second)).to.have.members([made.id, third.id]);
    expect(await descendants(first)).to.have.members([second.id, made.id, third.id]);
  });

  it('what an owner replaced is no longer what the stolen key made', async () => {
    const first = await makeKey();
    const { body } = await ask('post', `${PATH}/${first.id}/rotate`, {}).expect(200);

    expect(await descendants(first)).to.deep.equal([]);
    await ask('delete', `${PATH}/${first.id}?descendants=revoke`).expect(200);
    expect((await findKey(site.db, body.key_id))?.status).to.equal('active');
  });

  it('generations end, so that the makers of a key are never too many to be kept', async () => {
    let last = await makeKey();
    const first = last;
    for (let i = 0; i < GENERATIONS_MAX; i++) last = await child(last);

    expect(await descendants(first)).to.have.length(GENERATIONS_MAX);
    const refused = await ask('post', PATH, { name: 'x', scopes: ['send'] }, last.headers);
    expectProblem(refused, 'too_many_keys');
    expect(refused.body.detail).to.include('made by a key');
    // It may still replace itself, and the first one makes others.
    await replace(last);
    await child(first);
  });

  it('a key that is made while its maker is being narrowed is narrowed too', async () => {
    const first = await makeKey();
    const second = await child(first);
    const seen = await stored(first);
    const narrow = (await updateKey(site.db, seen, { perMinute: 10 })) ?? expect.fail('not changed');
    let grandchild: Known | undefined;

    const made = await narrowDescendants(site.db, narrow, systemClock, async ({ _id }) => {
      // The child has its old rate until now.
      grandchild ??= await child(second);
      await narrowKey(site.db, _id, boundsOf(narrow));
    });

    const late = await stored(grandchild ?? expect.fail('no grandchild'));
    expect(excess(boundsOf(late), boundsOf(narrow))).to.deep.equal([]);
    expect(made.map(({ _id }) => _id)).to.deep.equal([second.id, late._id]);
  });

  it('keys of one that was kept are asked about when the user loses something, not when the user is renamed', async () => {
    const { user } = await signedIn(site.db, 'developer', site.account);
    await createKey(site.db, systemClock, {
      ...{ account: site.account, name: 'server', scopes: ['send'] },
      maker: { by: { kind: 'user', id: user._id }, makers: [user._id], mayStill: async () => true },
    });
    const change = (body: object) => ask('patch', `/v2/account/users/${user._id}`, body);

    expectProblem(await change({ role: 'viewer' }), 'user_has_keys');
    await change({ role: 'viewer', keys: 'keep' }).expect(200);
    await change({ name: 'Renamed' }).expect(200);
    expectProblem(await change({ status: 'disabled' }), 'user_has_keys');
    await change({ status: 'disabled', keys: 'keep' }).expect(200);
    await change({ status: 'active' }).expect(200);
  });

  it('keys share the rate of the one that made them, and one that asks too much takes nothing from it', async () => {
    const first = await makeKey({ perMinute: 110 });
    const one = await post(PATH, { name: 'one', scopes: ['manage'], per_minute: 20 }, first);
    const two = await post(PATH, { name: 'two', scopes: ['manage'] }, first);
    const get = ({ headers }: Known) => ask('get', PATH, undefined, headers);

    // Two new keys counted as 100.
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await get(one), await get(two));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
    expect(answers.at(-1)?.headers.ratelimit).to.match(/r=2;/);
    await get(first).expect(200);
    await get(one).expect(200);

    const refused = await get(two);
    expectProblem(refused, 'rate_limited');
    expect(refused.body.detail).to.include('A key made it');
    expectProblem(await get(first), 'rate_limited');
  });

  it('a key that is over its own rate uses up nothing of its maker', async () => {
    const first = await makeKey({ perMinute: 100 });
    const one = await post(PATH, { name: 'one', scopes: ['manage'], per_minute: 2 }, first);
    const get = ({ headers }: Known) => ask('get', PATH, undefined, headers);

    for (let i = 0; i < 60; i++) await get(one);

    await get(first).expect(200);
    expect((await get(first)).headers.ratelimit).to.match(/r=46;/);
  });

  it('a key that replaced itself has no more requests than before', async () => {
    const first = await makeKey({ perMinute: 60 });
    const second = await post(`${PATH}/${first.id}/rotate`, { old_expires_at: soon() }, first);
    const get = ({ headers }: Known) => ask('get', PATH, undefined, headers);

    for (let i = 0; i < 5; i++) await Promise.all([get(first), get(second)].map((asked) => asked.expect(200)));

    expectProblem(await get(second), 'rate_limited');
  });
});
