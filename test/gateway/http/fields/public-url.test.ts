import { FieldProblems } from '../../../../gateway/http/field-problems.ts';
import { createUrlCheck } from '../../../../gateway/http/fields/public-url.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import type { ResolveHost } from '../../../../shared/platform/runtime/resolve-host.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const ACCOUNT = newId('acc');
const OTHER = newId('acc');
const OPTIONS = { allowHttp: false, allowSubnets: ['10.1.0.0/16:8443', `${OTHER}=10.2.0.0/16`] };

describe('addresses that callers give', () => {
  const clock = new ManualClock();

  function checker(resolve: ResolveHost, { withinMs = 2_000, mustResolve = true } = {}) {
    const check = createUrlCheck({ ...OPTIONS, resolve, withinMs, mustResolve }, clock);
    return async (url: string, account = ACCOUNT) => {
      const problems = new FieldProblems();
      if (check.form(account, url, 'url', problems)) await check.host(account, url, 'url', problems);
      expect(problems.listed.every(({ code }) => code === 'url_not_allowed')).to.equal(true);
      return problems.listed.map(({ detail }) => detail);
    };
  }

  it('a host is looked up once for all who ask at the same time, and again some seconds later', async () => {
    let asked = 0;
    const check = checker(async () => {
      asked++;
      return ['93.184.215.14'];
    });

    await Promise.all([check('https://a.example/1'), check('https://a.example/2'), check('https://A.example:443/3')]);
    expect(asked).to.equal(1);
    clock.turn(9_999);
    expect(await check('https://a.example/4')).to.deep.equal([]);
    expect(asked).to.equal(1);
    clock.turn(1);
    await check('https://a.example/4');
    expect(asked).to.equal(2);
  });

  it('a look-up that does not end is given up', async () => {
    const check = checker(() => new Promise(() => {}), { withinMs: 20 });

    expect(await check('https://slow.example/')).to.deep.equal([
      'The host name slow.example could not be resolved in time.',
    ]);
  });

  it('what others connect to may be unknown here, or slow to be known, but not private', async () => {
    const hosts: Readonly<Record<string, ResolveHost>> = {
      'nowhere.example': () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' })),
      'broken.example': () => Promise.reject(Object.assign(new Error('server failure'), { code: 'ESERVFAIL' })),
      'slow.example': () => new Promise(() => {}),
      'inside.example': async () => ['93.184.215.14', '10.0.0.7'],
    };
    const resolve: ResolveHost = (host) => hosts[host]?.(host) ?? Promise.reject(new Error('asked for another host'));
    const lenient = checker(resolve, { withinMs: 20, mustResolve: false });
    const strict = checker(resolve, { withinMs: 20 });

    for (const host of ['nowhere.example', 'broken.example', 'slow.example']) {
      expect(await lenient(`https://${host}/`), host).to.deep.equal([]);
      expect(await strict(`https://${host}/`), host).to.have.length(1);
    }
    for (const address of ['https://inside.example/', 'https://10.0.0.7/', 'https://[::1]/', 'https://0x7f.1/']) {
      for (const check of [lenient, strict]) {
        expect(await check(address), address).to.deep.equal(['The url leads to a private or reserved address.']);
      }
    }
  });

  it('an account whose names nobody answers for gets no further look-ups meanwhile; others do', async () => {
    let asked = 0;
    const check = checker(
      (host) => {
        asked++;
        return host === 'good.example' ? Promise.resolve(['93.184.215.14']) : new Promise(() => {});
      },
      { withinMs: 20 },
    );
    const slow = Array.from({ length: 40 }, (_, i) => `https://slow-${i}.example/`);

    for (const refused of await Promise.all(slow.map((url) => check(url)))) expect(refused).to.have.length(1);
    expect(asked).to.equal(16);
    expect(await check('https://good.example/')).to.have.length(1);
    expect(await check('https://good.example/', OTHER)).to.deep.equal([]);
  });

  it('what an operator has opened is open at its port and for its account', async () => {
    const check = checker(async () => ['10.1.0.7']);

    for (const url of ['https://10.1.0.7:8443/', 'https://inside.example:8443/']) {
      expect(await check(url), url).to.deep.equal([]);
    }
    for (const url of ['https://10.1.0.7/', 'https://inside.example/', 'https://10.2.0.7/']) {
      expect(await check(url), url).to.deep.equal(['The url leads to a private or reserved address.']);
    }
    expect(await check('https://10.2.0.7/', OTHER)).to.deep.equal([]);
    expect(await check('https://10.1.0.7:8443/', OTHER)).to.deep.equal([]);
  });

  it('what does not look like an address is not looked up', async () => {
    const check = checker(() => {
      throw new Error('it was looked up');
    });

    for (const url of ['', 'x', 'http://a.example/', 'https://', 'https://u@a.example/']) {
      expect(await check(url), url).to.have.length(1);
    }
  });
});
