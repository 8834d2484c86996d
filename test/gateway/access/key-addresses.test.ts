import { KeyUses } from '../../../gateway/http/key-uses.ts';
import { findKeyUses, requestsOfDay } from '../../../shared/people/keys/key-use.ts';
import { createKey, findKey, updateKey } from '../../../shared/people/keys/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import { openGateway, TEST_CONFIG, type TestGateway } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { expectProblem } from '../../support/problem.ts';
import { silentLog } from '../../support/silent-log.ts';
import { useStore } from '../../support/store.ts';

const FAILURES = 4;

describe('the address that a key is used from', () => {
  const clock = new ManualClock();
  const store = useStore();
  let gateway: TestGateway;
  let keyUses: KeyUses;
  let account: AccountId;
  before(async () => {
    keyUses = new KeyUses({ db: store.db, clock, log: silentLog });
    const config = { ...TEST_CONFIG, authFailuresPerMinute: FAILURES, trustProxy: ['127.0.0.1'] };
    gateway = await openGateway(store.db, { clock, config, keyUses });
    account = await makeAccount(store.db, 5);
  });
  after(() => gateway.close());

  const made = (allowedIps?: readonly string[], perMinute = 1_000) =>
    createKey(store.db, systemClock, {
      ...{ account, name: 'x', scopes: ['read' as const], perMinute },
      ...(allowedIps === undefined ? {} : { allowedIps }),
    });
  const ask = async (key: string, from: string, path = '/v2/balance') => {
    const answer = await fetch(gateway.url + path, {
      headers: { Authorization: `Bearer ${key}`, 'X-Forwarded-For': from },
    });
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.json() };
  };

  describe('is compared with those that it is limited to', () => {
    const rows: readonly [allowed: readonly string[], from: string, passes: boolean][] = [
      [['203.0.113.7'], '203.0.113.7', true],
      [['203.0.113.7'], '203.0.113.8', false],
      [['203.0.113.0/24', '198.51.100.1'], '203.0.113.200', true],
      [['203.0.113.0/24', '198.51.100.1'], '198.51.100.2', false],
      [['203.0.113.7'], '::ffff:203.0.113.7', true],
      [['2001:db8:1::/48'], '2001:db8:1:2::3', true],
      [['2001:db8:1::/48'], '2001:db8:2::3', false],
      [['0.0.0.0/0'], '2001:db8::1', false],
    ];
    for (const [allowed, from, passes] of rows) {
      it(`${from} ${passes ? 'is' : 'is not'} among ${allowed}`, async () => {
        const { key } = await made(allowed);

        const answer = await ask(key, from);

        if (passes) expect(answer.status).to.equal(200);
        else expectProblem(answer, 'ip_not_allowed');
      });
    }

    it('takes none of the key’s requests, tells nothing of them, and counts as a failed authentication', async () => {
      const { key } = await made(['203.0.113.7'], 2);
      const elsewhere = '203.0.113.99';

      const refused = [];
      for (let i = 0; i < FAILURES; i++) refused.push(await ask(key, elsewhere));
      const limited = await ask(key, elsewhere);
      const unknown = await ask(key, elsewhere, '/v2/nowhere');

      for (const answer of refused) {
        expectProblem(answer, 'ip_not_allowed');
        expect(answer.body).to.have.property('detail').that.includes(`came from ${elsewhere},`);
        expect(answer.headers).not.to.have.any.keys('ratelimit', 'ratelimit-policy', 'www-authenticate');
      }
      for (const answer of [limited, unknown]) expectProblem(answer, 'auth_failures_limited');
      expect((await ask(key, '203.0.113.7')).headers.ratelimit).to.match(/^"default";r=1;/);
    });

    it('is told only to who has the secret', async () => {
      const { key } = await made(['203.0.113.7']);

      expectProblem(await ask(key.slice(0, -64) + '0'.repeat(64), '203.0.113.120'), 'key_invalid');
    });

    it('changes for a key in use when the cache time is over', async () => {
      const { id, key } = await made();
      expect((await ask(key, '203.0.113.130')).status).to.equal(200);

      const narrowed = await updateKey(store.db, (await findKey(store.db, id)) ?? expect.fail('it was made'), {
        allowedIps: ['203.0.113.7'],
      });
      clock.turn(TEST_CONFIG.keyCacheMs);
      expectProblem(await ask(key, '203.0.113.130'), 'ip_not_allowed');

      await updateKey(store.db, narrowed ?? expect.fail('it was changed'), { allowedIps: [] });
      clock.turn(TEST_CONFIG.keyCacheMs);
      expect((await ask(key, '203.0.113.130')).status).to.equal(200);
    });
  });

  describe('is remembered with its time', () => {
    const useOf = async (id: string) => (await findKeyUses(store.db, [id])).get(id);

    it('of good requests only, told when the gateway tells: not by each request', async () => {
      const { id, key } = await made(['203.0.113.7']);
      await ask(key, '203.0.113.7');
      await ask(key, '203.0.113.140');
      const before = await useOf(id);

      clock.turn(5_000);
      await ask(key, '203.0.113.7');
      await keyUses.tell();

      expect(before).to.equal(undefined);
      const use = await useOf(id);
      expect(use).to.deep.include({ at: clock.now(), address: '203.0.113.7' });
      expect(use && requestsOfDay(use, clock.now())).to.equal(2);
    });

    it('adds up what several gateways tell, in whatever order, and forgets after a day', async () => {
      const { id } = await made();
      const other = new ManualClock();
      const [one, two] = [clock, other].map((its) => new KeyUses({ db: store.db, clock: its, log: silentLog }));
      other.turn(clock.now().getTime() - other.now().getTime() - 3_600_000);
      for (let i = 0; i < 3; i++) one?.note(id, '203.0.113.1');
      two?.note(id, '203.0.113.2');

      await one?.tell();
      await two?.tell();
      await two?.tell();

      const use = await useOf(id);
      expect(use).to.deep.include({ at: clock.now(), address: '203.0.113.1' });
      const in23Hours = new Date(clock.now().getTime() + 23 * 3_600_000);
      const inADay = new Date(clock.now().getTime() + 24 * 3_600_000);
      expect([clock.now(), in23Hours, inADay].map((at) => use && requestsOfDay(use, at))).to.deep.equal([4, 3, 0]);
    });

    it('counts an hour anew when its number comes again', async () => {
      const { id } = await made();
      const uses = new KeyUses({ db: store.db, clock, log: silentLog });
      uses.note(id, '203.0.113.1');
      await uses.tell();
      clock.turn(24 * 3_600_000);
      uses.note(id, '203.0.113.1');
      await uses.tell();

      const use = await useOf(id);
      expect(use && requestsOfDay(use, clock.now())).to.equal(1);
    });

    it('is told when the gateway ends', async () => {
      const { id } = await made();
      const uses = new KeyUses({ db: store.db, clock, log: silentLog });
      const end = uses.start();
      uses.note(id, '203.0.113.1');

      await end();

      expect(await useOf(id)).to.include({ address: '203.0.113.1' });
    });
  });
});
