import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { callerNetwork, createCallerAddress } from '../../../gateway/http/caller-address.ts';

/** A request from `remote` with the header in Node's form. */
function requestFrom(remote: string | undefined, forwarded?: string): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remote });
  const req = new IncomingMessage(socket);
  if (forwarded !== undefined) req.headers['x-forwarded-for'] = forwarded;
  return req;
}

describe("the caller's address", () => {
  const trust = ['10.0.0.0/8', '::1', '2001:db8:ffff::/48'];
  const rows: readonly [string, string | undefined, string | undefined, string][] = [
    ['the socket, when it is no proxy', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['what the proxy saw', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['the right-most that is no proxy', '10.0.0.1', '198.51.100.1, 203.0.113.9, 10.2.3.4', '203.0.113.9'],
    ['nothing that stands left of it', '10.0.0.1', '10.9.9.9, 203.0.113.9', '203.0.113.9'],
    ['the left-most, when all are proxies', '10.0.0.1', '10.0.0.3,10.0.0.2', '10.0.0.3'],
    ['the proxy, when it says nothing', '10.0.0.1', undefined, '10.0.0.1'],
    ['the proxy, when it says nonsense', '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['the proxy, when it names a number', '10.0.0.1', '1', '10.0.0.1'],
    ['an address with a port', '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['an IPv6 address with a port', '10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
    ['an IPv6 proxy', '::1', '2001:0DB8::0007', '2001:db8::7'],
    ['a proxy of an IPv6 subnet', '2001:db8:ffff::5', '203.0.113.9', '203.0.113.9'],
    ['an IPv4 address that the system shows as IPv6', '::ffff:10.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
    ['a socket that is gone', undefined, '203.0.113.9', 'unknown'],
  ];
  for (const [what, remote, forwarded, address] of rows) {
    it(`is ${what}`, () => {
      expect(createCallerAddress(trust)(requestFrom(remote, forwarded))).to.equal(address);
    });
  }

  it('tells them apart, asked by turns and again', () => {
    const addressOf = createCallerAddress(trust);

    for (let again = 0; again < 2; again++) {
      for (const [what, remote, forwarded, address] of rows) {
        expect(addressOf(requestFrom(remote, forwarded)), what).to.equal(address);
      }
    }
  });

  it('ignores the header when no proxy is trusted', () => {
    expect(createCallerAddress([])(requestFrom('127.0.0.1', '203.0.113.9'))).to.equal('127.0.0.1');
  });

  it('tells once who sends the header while no proxy is trusted, and never when one is', () => {
    const told: string[] = [];
    const untrusting = createCallerAddress([], (peer) => told.push(peer));
    untrusting(requestFrom('::ffff:10.0.0.1', undefined));
    expect(told).to.deep.equal([]);
    untrusting(requestFrom('::ffff:10.0.0.1', '203.0.113.9'));
    untrusting(requestFrom('10.0.0.2', '203.0.113.9'));
    createCallerAddress(trust, (peer) => told.push(peer))(requestFrom('192.0.2.1', '203.0.113.9'));

    expect(told).to.deep.equal(['10.0.0.1']);
  });

  for (const bad of ['nonsense', '10.0.0.0/33', '*', 'true']) {
    it(`does not start with HARKARA_TRUST_PROXY=${bad}`, () => {
      expect(() => createCallerAddress(['127.0.0.1', bad])).to.throw(`not "${bad}"`);
    });
  }

  it('stands for its network when it is IPv6', () => {
    expect(callerNetwork('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2::/64');
    expect(callerNetwork('203.0.113.9')).to.equal('203.0.113.9');
    expect(callerNetwork('unknown')).to.equal('unknown');
  });
});
