import { expect } from 'chai';
import { createCheckUrl } from '../../../gateway/chatapp/public-url.ts';
import { FieldProblems } from '../../../gateway/http/fields.ts';
import type { ResolveHost } from '../../../shared/webhooks/resolve-host.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const OPTIONS = { allowHttp: false, allowSubnets: [] };

describe('addresses that callers give', () => {
  const clock = new ManualClock();

  function checker(resolve: ResolveHost, withinMs?: number) {
    const check = createCheckUrl({ ...OPTIONS, resolve }, clock, withinMs);
    return async (url: string) => {
      const problems = new FieldProblems();
      await check(url, 'url', problems);
      return problems.listed.map(({ detail }) => detail);
    };
  }

  it('a host is looked up once for all who ask at the same time, and again some seconds later', async () => {
    let asked = 0;
    const check = checker(async () => {
      asked++;
      return ['93.184.215.14'];
    });

    await Promise.all([check('https://a.example/1'), check('https://a.example/2'), check('https://A.example:444/3')]);
    expect(asked).to.equal(1);
    clock.turn(9_999);
    expect(await check('https://a.example/4')).to.deep.equal([]);
    expect(asked).to.equal(1);
    clock.turn(1);
    await check('https://a.example/4');
    expect(asked).to.equal(2);
  });

  it('a look-up that does not end is given up', async () => {
    const check = checker(() => new Promise(() => {}), 20);

    expect(await check('https://slow.example/')).to.deep.equal([
      'The host name slow.example could not be resolved in time.',
    ]);
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
