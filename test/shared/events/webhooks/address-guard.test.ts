import { AddressGuard, guardOptions, RefusedAddress } from '../../../../shared/events/webhooks/address-guard.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';

const STRICT = { allowHttp: false, allowSubnets: [] };

const REFUSED = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.255',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '5f00::1',
  'not an address',
];
const ALLOWED = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'];

describe('webhooks/address-guard', () => {
  const strict = new AddressGuard(STRICT);

  for (const address of REFUSED) it(`refuses ${address}`, () => expect(strict.allows(address, 443)).to.equal(false));
  for (const address of ALLOWED) it(`allows ${address}`, () => expect(strict.allows(address, 443)).to.equal(true));

  it('an allow-list opens its subnets and nothing else', () => {
    const guard = new AddressGuard({ allowHttp: false, allowSubnets: ['127.0.0.0/8', '10.1.2.3', 'fd00::/8'] });

    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', 'fd12::1']) {
      expect(guard.allows(address, 443), address).to.equal(true);
    }
    for (const address of ['10.1.2.4', '192.168.0.1', '::1', 'fe80::1', '::ffff:10.0.0.1']) {
      expect(guard.allows(address, 443), address).to.equal(false);
    }
  });

  it('an entry may open one port, and be for one account', () => {
    const account = newId('acc');
    const allowSubnets = ['10.1.0.0/16:8443', '[fd00::/8]:8443', '[::1]', `${account}=10.2.0.0/16:9000`, 'fe80::1:2'];
    allowSubnets.push('::ffff:10.3.0.0/112');
    const guard = new AddressGuard({ allowHttp: false, allowSubnets });
    const own = guard.for(account);

    for (const [address, port] of [
      ['10.1.2.3', 8443],
      ['::ffff:10.1.2.3', 8443],
      ['fd12::1', 8443],
      ['::1', 1],
      ['fe80::1:2', 443],
      ['10.3.9.9', 443],
    ] as const) {
      for (const one of [guard, own]) expect(one.allows(address, port), `${address} ${port}`).to.equal(true);
    }
    for (const [address, port] of [
      ['10.1.2.3', 443],
      ['fd12::1', 443],
      ['10.2.0.1', 9000],
    ] as const) {
      expect(guard.allows(address, port), `${address} ${port}`).to.equal(false);
    }
    expect([own.allows('10.2.0.1', 9000), own.allows('10.2.0.1', 443)]).to.deep.equal([true, false]);
    expect(guard.for(newId('acc'))).to.equal(guard);
  });

  for (const text of [
    '10.0.0.0/33',
    '10.0.0.0/8:0',
    '10.0.0.0/8:65536',
    '10.0.0.0/8:https',
    '[10.0.0.0/8',
    'fd00::/8]:80',
    '[]:80',
    // Old IPv4 notations that mean other addresses than they seem to.
    '010.1.0.0/16',
    '10',
    '10.1:80',
    '0x7f.1',
    '2130706433',
    'acc_1=10.0.0.0/8',
    '=10.0.0.0/8',
    `${newId('acc')}=`,
  ]) {
    it(`a malformed allow-list stops the start with its text: ${text.replace(/acc_\w{26}/, 'acc_…')}`, () => {
      expect(() => new AddressGuard({ allowHttp: false, allowSubnets: [text] })).to.throw(`"${text}" is not a subnet`);
    });
  }

  it('takes its options from the settings', () => {
    expect(guardOptions({ webhookAllowHttp: 'yes', webhookAllowSubnets: ['10.0.0.0/8'] })).to.deep.equal({
      allowHttp: true,
      allowSubnets: ['10.0.0.0/8'],
    });
  });

  it('one bad address among a name’s good ones refuses the name', async () => {
    const guard = new AddressGuard({ ...STRICT, resolve: async () => ['8.8.8.8', '10.0.0.1'] });

    const error = await guard.addressesOf('mixed.example', 443).catch((reason: unknown) => reason);

    expect(error).to.be.instanceOf(RefusedAddress);
  });

  it('a name with good addresses gives exactly those', async () => {
    const guard = new AddressGuard({ ...STRICT, resolve: async () => ['8.8.8.8', '2606:4700:4700::1111'] });

    expect(await guard.addressesOf('good.example', 443)).to.deep.equal(['8.8.8.8', '2606:4700:4700::1111']);
  });
});

describe('webhooks/address-guard checkUrl', () => {
  const resolve = async (hostname: string): Promise<readonly string[]> => {
    if (hostname === 'hooks.example') return ['8.8.8.8'];
    if (hostname === 'internal.example') return ['10.0.0.7'];
    throw new Error('ENOTFOUND');
  };

  const good = [
    'https://hooks.example/',
    'https://hooks.example:8443/a?b=c#d',
    'https://8.8.8.8/',
    'https://[2606:4700::1]/',
  ];
  for (const url of good) {
    it(`takes ${url}`, async () => {
      expect(await new AddressGuard({ ...STRICT, resolve }).checkUrl(url)).to.deep.equal({ ok: true });
    });
  }

  const bad: readonly [string, string][] = [
    ['', 'malformed'],
    [' https://hooks.example/', 'spaces'],
    ['https://hooks.example/\n', 'spaces'],
    ['https://ho\toks.example/', 'spaces'],
    ['hooks.example', 'malformed'],
    ['https://', 'malformed'],
    ['http://hooks.example/', 'must begin with https://'],
    ['ftp://hooks.example/', 'must begin with https://'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['https://user@hooks.example/', 'user name'],
    ['https://user:pass@hooks.example/', 'user name'],
    ['https://:pass@hooks.example/', 'user name'],
    ['https://unknown.example/', 'cannot be resolved'],
    ['https://internal.example/', 'private'],
    ['https://127.0.0.1/', 'private'],
    ['https://127.1/', 'private'],
    ['https://0x7f.1/', 'private'],
    ['https://0177.0.0.1/', 'private'],
    ['https://2130706433/', 'private'],
    ['https://①②⑦.0.0.1/', 'private'],
    ['https://[::1]/', 'private'],
    ['https://[::ffff:127.0.0.1]/', 'private'],
    ['https://[64:ff9b::7f00:1]/', 'private'],
    ['https://169.254.169.254/latest/meta-data/', 'private'],
    [`https://hooks.example/${'a'.repeat(2048)}`, '2048'],
  ];
  for (const [url, detail] of bad) {
    it(`refuses ${url.slice(0, 50)}: ${detail}`, async () => {
      const verdict = await new AddressGuard({ ...STRICT, resolve }).checkUrl(url);

      expect(verdict).to.include({ ok: false, code: 'url_not_allowed' });
      expect(verdict).to.have.property('detail').that.includes(detail);
    });
  }

  it('localhost is private without a look-up', async () => {
    for (const url of ['https://localhost/', 'https://a.localhost/']) {
      expect(await new AddressGuard(STRICT).checkUrl(url))
        .to.have.property('detail')
        .that.includes('private');
    }
  });

  it('http is taken where the setting allows it', async () => {
    const options = { allowHttp: true, allowSubnets: ['127.0.0.0/8'] };

    expect(await new AddressGuard(options).checkUrl('http://127.0.0.1:4010/hook')).to.deep.equal({ ok: true });
    expect(await new AddressGuard(options).checkUrl('http://10.0.0.1/')).to.include({ ok: false });
  });
});
