import { hash } from 'node:crypto';
import { expect } from 'chai';
import { fingerprintInSlices } from '../../../../gateway/http/idempotency/fingerprint.ts';

const of = (json: string): Promise<string> => fingerprintInSlices('POST', '/v2/send', JSON.parse(json));

describe('fingerprint of a request', () => {
  for (const [what, a, b] of [
    ['the order of members', '{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}'],
    ['blanks', '{"a":[1,2]}', '{ "a" : [ 1 , 2 ] }'],
    ['how a character is escaped', '{"a":"é"}', '{"a":"\\u00e9"}'],
    ['how a number is written', '{"a":1.0}', '{"a":1}'],
  ] as const) {
    it(`does not depend on ${what}`, async () => {
      expect(await of(a)).to.equal(await of(b));
    });
  }

  for (const [what, a, b] of [
    ['a value', '{"a":1}', '{"a":2}'],
    ['a type', '{"a":1}', '{"a":"1"}'],
    ['the order of a list', '{"a":[1,2]}', '{"a":[2,1]}'],
    ['a member', '{"a":1}', '{"a":1,"b":null}'],
    ['a name', '{"a":1}', '{"A":1}'],
    ['where a text ends', '{"a":"x","b":"y"}', '{"a":"x\\",\\"b\\":\\"y"}'],
    ['nothing and an empty list', '{"a":{}}', '{"a":[]}'],
    ['a list in a list', '{"a":[[1],2]}', '{"a":[1,[2]]}'],
  ] as const) {
    it(`depends on ${what}`, async () => {
      expect(await of(a)).not.to.equal(await of(b));
    });
  }

  it('depends on method and path', async () => {
    const all = await Promise.all(
      [
        ['POST', '/v2/send'],
        ['PUT', '/v2/send'],
        ['POST', '/v2/schedule'],
      ].map(([method = '', path = '']) => fingerprintInSlices(method, path, {})),
    );

    expect(new Set(all).size).to.equal(3);
  });

  it('stands the deepest JSON', async () => {
    expect(await of(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)).to.be.a('string');
    expect(await of(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)).to.be.a('string');
  });

  it('is the same when a long list is taken in slices', async () => {
    const to = Array.from({ length: 1_200 }, (_, i) => ({ params: [`${i}`, 'x'], to: `9190000${i}` }));
    // The members are in order here, so that JSON.stringify writes the text that is hashed.
    const sorted = { a: [1, 2], recipients: to, sender: 'HARKRA', to: to.slice(0, 501) };
    const { sender, ...others } = sorted;
    const whole = hash('sha256', `POST\n/v2/send-bulk\n${JSON.stringify(sorted)}`, 'base64url');

    expect(await fingerprintInSlices('POST', '/v2/send-bulk', { sender, ...others })).to.equal(whole);
  });
});
